"""A body as the attributes of UsdPhysics' MassAPI, and back: units of the stage, scale of the prim, single precision.

The attributes are `physics:mass`, `centerOfMass` in the prim's own space, which its scale stretches, `diagonalInertia`
about the centre of mass along the `principalAxes`, a quaternion with w first in the prim's axes. Zero (for the centre:
minus infinity) means that the simulator computes it from the colliders.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.export.load import IdentifiedLoad
from iparam.spatial.inertia import principal_axes
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import quaternion_from_rotation, skew

_LARGEST_UNIT = 1e9


@dataclass(frozen=True, eq=False)
class PrimUnits:
    """How numbers at a prim become SI units.

    Attributes:
        meters: a unit of length of the stage [m].
        kilograms: a unit of mass of the stage [kg].
        scale: (3,) of the prim in the world, along its own axes.
    """

    meters: float
    kilograms: float
    scale: FloatArray

    def __post_init__(self) -> None:
        for name, value in (("metersPerUnit", self.meters), ("kilogramsPerUnit", self.kilograms)):
            if not 1.0 / _LARGEST_UNIT <= value <= _LARGEST_UNIT:
                raise InputError(
                    f"the stage has {name} = {value:g}, which must be from {1.0 / _LARGEST_UNIT:g} to "
                    f"{_LARGEST_UNIT:g}: set it first"
                )


SI = PrimUnits(1.0, 1.0, np.ones(3))


def write_mass(pxr: Any, prim: Any, body: InertialParameters | IdentifiedLoad, units: PrimUnits) -> None:
    """Apply the MassAPI to a prim and set all four attributes.

    Args:
        pxr: the modules of usd-core.
        prim: that is to weigh what the body does.
        body: in the prim's frame, without its scale.
        units: of the prim.
    """
    R, moments = principal_axes(body.inertia_about_com)
    moments = moments / (units.kilograms * units.meters**2)
    center = body.center_of_mass / (units.meters * units.scale)
    if not np.abs([body.mass / units.kilograms, *center, *moments]).max() < np.finfo(np.float32).max:
        raise InputError(
            f"{prim.GetPath()}: in units of the stage the load is beyond single precision: check its scale"
        )
    w, x, y, z = _floats(quaternion_from_rotation(R))
    api = pxr.UsdPhysics.MassAPI.Apply(prim)
    for attribute, value in (
        (api.CreateMassAttr(), float(body.mass / units.kilograms)),
        (api.CreateCenterOfMassAttr(), pxr.Gf.Vec3f(*_floats(center))),
        (
            api.CreateDiagonalInertiaAttr(),
            pxr.Gf.Vec3f(*_floats(single_precision(moments))),
        ),
        (api.CreatePrincipalAxesAttr(), pxr.Gf.Quatf(w, x, y, z)),
    ):
        attribute.Clear()  # samples over time would be stronger than the value
        attribute.Set(value)


def single_precision(moments: FloatArray) -> FloatArray:
    """(3,) ``moments`` of a body as single-precision numbers that are those of a body, too.

    Rounding alone breaks the triangle inequality of a thin plate, which simulators refuse: the largest moment is
    rounded down, the others up.
    """
    rounded = moments.astype(np.float32)
    largest = int(np.argmax(moments))
    for place, value in enumerate(rounded):
        if place == largest and value > moments[place]:
            rounded[place] = np.nextafter(value, np.float32(-np.inf))
        elif place != largest and value < moments[place]:
            rounded[place] = np.nextafter(value, np.float32(np.inf))
    return rounded.astype(np.float64)


def read_mass(pxr: Any, prim: Any, units: PrimUnits) -> InertialParameters | None:
    """What a prim states to weigh, in its frame without its scale, in SI units; None if it states no mass.

    Raises:
        ContradictionError: it states a mass, but not all of the rest, which a simulator computes from its colliders.
    """
    api = pxr.UsdPhysics.MassAPI(prim)
    mass = api.GetMassAttr().Get(pxr.Usd.TimeCode.EarliestTime()) if prim.HasAPI(pxr.UsdPhysics.MassAPI) else None
    if not mass or mass < 0.0:
        return None
    time = pxr.Usd.TimeCode.EarliestTime()
    center, diagonal = (np.array(a.Get(time)) for a in (api.GetCenterOfMassAttr(), api.GetDiagonalInertiaAttr()))
    if not np.isfinite(center).all() or not diagonal.any():
        unset = "centerOfMass" if not np.isfinite(center).all() else "diagonalInertia"
        raise ContradictionError(
            f"{prim.GetPath()} states a mass of {mass * units.kilograms:.6g} kg and no physics:{unset}, which the "
            "simulator computes from its colliders: the load cannot be added to what is not stated. State it, or "
            "replace it",
            fix={"own_mass": "replace"},
        )
    turn = api.GetPrincipalAxesAttr().Get(time)
    w, vector = turn.GetReal(), np.array(turn.GetImaginary())
    size = float(np.hypot(w, np.linalg.norm(vector)))  # 0: not stated, the prim's own axes
    cross = skew(vector / size) if size else np.zeros((3, 3))
    R = np.eye(3) + 2.0 * (w / size if size else 0.0) * cross + 2.0 * cross @ cross
    inertia = R @ np.diag(diagonal) @ R.T * (units.kilograms * units.meters**2)
    return InertialParameters(mass * units.kilograms, center * units.meters * units.scale, inertia)


def _floats(values: FloatArray) -> list[float]:
    return [float(value) + 0.0 for value in values]

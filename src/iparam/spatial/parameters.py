"""`InertialParameters`: mass, centre of mass and inertia of one rigid body, in a frame.

The vector forms of the same ten numbers (phi, pseudo-inertia, log-Cholesky), for batches, are re-exported here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import InputError
from iparam.spatial.inertia import spatial_inertia_at_frame, symmetric_array
from iparam.spatial.log_cholesky import log_cholesky_from_phi, log_cholesky_jacobian, phi_from_log_cholesky
from iparam.spatial.phi import inertia_entries, inertia_matrix, phi_from_pseudo_inertia, pseudo_inertia_from_phi
from iparam.spatial.transforms import is_transform

__all__ = [
    "InertialParameters",
    "inertia_entries",
    "inertia_matrix",
    "log_cholesky_from_phi",
    "log_cholesky_jacobian",
    "phi_from_log_cholesky",
    "phi_from_pseudo_inertia",
    "pseudo_inertia_from_phi",
]


@dataclass(frozen=True, eq=False)
class InertialParameters:
    """Mass, centre of mass and inertia of one rigid body, in a frame that the context names.

    Whoever states a body states a mass of at least 0, and a massless one has neither centre of mass nor inertia. What
    is computed may be less sane: `from_phi` also takes negative masses, because an estimate from poor data can have
    one, and so do the operations on its result. No physical consistency is required anywhere, for the same reason; ask
    `iparam.spatial.check_consistency`.

    Attributes:
        mass: [kg].
        center_of_mass: (3,) in the frame [m].
        inertia_about_com: (3, 3) symmetric, about the centre of mass, in the frame's axes [kg m^2].
    """

    mass: float
    center_of_mass: FloatArray
    inertia_about_com: FloatArray

    def __post_init__(self) -> None:
        mass = _not_negative(self.mass, "mass")
        center = _stated(self.center_of_mass, "center_of_mass", (3,))
        inertia = _stated(self.inertia_about_com, "inertia_about_com", (3, 3))
        if mass == 0.0 and (center.any() or inertia.any()):
            raise InputError("a body of mass 0 must have center_of_mass and inertia_about_com 0 too")
        self._set(mass, center, symmetric_array(inertia, "inertia_about_com", 3))

    @classmethod
    def from_phi(cls, phi: ArrayLike) -> InertialParameters:
        """The body of phi (10,), see `iparam.spatial.phi`; undoes `phi`.

        A negative mass is taken as it is. A mass of exactly 0 is refused if the first moment is not 0, because there is
        no centre of mass then; otherwise the centre of mass is given as 0.
        """
        parameters = _single(phi, "phi", (10,))
        mass, first_moment = float(parameters[0]), parameters[1:4]
        if mass == 0.0 and first_moment.any():
            raise InputError(
                argument="phi", problem=f"has mass 0 but first moment {first_moment.tolist()} kg m: no centre of mass"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            center = first_moment / mass if mass != 0.0 else np.zeros(3)
            inertia = inertia_matrix(parameters[4:]) - _steiner(mass, center)
        if not (np.isfinite(center).all() and np.isfinite(inertia).all()):
            raise InputError(
                argument="phi", problem=f"has mass {mass:g} kg, too close to 0 for the centre of mass to be computed"
            )
        return cls._computed(mass, center, inertia)

    @classmethod
    def box(cls, mass: float, size: ArrayLike) -> InertialParameters:
        """A solid box of edge lengths ``size`` (3,) [m] and ``mass`` [kg], centred at the origin."""
        edges = _stated(size, "size", (3,))
        if (edges <= 0.0).any():
            raise InputError(argument="size", value=edges, expected="positive")
        squares = edges**2
        m = _not_negative(mass, "mass")
        return cls(m, np.zeros(3), np.diag(m / 12.0 * (squares.sum() - squares)))

    @classmethod
    def cylinder(cls, mass: float, radius: float, length: float) -> InertialParameters:
        """A solid cylinder about z of ``radius`` and ``length`` [m] and ``mass`` [kg], centred at the origin."""
        m, r, h = _not_negative(mass, "mass"), _positive(radius, "radius"), _positive(length, "length")
        across = m * (3.0 * r**2 + h**2) / 12.0
        return cls(m, np.zeros(3), np.diag([across, across, 0.5 * m * r**2]))

    @classmethod
    def sphere(cls, mass: float, radius: float) -> InertialParameters:
        """A solid sphere of ``radius`` [m] and ``mass`` [kg], centred at the origin."""
        m, r = _not_negative(mass, "mass"), _positive(radius, "radius")
        return cls(m, np.zeros(3), 0.4 * m * r**2 * np.eye(3))

    @property
    def phi(self) -> FloatArray:
        """(10,) [m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz] with the inertia about the frame's origin."""
        return np.concatenate(
            [[self.mass], self.mass * self.center_of_mass, inertia_entries(self.inertia_about_origin)]
        )

    @property
    def inertia_about_origin(self) -> FloatArray:
        """(3, 3) about the frame's origin, in its axes [kg m^2]."""
        return self.inertia_about_com + _steiner(self.mass, self.center_of_mass)

    @property
    def pseudo_inertia(self) -> FloatArray:
        """(4, 4) see `pseudo_inertia_from_phi`."""
        return pseudo_inertia_from_phi(self.phi)

    @property
    def spatial_inertia(self) -> FloatArray:
        """(6, 6) for twists [omega, v] of the frame, about its origin."""
        return spatial_inertia_at_frame(self.mass, self.inertia_about_com, self.center_of_mass)

    def transformed(self, T_ab: ArrayLike) -> InertialParameters:
        """The same body, given in frame b, expressed in frame a; T_ab (4, 4) is the pose of b in a [m]."""
        pose = _single(T_ab, "T_ab", (4, 4))
        if not is_transform(pose):
            raise InputError("T_ab is not a rigid transform")
        R, p = pose[:3, :3], pose[:3, 3]
        center = R @ self.center_of_mass + p if self.mass != 0.0 else np.zeros(3)
        return self._computed(self.mass, center, R @ self.inertia_about_com @ R.T)

    def __add__(self, other: InertialParameters) -> InertialParameters:
        """Both bodies rigidly joined; they must be given in the same frame."""
        if not isinstance(other, InertialParameters):
            return NotImplemented
        mass = self.mass + other.mass
        if mass == 0.0:
            return self.from_phi(self.phi + other.phi)
        center = (self.mass * self.center_of_mass + other.mass * other.center_of_mass) / mass
        apart = _steiner(self.mass * other.mass / mass, self.center_of_mass - other.center_of_mass)
        return self._computed(mass, center, self.inertia_about_com + other.inertia_about_com + apart)

    @classmethod
    def _computed(cls, mass: float, center: FloatArray, inertia: FloatArray) -> InertialParameters:
        """A result, which unlike a stated body may have a negative mass, or inertia without mass."""
        result = object.__new__(cls)
        result._set(mass, center, 0.5 * (inertia + inertia.T))
        return result

    def _set(self, mass: float, center: FloatArray, inertia: FloatArray) -> None:
        object.__setattr__(self, "mass", mass)
        object.__setattr__(self, "center_of_mass", frozen(center))
        object.__setattr__(self, "inertia_about_com", frozen(inertia))


def _steiner(mass: float, offset: FloatArray) -> FloatArray:
    """(3, 3) what moving the reference point by ``offset`` from the centre of mass adds to the inertia [kg m^2]."""
    result: FloatArray = mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    return result


def _single(value: ArrayLike, name: str, shape: tuple[int, ...]) -> FloatArray:
    array = as_float_array(value, name)
    if array.shape != shape:
        raise InputError(argument=name, problem=f"must have shape {shape}, got {array.shape}")
    return array


def _stated(value: ArrayLike, name: str, shape: tuple[int, ...]) -> FloatArray:
    return as_bounded_array(_single(value, name, shape), name)


def _not_negative(value: ArrayLike, name: str) -> float:
    number = float(_stated(value, name, ()))
    if number < 0.0:
        raise InputError(argument=name, problem=f"must be at least 0, got {number:g}")
    return number


def _positive(value: ArrayLike, name: str) -> float:
    number = float(_stated(value, name, ()))
    if number <= 0.0:
        raise InputError(argument=name, problem=f"must be positive, got {number:g}")
    return number

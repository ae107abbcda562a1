"""What exporters need of an identification, and no more: `IdentifiedLoad`, and `StaticLoad` for consumers that need
no inertia.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iparam.arrays import ROUNDING, FloatArray, as_float_array, covariance_problem, frozen
from iparam.errors import ContradictionError, FileFormatError, InputError, IparamError
from iparam.estimation.assessment.verdict import refuting
from iparam.estimation.errors import RefutedResultError
from iparam.estimation.estimate import part_message
from iparam.estimation.result_file import read_result, stated_refutation, stated_remarks
from iparam.files.json import JsonSection, read_json
from iparam.files.kind import FileKind
from iparam.remarks import Remark, messages
from iparam.robot.catalog import catalog_robot, robot_names
from iparam.spatial.consistency import check_consistency
from iparam.spatial.derived import derived_covariance
from iparam.spatial.inertia import symmetric_array
from iparam.spatial.parameters import InertialParameters, inertia_entries

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate


class InconsistentLoadError(IparamError, ValueError):
    """No body of positive density can have these parameters, so a consumer would refuse them or misbehave."""


LOAD_FORMAT = "iparam-load/1"
_LOADS = (FileKind.RESULT, FileKind.STATIC_RESULT, FileKind.EXPORTED_LOAD)
DEFAULT_FRAME = "tool"
"""Of a load that says neither its frame nor an arm whose tool frame is known."""


class _Judged:
    """What the identification said of a load, whatever is known of it."""

    remarks: tuple[Remark, ...]
    refuted: str

    @property
    def violations(self) -> tuple[str, ...]:
        """Why no real body can be like this, a sentence each; empty if one can."""
        raise NotImplementedError

    @property
    def discredited_by(self) -> tuple[str, ...]:
        """Why the numbers are not to be used: the refutation, and the remarks that doubt them."""
        return (*((self.refuted,) if self.refuted else ()), *messages(one for one in self.remarks if one.lowers))

    def require_consistency(self) -> None:
        """Raise `InconsistentLoadError` with the reasons if there are `violations`."""
        if found := self.violations:
            raise InconsistentLoadError(f"the load is not physically consistent: {' '.join(found)}")

    def require_credit(self) -> None:
        """Raise `RefutedResultError` with the reason if the load is `refuted`."""
        if self.refuted:
            raise RefutedResultError(f"the load is refuted: {self.refuted}")


@dataclass(frozen=True, eq=False)
class IdentifiedLoad(_Judged):
    """Mass, centre of mass and inertia of what hangs on the flange.

    Any finite numbers are taken, because an estimate from poor data can be absurd; `violations` says what is wrong.

    Attributes:
        mass: [kg].
        center_of_mass: (3,) in the frame [m].
        inertia_about_com: (3, 3) symmetric, about the centre of mass, in the frame's axes [kg m^2].
        frame: name of the frame, the tool frame of the arm.
        physically_consistent: whether the identification called it so.
        remarks: what the identification had to say.
        robot: name or URDF path of the arm that carried it; "" if unknown.
        refuted: why the data of the identification refute it, in a sentence; "" if they do not.
        covariance_phi: (10, 10) of `phi`; None if it is not known.
        origin: where it comes from if not from the identification itself, such as a draw from its posterior; one
            sentence, or "".
    """

    mass: float
    center_of_mass: FloatArray
    inertia_about_com: FloatArray
    frame: str = DEFAULT_FRAME
    physically_consistent: bool = True
    remarks: tuple[Remark, ...] = ()
    robot: str = ""
    refuted: str = ""
    covariance_phi: FloatArray | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        center = as_float_array(self.center_of_mass, "center_of_mass")
        inertia = as_float_array(self.inertia_about_com, "inertia_about_com")
        for name, array, shape in (("center_of_mass", center, (3,)), ("inertia_about_com", inertia, (3, 3))):
            if array.shape != shape:
                raise InputError(argument=name, problem=f"must have shape {shape}, got {array.shape}")
        words = self.frame.split()
        if not all(word.isprintable() for word in words) or not words or len(self.frame.splitlines()) > 1:
            raise InputError(argument="frame", value=self.frame, expected="a printable name on one line")
        object.__setattr__(self, "mass", float(as_float_array(self.mass, "mass").reshape(())))
        object.__setattr__(self, "center_of_mass", frozen(center + 0.0))  # + 0.0: no -0.0 in the files
        object.__setattr__(self, "inertia_about_com", frozen(symmetric_array(inertia, "inertia_about_com", 3) + 0.0))
        object.__setattr__(self, "remarks", tuple(self.remarks))
        if self.covariance_phi is not None:
            covariance = symmetric_array(self.covariance_phi, "covariance_phi", 10)
            if covariance.shape != (10, 10):
                raise InputError(argument="covariance_phi", problem=f"must have shape (10, 10), got {covariance.shape}")
            if problem := covariance_problem(covariance):
                raise InputError(argument="covariance_phi", problem=problem)
            object.__setattr__(self, "covariance_phi", frozen(covariance))

    @classmethod
    def from_estimate(cls, estimate: Estimate, frame: str | None = None) -> IdentifiedLoad:
        """The load of an `Estimate`; ``frame`` is for one that does not say which it is in, and has to agree else."""
        if np.isnan([estimate.mass, *estimate.center_of_mass, *estimate.inertia_about_com.ravel()]).any():
            estimate.require_complete("this load has all ten parameters, which StaticLoad does not need")
        if frame is not None and estimate.frame not in ("", frame):
            raise ContradictionError(
                f"the estimate is in the frame {estimate.frame!r}, not in {frame!r}: leave the frame out, or identify "
                "the load in that one"
            )
        return cls(
            estimate.mass,
            estimate.center_of_mass,
            estimate.inertia_about_com,
            frame or estimate.frame or _tool_frame_of(estimate.robot),
            estimate.physically_consistent,
            estimate.remarks,
            estimate.robot,
            next(iter(refuting(estimate.refutation, estimate.remarks)), ""),
            None if np.isnan(estimate.covariance_phi).any() else estimate.covariance_phi,
        )

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> IdentifiedLoad:
        """Read a result (``iparam-result/1``) or what the format ``json`` exports (``iparam-load/1``)."""
        load = read_load(path)
        if not isinstance(load, cls):
            raise InputError(f"{path} has no inertia, which StaticLoad does not need. {part_message(load.remarks)}")
        return load

    @property
    def inertia_about_origin(self) -> FloatArray:
        """(3, 3) about the frame's origin, in its axes [kg m^2]."""
        c = self.center_of_mass
        about_origin: FloatArray = self.inertia_about_com + self.mass * (c @ c * np.eye(3) - np.outer(c, c))
        return about_origin

    @property
    def phi(self) -> FloatArray:
        """(10,) see `iparam.spatial.phi`."""
        entries = inertia_entries(self.inertia_about_origin)
        return np.concatenate([[self.mass], self.mass * self.center_of_mass, entries])

    @property
    def parameters(self) -> InertialParameters:
        """The same as a body, for adding and transforming."""
        if self.mass > 0.0:
            return InertialParameters(self.mass, self.center_of_mass, self.inertia_about_com)
        return InertialParameters.from_phi(self.phi)

    @property
    def deviations(self) -> FloatArray | None:
        """(10,) standard deviations of the mass [kg], the centre of mass [m] and the inertia about it, xx xy xz yy yz
        zz [kg m^2]; None where the covariance is not known, or there is no mass.
        """
        if self.covariance_phi is None or self.mass == 0.0:
            return None
        return np.sqrt(np.maximum(np.diag(derived_covariance(self.phi, self.covariance_phi)), 0.0))

    @property
    def violations(self) -> tuple[str, ...]:
        """Why no real body can be like this, a sentence each; empty if one can."""
        found = check_consistency(self.phi).violations
        if not found and not self.physically_consistent:
            return ("The identification marked it as not physically consistent.",)
        return found


def _tool_frame_of(robot: str) -> str:
    """The tool frame of an arm of the catalogue, which a result that does not name its frame is in."""
    return catalog_robot(robot).tool_frame if robot.lower() in robot_names() else DEFAULT_FRAME


def _shaped(document: JsonSection, key: str, shape: tuple[int, ...]) -> FloatArray:
    values = document.array(key, len(shape))
    if values.shape != shape:
        raise document.error(key, f"must have shape {shape}, got {values.shape}")
    return values


@dataclass(frozen=True, eq=False)
class StaticLoad(_Judged):
    """Mass and centre of mass of what hangs on the flange.

    Attributes:
        mass: [kg].
        center_of_mass: (3,) in the frame [m].
        frame: name of the frame.
        remarks: what the identification had to say.
        refuted: why the data of the identification refute it, in a sentence; "" if they do not.
    """

    mass: float
    center_of_mass: FloatArray
    frame: str = DEFAULT_FRAME
    remarks: tuple[Remark, ...] = ()
    refuted: str = ""

    def __post_init__(self) -> None:
        center = as_float_array(self.center_of_mass, "center_of_mass", (3,))
        if center.shape != (3,) or not np.isfinite(self.mass):
            raise InputError(f"a static load is a mass and a centre (3,), got {self.mass!r} and {center.shape}")
        object.__setattr__(self, "center_of_mass", frozen(center + 0.0))
        object.__setattr__(self, "remarks", tuple(self.remarks))

    @classmethod
    def from_estimate(cls, estimate: Estimate) -> StaticLoad:
        """Mass and centre of mass of an `Estimate`."""
        estimate.require_weight("every export takes mass and centre of mass")
        refuted = next(iter(refuting(estimate.refutation, estimate.remarks)), "")
        frame = estimate.frame or _tool_frame_of(estimate.robot)
        return cls(estimate.mass, estimate.center_of_mass, frame, estimate.remarks, refuted)

    @property
    def to_see_the_rest(self) -> str:
        """What would show the inertia, in a sentence."""
        return part_message(self.remarks)

    @property
    def violations(self) -> tuple[str, ...]:
        """Why no real body can be like this; empty if one can."""
        return () if self.mass > 0.0 else (f"The mass is {self.mass:.6g} kg, not positive.",)


def load_of(estimate: Estimate) -> IdentifiedLoad | StaticLoad:
    """The load of an `Estimate`, with its inertia where it has all of it."""
    return IdentifiedLoad.from_estimate(estimate) if estimate.complete else StaticLoad.from_estimate(estimate)


def read_load(path: str | os.PathLike[str]) -> IdentifiedLoad | StaticLoad:
    """The load of a result, or of what the format ``json`` exports, with its inertia where the file has all of it."""
    document = read_json(path, wanted=_LOADS)
    return _exported(document) if document.content.get("format") == LOAD_FORMAT else load_of(read_result(path))


def _exported(document: JsonSection) -> IdentifiedLoad | StaticLoad:
    """The load of a file of the format ``iparam-load/1``, whose numbers must agree with each other."""
    remarks = stated_remarks(document)
    consistent = document.content.get("physically_consistent")
    if not isinstance(consistent, bool):
        raise document.error("physically_consistent", "must be true or false")
    mass, center = document.number("mass"), _shaped(document, "center_of_mass", (3,))
    frame = document.text("frame") if document.has("frame") else DEFAULT_FRAME
    refutation = stated_refutation(document) if document.has("assessment") else None
    refuted = next(iter(refuting(refutation, remarks)), "")
    load: IdentifiedLoad | StaticLoad
    try:
        if document.has("inertia_about_com"):
            inertia = _shaped(document, "inertia_about_com", (3, 3))
            load = IdentifiedLoad(mass, center, inertia, frame, consistent, remarks, refuted=refuted)
        else:
            load = StaticLoad(mass, center, frame, remarks, refuted)
    except InputError as error:
        raise FileFormatError(f"{document.file}: {error}") from None
    if isinstance(load, StaticLoad):
        known = document.array("phi", 1, nullable=True)[:4]
        computed = {"phi": (known, np.array([mass, *(mass * center)]))}
    else:
        about_origin = _shaped(document, "inertia_about_origin", (3, 3))
        computed = {"phi": (_shaped(document, "phi", (10,)), load.phi)}
        computed["inertia_about_origin"] = (about_origin, load.inertia_about_origin)
    for key, (stated, own) in computed.items():
        if stated.shape != own.shape or not (np.abs(stated - own) <= ROUNDING * np.abs(own).max()).all():
            raise document.error(key, "does not agree with mass, centre of mass and inertia: was the file edited?")
    return load

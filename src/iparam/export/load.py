"""What exporters need of an identification, and no more: `IdentifiedLoad`, and `StaticLoad` for consumers that need
no inertia.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import ContradictionError, FileFormatError, InputError, IparamError
from iparam.estimation.errors import RefutedResultError
from iparam.estimation.estimate import part_warning, stated_refutation
from iparam.estimation.static.result_document import STATIC_FORMAT
from iparam.export.discrediting import UNSTATED, discrediting
from iparam.files.json import JsonSection, read_json
from iparam.files.kind import FileKind
from iparam.robot.catalog import catalog_robot, robot_names
from iparam.spatial.consistency import check_consistency
from iparam.spatial.derived import derived_covariance
from iparam.spatial.inertia import symmetric_array
from iparam.spatial.parameters import InertialParameters, inertia_entries

if TYPE_CHECKING:
    from iparam.estimation.estimate import Estimate


class InconsistentLoadError(IparamError, ValueError):
    """No body of positive density can have these parameters, so a consumer would refuse them or misbehave."""


RESULT_FORMAT = "iparam-result/1"
LOAD_FORMAT = "iparam-load/1"
_LOADS = (FileKind.RESULT, FileKind.STATIC_RESULT, FileKind.EXPORTED_LOAD)
DEFAULT_FRAME = "tool"
"""Of a load that says neither its frame nor an arm whose tool frame is known."""


@dataclass(frozen=True, eq=False)
class IdentifiedLoad:
    """Mass, centre of mass and inertia of what hangs on the flange.

    Any finite numbers are taken, because an estimate from poor data can be absurd; `violations` says what is wrong.

    Attributes:
        mass: [kg].
        center_of_mass: (3,) in the frame [m].
        inertia_about_com: (3, 3) symmetric, about the centre of mass, in the frame's axes [kg m^2].
        frame: name of the frame, the tool frame of the arm.
        physically_consistent: whether the identification called it so.
        warnings: what the identification had to say, one sentence each.
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
    warnings: tuple[str, ...] = ()
    robot: str = ""
    refuted: str = ""
    covariance_phi: FloatArray | None = None
    origin: str = ""

    def __post_init__(self) -> None:
        center = as_float_array(self.center_of_mass, "center_of_mass")
        inertia = as_float_array(self.inertia_about_com, "inertia_about_com")
        for name, array, shape in (("center_of_mass", center, (3,)), ("inertia_about_com", inertia, (3, 3))):
            if array.shape != shape:
                raise InputError(f"{name} must have shape {shape}, got {array.shape}")
        words = self.frame.split()
        if not all(word.isprintable() for word in words) or not words or len(self.frame.splitlines()) > 1:
            raise InputError(f"frame must be a printable name on one line, got {self.frame!r}")
        object.__setattr__(self, "mass", float(as_float_array(self.mass, "mass").reshape(())))
        object.__setattr__(self, "center_of_mass", frozen(center + 0.0))  # + 0.0: no -0.0 in the files
        object.__setattr__(self, "inertia_about_com", frozen(symmetric_array(inertia, "inertia_about_com", 3) + 0.0))
        object.__setattr__(self, "warnings", tuple(self.warnings))
        if self.covariance_phi is not None:
            covariance = symmetric_array(self.covariance_phi, "covariance_phi", 10)
            if covariance.shape != (10, 10):
                raise InputError(f"covariance_phi must have shape (10, 10), got {covariance.shape}")
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
            estimate.warnings,
            estimate.robot,
            "" if estimate.refutation is None else estimate.refutation.sentence,
            None if np.isnan(estimate.covariance_phi).any() else estimate.covariance_phi,
        )

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> IdentifiedLoad:
        """Read a result (``iparam-result/1``) or what the format ``json`` exports (``iparam-load/1``).

        Where the file also gives phi or the inertia about the origin, they must agree with the rest.
        """
        document = read_json(path, wanted=_LOADS)
        stated = document.text("format")
        if stated not in (RESULT_FORMAT, LOAD_FORMAT):
            raise document.error("format", f"is {stated!r}; only {RESULT_FORMAT!r} and {LOAD_FORMAT!r} can be exported")
        warnings = document.content.get("warnings", [UNSTATED])
        if not isinstance(warnings, list) or not all(isinstance(text, str) for text in warnings):
            raise document.error("warnings", "must be a list of strings")
        consistent = document.content.get("physically_consistent", True)
        if not isinstance(consistent, bool):
            raise document.error("physically_consistent", f"must be true or false, got {consistent!r}")
        mass = document.number("mass")
        center, inertia = _shaped(document, "center_of_mass", (3,)), _shaped(document, "inertia_about_com", (3, 3))
        robot = document.text("robot") if document.has("robot") else ""
        frame = document.text("frame") if document.has("frame") else _tool_frame_of(robot)
        refutation = stated_refutation(document)
        refuted = "" if refutation is None else refutation.sentence
        try:
            covariance = _shaped(document, "covariance_phi", (10, 10)) if document.has("covariance_phi") else None
            load = cls(mass, center, inertia, frame, consistent, tuple(warnings), robot, refuted, covariance)
        except InputError as error:
            raise FileFormatError(f"{document.file}: {error}") from None
        for key, value in (("phi", load.phi), ("inertia_about_origin", load.inertia_about_origin)):
            if document.has(key) and not _agree(_shaped(document, key, value.shape), value):
                raise document.error(
                    key, "does not agree with mass, center_of_mass and inertia_about_com: was the file edited by hand?"
                )
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
    def discredited_by(self) -> tuple[str, ...]:
        """Why the numbers are not to be used: the refutation, and the warnings that `discrediting` lists."""
        return (*((self.refuted,) if self.refuted else ()), *discrediting(self.warnings))

    @property
    def violations(self) -> tuple[str, ...]:
        """Why no real body can be like this, a sentence each; empty if one can."""
        found = check_consistency(self.phi).violations
        if not found and not self.physically_consistent:
            return ("The identification marked it as not physically consistent.",)
        return found

    def require_consistency(self) -> None:
        """Raise `InconsistentLoadError` with the reasons if there are `violations`."""
        if found := self.violations:
            raise InconsistentLoadError(f"the load is not physically consistent: {' '.join(found)}")

    def require_credit(self) -> None:
        """Raise `RefutedResultError` with the reason if the load is `refuted`."""
        if self.refuted:
            raise RefutedResultError(f"the load is refuted by its own data: {self.refuted}")


def _tool_frame_of(robot: str) -> str:
    """The tool frame of an arm of the catalogue, which a result that does not name its frame is in."""
    return catalog_robot(robot).tool_frame if robot.lower() in robot_names() else DEFAULT_FRAME


def _shaped(document: JsonSection, key: str, shape: tuple[int, ...]) -> FloatArray:
    values = document.array(key, len(shape))
    if values.shape != shape:
        raise document.error(key, f"must have shape {shape}, got {values.shape}")
    return values


def _agree(stated: FloatArray, computed: FloatArray) -> bool:
    return bool(np.allclose(stated, computed, rtol=1e-6, atol=1e-9 * float(np.abs(computed).max())))


@dataclass(frozen=True, eq=False)
class StaticLoad:
    """Mass and centre of mass of what hangs on the flange.

    Attributes:
        mass: [kg].
        center_of_mass: (3,) in the frame [m].
        frame: name of the frame.
        warnings: what the identification had to say, one sentence each.
        refuted: why the data of the identification refute it, in a sentence; "" if they do not.
    """

    mass: float
    center_of_mass: FloatArray
    frame: str = DEFAULT_FRAME
    warnings: tuple[str, ...] = ()
    refuted: str = ""

    def __post_init__(self) -> None:
        center = as_float_array(self.center_of_mass, "center_of_mass", (3,))
        if center.shape != (3,) or not np.isfinite(self.mass):
            raise InputError(f"a static load is a mass and a centre (3,), got {self.mass!r} and {center.shape}")
        object.__setattr__(self, "center_of_mass", frozen(center + 0.0))
        object.__setattr__(self, "warnings", tuple(self.warnings))

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> StaticLoad:
        """Read what `iparam identify payload --static` wrote, a result whose data did not determine the inertia, or
        what the format ``json`` makes of them.
        """
        document = read_json(path, wanted=_LOADS)
        stated = document.text("format")
        if stated not in (STATIC_FORMAT, RESULT_FORMAT, LOAD_FORMAT):
            raise document.error("format", f"is {stated!r}, not {STATIC_FORMAT!r}")
        for key in ("mass", "center_of_mass"):
            value = document.content.get(key, 0.0)
            if value is None or (isinstance(value, list) and None in value):
                said = document.content.get("warnings")
                texts = [text for text in said if isinstance(text, str)] if isinstance(said, list) else []
                raise document.error(
                    key, f"is null, and every export takes mass and centre of mass. {part_warning(texts)}"
                )
        warnings = document.content.get("warnings", [UNSTATED])
        if not isinstance(warnings, list) or not all(isinstance(text, str) for text in warnings):
            raise document.error("warnings", "must be a list of strings")
        center = document.array("center_of_mass", 1)
        if center.shape != (3,):
            raise document.error("center_of_mass", f"must have shape (3,), got {center.shape}")
        try:
            robot = document.text("robot") if document.has("robot") else ""
            frame = document.text("frame") if document.has("frame") else _tool_frame_of(robot)
            refutation = stated_refutation(document)
            refuted = "" if refutation is None else refutation.sentence
            return cls(document.number("mass"), center, frame, tuple(warnings), refuted)
        except InputError as error:
            raise FileFormatError(f"{document.file}: {error}") from None

    @property
    def to_see_the_rest(self) -> str:
        """What would show the inertia, in a sentence."""
        return part_warning(self.warnings)

    @property
    def discredited_by(self) -> tuple[str, ...]:
        """Why the numbers are not to be used: the refutation, and the warnings that `discrediting` lists."""
        return (*((self.refuted,) if self.refuted else ()), *discrediting(self.warnings))

    @property
    def violations(self) -> tuple[str, ...]:
        """Why no real body can be like this; empty if one can."""
        return () if self.mass > 0.0 else (f"The mass is {self.mass:.6g} kg, not positive.",)

    def require_consistency(self) -> None:
        """Raise `InconsistentLoadError` with the reasons if there are `violations`."""
        if found := self.violations:
            raise InconsistentLoadError(f"the load is not physically consistent: {' '.join(found)}")

    def require_credit(self) -> None:
        """Raise `RefutedResultError` with the reason if the load is `refuted`."""
        if self.refuted:
            raise RefutedResultError(f"the load is refuted by its own data: {self.refuted}")


def is_static_result(path: str | os.PathLike[str]) -> bool:
    """Whether a JSON file is the result of rests, or one whose data did not determine the whole inertia."""
    document = read_json(path, wanted=_LOADS)
    stated = document.content.get("format")
    open_to = _has_null(document.content.get("phi", 0.0))
    return stated == STATIC_FORMAT or (stated in (RESULT_FORMAT, LOAD_FORMAT) and open_to)


def read_load(path: str | os.PathLike[str]) -> IdentifiedLoad | StaticLoad:
    """The load of a result, with its inertia where the file has one."""
    return StaticLoad.from_json(path) if is_static_result(path) else IdentifiedLoad.from_json(path)


def _has_null(value: object) -> bool:
    return value is None or (isinstance(value, list) and any(_has_null(part) for part in value))

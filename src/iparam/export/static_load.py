"""`StaticLoad`: what rests tell of a load, for consumers that need no inertia."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import FileFormatError, InputError
from iparam.export.discrediting import UNSTATED, discrediting
from iparam.export.errors import InconsistentLoadError
from iparam.export.result import DEFAULT_FRAME
from iparam.trajectory.json_section import read_json

STATIC_FORMAT = "iparam-static-result/1"


@dataclass(frozen=True, eq=False)
class StaticLoad:
    """Mass and centre of mass of what hangs on the flange.

    Attributes:
        mass: [kg].
        center_of_mass: (3,) in the frame [m].
        frame: name of the frame.
        warnings: what the identification had to say, one sentence each.
    """

    mass: float
    center_of_mass: FloatArray
    frame: str = DEFAULT_FRAME
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        center = as_float_array(self.center_of_mass, "center_of_mass", (3,))
        if center.shape != (3,) or not np.isfinite(self.mass):
            raise InputError(f"a static load is a mass and a centre (3,), got {self.mass!r} and {center.shape}")
        object.__setattr__(self, "center_of_mass", frozen(center + 0.0))
        object.__setattr__(self, "warnings", tuple(self.warnings))

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> StaticLoad:
        """Read what `iparam identify payload --static` wrote."""
        document = read_json(path)
        stated = document.text("format")
        if stated != STATIC_FORMAT:
            raise document.error("format", f"is {stated!r}, not {STATIC_FORMAT!r}")
        warnings = document.content.get("warnings", [UNSTATED])
        if not isinstance(warnings, list) or not all(isinstance(text, str) for text in warnings):
            raise document.error("warnings", "must be a list of strings")
        center = document.array("center_of_mass", 1)
        if center.shape != (3,):
            raise document.error("center_of_mass", f"must have shape (3,), got {center.shape}")
        try:
            frame = document.text("frame") if document.has("frame") else DEFAULT_FRAME
            return cls(document.number("mass"), center, frame, tuple(warnings))
        except InputError as error:
            raise FileFormatError(f"{document.file}: {error}") from None

    @property
    def discredited_by(self) -> tuple[str, ...]:
        """The warnings because of which the numbers are not to be used, see `discrediting`."""
        return discrediting(self.warnings)

    @property
    def violations(self) -> tuple[str, ...]:
        """Why no real body can be like this; empty if one can."""
        return () if self.mass > 0.0 else (f"The mass is {self.mass:.6g} kg, not positive.",)

    def require_consistency(self) -> None:
        """Raise `InconsistentLoadError` with the reasons if there are `violations`."""
        if found := self.violations:
            raise InconsistentLoadError(f"the load is not physically consistent: {' '.join(found)}")


def is_static_result(path: str | os.PathLike[str]) -> bool:
    """Whether a JSON file is the result of rests."""
    document = read_json(path)
    return document.has("format") and document.content["format"] == STATIC_FORMAT

"""`FoundShape`: the shape that an identification was given, with the densities that it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.errors import FileFormatError, InputError
from iparam.estimation.shape.shape import Part, Shape, convex_hull, hull_corners

if TYPE_CHECKING:
    from iparam.files.json import JsonSection

MOST_CORNERS = 48
"""Of the outline of a part that a file holds."""


@dataclass(frozen=True, eq=False)
class FoundPart:
    """A part of the shape.

    Attributes:
        name: of the part.
        density, standard_deviation: [kg/m^3]; of the unit of the volumes where these are not in m^3.
        outline: (k, 3) corners around it, whose convex hull can be drawn, in the frame of the result [m].
    """

    name: str
    density: float
    standard_deviation: float
    outline: FloatArray

    def __post_init__(self) -> None:
        outline = np.asarray(self.outline, dtype=np.float64)
        if outline.ndim != 2 or outline.shape[1] != 3 or not np.isfinite(outline).all():
            raise InputError(f"the outline of part {self.name!r} must be (k, 3) finite numbers, got {outline.shape}")
        if not (self.density >= 0.0 and self.standard_deviation >= 0.0):
            raise InputError(f"the density of part {self.name!r} and its deviation must be at least 0")
        object.__setattr__(self, "outline", frozen(outline))

    @property
    def shade(self) -> float:
        """How dark it is drawn, by the logarithm of its density: 0 for foam (100 kg/m^3), 1 for lead."""
        return float(np.clip(np.log10(max(self.density, 1.0) / 100.0) / 2.1, 0.0, 1.0))

    @property
    def triangles(self) -> FloatArray:
        """(F, 3, 3) of the convex hull around it, facing outward; none where it is flat."""
        hull = convex_hull(self.outline)
        if hull is None:
            return np.zeros((0, 3, 3))
        corners = self.outline[hull.simplices]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inward = np.einsum("fi,fi->f", normal, hull.equations[:, :3]) < 0.0
        corners[inward] = corners[inward][:, ::-1]
        return np.asarray(corners)


@dataclass(frozen=True, eq=False)
class FoundShape:
    """The shape as the data have it.

    Attributes:
        parts: with their densities.
        bounding: it is a box that the load lies in, which it need not fill: its mean density says nothing.
    """

    parts: tuple[FoundPart, ...]
    bounding: bool = False

    @property
    def filled_parts(self) -> tuple[FoundPart, ...]:
        """Those whose densities say something of the load."""
        return () if self.bounding else self.parts

    @classmethod
    def of(cls, shape: Shape, densities: FloatArray) -> FoundShape:
        """The shape with mean and standard deviation (parts, 2) of each density [kg/m^3]."""
        parts = [
            FoundPart(part.name, float(mean), float(deviation), _outline(part))
            for part, (mean, deviation) in zip(shape.parts, densities, strict=True)
        ]
        return cls(tuple(parts), shape.vague)

    def to_document(self) -> dict[str, Any]:
        """What a result file holds."""
        parts = [
            {
                "name": part.name,
                "density": part.density,
                "standard_deviation": part.standard_deviation,
                "outline": part.outline.tolist(),
            }
            for part in self.parts
        ]
        return {"parts": parts, "bounding": True} if self.bounding else {"parts": parts}

    @classmethod
    def from_document(cls, section: JsonSection) -> FoundShape:
        """Read what `to_document` gave."""
        try:
            parts = tuple(
                FoundPart(
                    one.text("name"), one.number("density"), one.number("standard_deviation"), one.array("outline", 2)
                )
                for one in section.sections("parts")
            )
        except InputError as error:
            raise FileFormatError(f"{section.file}: {error}") from None
        return cls(parts, section.content.get("bounding") is True)


def _outline(part: Part) -> FloatArray:
    """(k, 3) corners of the hull of its points, those that are farthest apart where there are many."""
    corners = hull_corners(part.outline)
    if len(corners) > MOST_CORNERS:
        kept = [int(np.argmax(np.linalg.norm(corners - corners.mean(axis=0), axis=1)))]
        gap = np.linalg.norm(corners - corners[kept[0]], axis=1)
        while len(kept) < MOST_CORNERS:  # each farthest from those before
            kept.append(int(np.argmax(gap)))
            gap = np.minimum(gap, np.linalg.norm(corners - corners[kept[-1]], axis=1))
        corners = corners[kept]
    return np.asarray(corners)

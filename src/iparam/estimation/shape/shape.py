"""`Shape`: what is known of the geometry of a load, as moments of parts, each of a density that may be unknown."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import phi_from_pseudo_inertia
from iparam.spatial.transforms import is_transform

DEFAULT_TOLERANCE = 1e-3
"""Standard deviation of where the surfaces of a shape are, in the hand and on the part [m]: it is placed by hand."""

LEAST_EXTENT, MOST_EXTENT = 1e-3, 3.0
"""Bounds of the longest side of what an arm can carry [m]; beyond them the unit is another one."""

LEAST_DENSITY, MOST_DENSITY = 10.0, 25_000.0
"""No material that a load is made of is less dense, or denser [kg/m^3]: foam has 15, osmium 22 590."""

LEAST_FILLED, MOST_FILLED = 1e-4, 1.5
"""Volume of a shape, in that of the box around it, that is one in m^3: points may come with another unit of it."""


@dataclass(frozen=True, eq=False)
class Part:
    """A piece of a shape that may be of another material than the others.

    Attributes:
        name: by which its density can be given.
        moments: (4, 4) integral of [x, 1] [x, 1]' over its volume [m^5, m^4, m^3]; positive definite.
        outline: (k, 3) points whose convex hull holds it [m].
        density: least and most [kg/m^3], the same twice if it is known; None for any.
    """

    name: str
    moments: FloatArray
    outline: FloatArray
    density: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        moments, outline = as_float_array(self.moments, "moments"), as_bounded_array(self.outline, "outline")
        if moments.shape != (4, 4) or outline.ndim != 2 or outline.shape[1] != 3 or not len(outline):
            raise InputError(
                f"part {self.name!r} needs moments (4, 4) and an outline (k, 3), got {moments.shape} and "
                f"{outline.shape}"
            )
        if not moments[3, 3] > 0.0:
            raise InputError(f"part {self.name!r} has a volume that is not positive: {moments[3, 3]:g}")
        object.__setattr__(self, "moments", frozen(0.5 * (moments + moments.T)))
        object.__setattr__(self, "outline", frozen(outline))
        if self.density is not None:
            least, most = (float(value) for value in self.density)
            if not 0.0 < least <= most <= MOST_DENSITY:
                raise InputError(
                    f"the density of {self.name!r} must be between 0 and {MOST_DENSITY:g} kg/m^3, the lower bound "
                    f"first, got {least:g} to {most:g}: 1000 is water, 2700 aluminium, 7850 steel"
                )
            object.__setattr__(self, "density", (least, most))

    @property
    def volume(self) -> float:
        """[m^3]; of another unit if those of all parts are, then no density can be given or told."""
        return float(self.moments[3, 3])

    @property
    def center(self) -> FloatArray:
        """(3,) of its volume [m]."""
        return np.asarray(self.moments[:3, 3] / self.moments[3, 3])

    @property
    def spread(self) -> FloatArray:
        """(3, 3) covariance of its volume about its centre [m^2]."""
        return np.asarray(self.moments[:3, :3] / self.volume - np.outer(self.center, self.center))

    @property
    def phi(self) -> FloatArray:
        """(10,) at a density of 1 kg/m^3."""
        return phi_from_pseudo_inertia(self.moments)


@dataclass(frozen=True, eq=False)
class Shape:
    """Parts, in the tool frame.

    Attributes:
        parts: at least one, of different names.
        tolerance: standard deviation of where the surfaces are [m]: by placement, and by how well the shape is known.
        vague: it is only a box that the load lies in, and says nothing of how it fills it.
    """

    parts: tuple[Part, ...]
    tolerance: float = DEFAULT_TOLERANCE
    vague: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        names = [part.name for part in self.parts]
        if not names:
            raise InputError("a shape needs at least one part")
        if len(set(names)) < len(names):
            raise InputError(f"the parts of a shape need different names, got {', '.join(names)}")
        if not (np.isfinite(self.tolerance) and self.tolerance > 0.0):
            raise InputError(argument="tolerance", value=self.tolerance, expected="positive [m]")
        extent = float(self.bounds[0].max())
        if extent == 0.0:
            raise InputError("all points of the shape are in one place: they fill no volume")
        if not LEAST_EXTENT <= extent <= MOST_EXTENT:
            raise InputError(
                f"the shape is {extent:.4g} m long, and an arm carries what is {LEAST_EXTENT:g} to {MOST_EXTENT:g} m "
                "long. The scale of a file is 0.001 for millimetres, 0.0254 for inches, 1 for metres",
                fix={"scale": 0.001 if extent > MOST_EXTENT else 1.0},
            )
        if self.tolerance >= 0.5 * extent and self.tolerance > DEFAULT_TOLERANCE:
            raise InputError(
                argument="tolerance",
                problem=(
                    f"must be less than half the size of the shape, {0.5 * extent:.3g} m, got {self.tolerance:g} m: "
                    "what is off by more is no shape"
                ),
            )
        if not np.sqrt(np.linalg.eigvalsh(self.whole.spread)[0]) > 1e-6 * extent:
            raise InputError("the points of the shape lie in a plane or on a line: they fill no volume")

    @classmethod
    def from_points(
        cls, points: ArrayLike, volumes: ArrayLike, parts: Sequence[Any] | None = None, **settings: Any
    ) -> Shape:
        """A shape of points (n, 3) [m] with volumes (n,) [m^3] and the part (n,) that each belongs to; one if None."""
        place, volume = as_bounded_array(points, "points"), as_bounded_array(volumes, "volumes")
        labels = ["body"] * len(place) if parts is None else [str(label) for label in np.asarray(parts).tolist()]
        if place.ndim != 2 or place.shape[1] != 3 or volume.shape != (len(place),) or len(labels) != len(place):
            raise InputError(
                f"points (n, 3) need as many volumes (n,) and parts, got {place.shape}, {volume.shape} and "
                f"{len(labels)}"
            )
        if not (volume > 0.0).all():
            raise InputError(f"a point has a volume that is not positive: {volume.min():g}")
        chosen, found = np.array(labels), []
        for name in dict.fromkeys(labels):
            own, weight = place[chosen == name], volume[chosen == name]
            rows = np.column_stack([own, np.ones(len(own))])
            found.append(Part(name, (rows * weight[:, None]).T @ rows, hull_corners(own)))
        return cls(tuple(found), **settings)

    @classmethod
    def box(cls, size: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0), tolerance: float = DEFAULT_TOLERANCE) -> Shape:
        """A volume that the load lies in: a box of edge lengths ``size`` (3,) about ``center`` (3,), tool axes [m]."""
        edges, middle = as_bounded_array(size, "size"), as_bounded_array(center, "center")
        if edges.shape != (3,) or middle.shape != (3,) or not ((edges > 0.0) & (edges <= MOST_EXTENT)).all():
            raise InputError(
                f"a box needs three positive lengths up to {MOST_EXTENT:g} m, which is what an arm carries, and a "
                f"centre (3,), all in metres, got {edges.tolist()}"
            )
        place = np.array([*middle, 1.0])
        moments = np.outer(place, place) + np.diag([*(edges**2 / 12.0), 0.0])
        corners = np.stack(np.meshgrid(*[[-0.5, 0.5]] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * edges + middle
        return cls((Part("box", float(np.prod(edges)) * moments, corners),), tolerance, vague=True)

    @property
    def whole(self) -> Part:
        """All of it as one part."""
        moments = np.sum([part.moments for part in self.parts], axis=0)
        return Part("shape", moments, np.concatenate([part.outline for part in self.parts]))

    @property
    def volume(self) -> float:
        """[m^3]."""
        return sum(part.volume for part in self.parts)

    @property
    def metric(self) -> bool:
        """Whether its volumes are in m^3, by how much of the box around it they fill: densities are then in kg/m^3."""
        return bool(LEAST_FILLED < self.volume / np.prod(self.bounds[0]) < MOST_FILLED)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Edge lengths (3,) and centre (3,) of the box around it, along the axes of its frame [m]."""
        points = np.concatenate([part.outline for part in self.parts])
        low, high = points.min(axis=0), points.max(axis=0)
        return high - low, 0.5 * (low + high)

    def placed(self, pose: ArrayLike) -> Shape:
        """The shape moved by ``pose`` (4, 4), of its frame in the tool frame [m]."""
        T = as_float_array(pose, "pose")
        if T.shape != (4, 4) or not is_transform(T):
            raise InputError("the pose of a shape is not a rigid 4x4 transform")
        return self.deformed(T)

    def deformed(self, T: FloatArray) -> Shape:
        """The shape under any affine map T (4, 4): a turn, a stretch, a reflection. Volumes follow."""
        factor = abs(float(np.linalg.det(T[:3, :3])))
        parts = [
            dataclasses.replace(
                part, moments=factor * T @ part.moments @ T.T, outline=part.outline @ T[:3, :3].T + T[:3, 3]
            )
            for part in self.parts
        ]
        return dataclasses.replace(self, parts=tuple(parts))

    def with_densities(self, densities: Mapping[str, tuple[float, float] | None]) -> Shape:
        """The shape with least and most densities [kg/m^3] of parts by their names; None for any."""
        names = [part.name for part in self.parts]
        for name in densities:
            if name not in names:
                raise UnknownNameError("part of the shape", name, names, argument="density")
        parts = [
            dataclasses.replace(part, density=densities[part.name]) if part.name in densities else part
            for part in self.parts
        ]
        return dataclasses.replace(self, parts=tuple(parts))

    def body(self, mass: float, densities: Sequence[float] | None = None) -> InertialParameters:
        """The shape as a body of ``mass`` [kg], of one density or with ``densities`` of the parts in any unit."""
        relative = [1.0] * len(self.parts) if densities is None else list(densities)
        phi = np.sum([d * part.phi for d, part in zip(relative, self.parts, strict=True)], axis=0)
        return InertialParameters.from_phi(phi * (mass / phi[0]))


def convex_hull(points: FloatArray) -> Any:
    """The convex hull of points (k, 3), of scipy; None where they have none, because they are few or flat."""
    from scipy.spatial import ConvexHull, QhullError  # here, because every command loads results, and few a shape

    try:
        return ConvexHull(points)
    except (QhullError, ValueError):
        return None


def hull_corners(points: FloatArray) -> FloatArray:
    """(k, 3) those of points (n, 3) that are corners of their convex hull; all where there is none."""
    hull = convex_hull(points)
    return points if hull is None else points[hull.vertices]

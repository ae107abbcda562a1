"""`Shape`: what is known of the geometry of a load. Parts that fill space, each of a density that nobody knows."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_bounded_array, as_float_array, frozen
from iparam.errors import InputError, UnknownNameError
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import phi_from_pseudo_inertia
from iparam.spatial.transforms import is_transform

DEFAULT_TOLERANCE = 1e-3
"""Standard deviation of where the surfaces of a shape are, in the hand and on the part [m]: it is placed by hand, and
made by people."""

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
        points: (n, 3) that fill it evenly enough for its moments [m].
        volumes: (n,) that each stands for [m^3]; of another unit if all are, then no density can be given or told.
        density: least and most [kg/m^3], the same twice if it is known; None for any.
    """

    name: str
    points: FloatArray
    volumes: FloatArray
    density: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        points, volumes = as_bounded_array(self.points, "points"), as_bounded_array(self.volumes, "volumes")
        if points.ndim != 2 or points.shape[1] != 3 or volumes.shape != (len(points),) or not len(points):
            raise InputError(
                f"part {self.name!r} needs points (n, 3) and volumes (n,), got {points.shape} and {volumes.shape}"
            )
        if not (volumes > 0.0).all():
            raise InputError(f"part {self.name!r} has a volume that is not positive: {volumes.min():g}")
        object.__setattr__(self, "points", frozen(points))
        object.__setattr__(self, "volumes", frozen(volumes))
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
        """[m^3]."""
        return float(self.volumes.sum())


@dataclass(frozen=True, eq=False)
class Shape:
    """Parts, in the tool frame.

    Attributes:
        parts: at least one, of different names.
        tolerance: standard deviation of where the surfaces are [m]: by placement, and by how well the shape is known.
        vague: it is only a volume that the load lies in, and says nothing of how it fills it.
        place_deviation: standard deviation of where it is in the hand, beyond the tolerance [m]; see `roughly`.
        turn_deviation: of how it is turned, about each axis [rad]; infinite if nothing is known of it.
        pose: (4, 4) of the frame of its file in the tool frame, as far as that is known [m].
        remarks: what is odd about its file, a sentence each, for whoever uses it.
        outline: (k, 3) corners of boxes that hold its surfaces [m], beyond the points, which are inside; () for those.
    """

    parts: tuple[Part, ...]
    tolerance: float = DEFAULT_TOLERANCE
    vague: bool = False
    place_deviation: float = 0.0
    turn_deviation: float = 0.0
    pose: FloatArray = field(default_factory=lambda: frozen(np.eye(4)))
    remarks: tuple[str, ...] = ()
    outline: FloatArray = field(default_factory=lambda: frozen(np.empty((0, 3))))

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not (np.isfinite(self.place_deviation) and self.place_deviation >= 0.0 and self.turn_deviation >= 0.0):
            raise InputError(
                f"deviations of a placement must not be negative, got {self.place_deviation!r} m and "
                f"{self.turn_deviation!r} rad"
            )
        names = [part.name for part in self.parts]
        if not names:
            raise InputError("a shape needs at least one part")
        if len(set(names)) < len(names):
            raise InputError(f"the parts of a shape need different names, got {', '.join(names)}")
        if not (np.isfinite(self.tolerance) and self.tolerance > 0.0):
            raise InputError(f"tolerance must be positive [m], got {self.tolerance!r}")
        points = np.concatenate([part.points for part in self.parts])
        extent = float(np.ptp(points, axis=0).max())
        if extent == 0.0:
            raise InputError("all points of the shape are in one place: they fill no volume")
        if not LEAST_EXTENT <= extent <= MOST_EXTENT:
            large = "for a file in millimetres give scale=0.001, in inches scale=0.0254"
            small = "its scale is too small: scale=1 is for a file in metres, scale=0.0254 for one in inches"
            raise InputError(
                f"the shape is {extent:.4g} m long, and an arm carries what is {LEAST_EXTENT:g} to {MOST_EXTENT:g} m "
                f"long: {large if extent > MOST_EXTENT else small}"
            )
        flat = np.linalg.svd((points - points.mean(axis=0)) / extent, compute_uv=False)[-1] / np.sqrt(len(points))
        if not flat > 1e-6:
            raise InputError("the points of the shape lie in a plane or on a line: they fill no volume")

    @classmethod
    def from_points(
        cls, points: ArrayLike, volumes: ArrayLike, parts: Sequence[Any] | None = None, **settings: Any
    ) -> Shape:
        """A shape of points (n, 3) [m] with volumes (n,) [m^3] and the part (n,) that each belongs to; one if None."""
        place, volume = as_float_array(points, "points", (3,)), as_float_array(volumes, "volumes")
        labels = np.asarray(["body"] * len(place) if parts is None else parts)
        if labels.shape != (len(place),) or volume.shape != (len(place),):
            raise InputError(
                f"{len(place)} points need as many volumes and parts, got {volume.shape} and {labels.shape}"
            )
        named = [str(label) for label in labels.tolist()]
        order = list(dict.fromkeys(named))
        chosen = np.array(named)
        return cls(tuple(Part(name, place[chosen == name], volume[chosen == name]) for name in order), **settings)

    @classmethod
    def box(cls, size: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0)) -> Shape:
        """A volume that the load lies in: a box of edge lengths ``size`` (3,) about ``center`` (3,), tool axes [m]."""
        edges, middle = as_bounded_array(size, "size"), as_bounded_array(center, "center")
        if edges.shape != (3,) or middle.shape != (3,) or not ((edges > 0.0) & (edges <= MOST_EXTENT)).all():
            raise InputError(
                f"a box needs three positive lengths up to {MOST_EXTENT:g} m, which is what an arm carries, and a "
                f"centre (3,), all in metres, got {edges.tolist()}"
            )
        # Simpson's rule along each edge: it has the second moments of the solid box, and its corners.
        steps, weights = np.array([-0.5, 0.0, 0.5]), np.array([1.0, 4.0, 1.0]) / 6.0
        grid = np.stack(np.meshgrid(steps, steps, steps, indexing="ij"), axis=-1).reshape(-1, 3)
        share = np.prod(np.meshgrid(weights, weights, weights, indexing="ij"), axis=0).ravel()
        return cls((Part("box", middle + grid * edges, np.prod(edges) * share),), vague=True)

    @property
    def volume(self) -> float:
        """[m^3]."""
        return sum(part.volume for part in self.parts)

    @property
    def stated_mass(self) -> float | None:
        """What it weighs if the densities of all parts are given, in the middle of their ranges [kg]; else None."""
        masses = [part.volume * sum(part.density) / 2.0 for part in self.parts if part.density is not None]
        return sum(masses) if len(masses) == len(self.parts) else None

    @property
    def metric(self) -> bool:
        """Whether its volumes are in m^3, by how much of the box around it they fill: densities are then in kg/m^3."""
        return bool(LEAST_FILLED < self.volume / np.prod(self.bounds[0]) < MOST_FILLED)

    @property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Edge lengths (3,) and centre (3,) of the box around it, along the axes of its frame [m]."""
        points = np.concatenate([part.points for part in self.parts])
        low, high = points.min(axis=0), points.max(axis=0)
        return high - low, 0.5 * (low + high)

    @property
    def box_around(self) -> tuple[FloatArray, FloatArray]:
        """Edge lengths (3,) and centre (3,) of a box that holds all of it, along the axes of its frame [m]."""
        points = np.concatenate([*(part.points for part in self.parts), self.outline])
        low, high = points.min(axis=0), points.max(axis=0)
        return high - low, 0.5 * (low + high)

    def beyond(self, size: ArrayLike, center: ArrayLike) -> float:
        """How far its points reach out of a box of edge lengths ``size`` (3,) about ``center`` (3,) [m]; 0 if not."""
        edges, middle = as_float_array(size, "size", (3,)), as_float_array(center, "center", (3,))
        points = np.concatenate([part.points for part in self.parts])
        return max(float((np.abs(points - middle) - 0.5 * edges).max()), 0.0)

    def placed(self, pose: ArrayLike) -> Shape:
        """The shape moved by ``pose`` (4, 4), of its frame in the tool frame [m]."""
        T = as_float_array(pose, "pose")
        if T.shape != (4, 4) or not is_transform(T):
            raise InputError("the pose of a shape is not a rigid 4x4 transform")
        return dataclasses.replace(self.deformed(T), pose=frozen(T @ self.pose))

    def roughly(self, place: float = 0.1, turn: float = np.inf) -> Shape:
        """The shape, of which is to be estimated where it is in the hand.

        Args:
            place: standard deviation of its place [m].
            turn: of its turn about each axis [rad]; infinite if nothing is known of it.
        """
        if not place > 0.0:
            raise InputError(f"place= is how far the shape may be from where it is said to be, got {place!r} m")
        return dataclasses.replace(self, place_deviation=float(place), turn_deviation=float(turn))

    @property
    def movable(self) -> bool:
        """Whether it is to be estimated where it is."""
        return self.place_deviation > 0.0

    def deformed(self, T: FloatArray) -> Shape:
        """The shape under any affine map T (4, 4): a turn, a stretch, a reflection. Volumes follow."""
        factor = abs(float(np.linalg.det(T[:3, :3])))
        parts = [
            dataclasses.replace(part, points=part.points @ T[:3, :3].T + T[:3, 3], volumes=part.volumes * factor)
            for part in self.parts
        ]
        outline = frozen(self.outline @ T[:3, :3].T + T[:3, 3])
        return dataclasses.replace(self, parts=tuple(parts), outline=outline)

    def with_densities(self, densities: Mapping[str, tuple[float, float]]) -> Shape:
        """The shape with least and most densities [kg/m^3] of parts by their names."""
        names = [part.name for part in self.parts]
        for name in densities:
            if name not in names:
                raise UnknownNameError("part of the shape", name, names)
        parts = [
            dataclasses.replace(part, density=densities[part.name]) if part.name in densities else part
            for part in self.parts
        ]
        return dataclasses.replace(self, parts=tuple(parts))

    def body(self, mass: float, densities: Sequence[float] | None = None) -> InertialParameters:
        """The shape as a body of ``mass`` [kg], of one density or with ``densities`` of the parts in any unit."""
        relative = [1.0] * len(self.parts) if densities is None else list(densities)
        phi = np.sum([d * part_phi(part) for d, part in zip(relative, self.parts, strict=True)], axis=0)
        return InertialParameters.from_phi(phi * (mass / phi[0]))


def part_phi(part: Part) -> FloatArray:
    """(10,) phi of a part at a density of 1 kg/m^3."""
    homogeneous = np.column_stack([part.points, np.ones(len(part.points))])
    return phi_from_pseudo_inertia((homogeneous * part.volumes[:, None]).T @ homogeneous)

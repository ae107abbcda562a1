"""`Distances`: how far pairs of shapes are apart in any pose, with exact gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, kernel_input
from iparam.native.distances import Kind, distances
from iparam.robot.collision.shapes import HalfSpace, PlacedBox, PlacedCapsule, PlacedPoint
from iparam.robot.model import Robot

Pairs = tuple[tuple[int, int], ...]


class Gaps(NamedTuple):
    """Distances (T, P) [m], negative where shapes reach into each other, and gradients (T, P, n) by the joints."""

    values: FloatArray
    gradients: FloatArray


class _Group(NamedTuple):
    kind: Kind
    shapes: tuple[FloatArray, ...]
    pairs: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Distances:
    """Pairs of shapes.

    Attributes:
        name: of all of them, e.g. "robot-robot collision".
        robot: the arm.
        capsules: on the arm, or standing still (body 0).
        boxes: likewise.
        points: balls and points.
        planes: walls and the ground.
        capsule_pairs: (capsule, capsule).
        box_pairs: (capsule, box).
        box_box_pairs: (box, box).
        plane_pairs: (point, plane).
        pairs: the names of the two, in the order of the columns.
    """

    name: str
    robot: Robot
    capsules: tuple[PlacedCapsule, ...] = ()
    boxes: tuple[PlacedBox, ...] = ()
    points: tuple[PlacedPoint, ...] = ()
    planes: tuple[HalfSpace, ...] = ()
    capsule_pairs: Pairs = ()
    box_pairs: Pairs = ()
    box_box_pairs: Pairs = ()
    plane_pairs: Pairs = ()
    pairs: tuple[tuple[str, str], ...] = field(init=False)
    _groups: tuple[_Group, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = {key: np.array([shape.row for shape in shapes]) for key, shapes in self._shapes.items() if len(shapes)}
        names: list[tuple[str, str]] = []
        groups: list[_Group] = []
        every: tuple[tuple[Kind, str, str, Pairs], ...] = (
            ("capsule", "capsules", "capsules", self.capsule_pairs),
            ("box", "capsules", "boxes", self.box_pairs),
            ("box_box", "boxes", "boxes", self.box_box_pairs),
            ("plane", "points", "planes", self.plane_pairs),
        )
        for kind, first, second, pairs in every:
            names += [(self._shapes[first][i].name, self._shapes[second][j].name) for i, j in pairs]
            if pairs:
                used = (first,) if first == second else (first, second)
                index: NDArray[np.int64] = np.array(pairs, dtype=np.int64)
                groups.append(_Group(kind, tuple(tables[name] for name in used), index))
        object.__setattr__(self, "pairs", tuple(names))
        object.__setattr__(self, "_groups", tuple(groups))

    @property
    def _shapes(self) -> dict[str, tuple[PlacedCapsule | PlacedBox | PlacedPoint | HalfSpace, ...]]:
        return {"capsules": self.capsules, "boxes": self.boxes, "points": self.points, "planes": self.planes}

    def at(self, q: FloatArray, gradients: bool = False) -> Gaps:
        """The distances in poses q (T, n); without ``gradients``, those are (T, P, 0)."""
        q = kernel_input(q)
        chain = self.robot.chain.address
        parts = [Gaps(*distances(kind, chain, pairs, shapes, q, gradients)) for kind, shapes, pairs in self._groups]
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Gaps(np.empty((len(q), 0)), np.empty((len(q), 0, q.shape[1] if gradients else 0)))
        return Gaps(*(np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True)))

"""`Distances`: how far pairs of shapes are apart in any pose, with exact gradients."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray, kernel_input
from iparam.robot.collision.shapes import HalfSpace, PlacedBox, PlacedCapsule, PlacedPoint
from iparam.robot.kernels import distance as kernels
from iparam.robot.model import Robot

Pairs = tuple[tuple[int, int], ...]


class Gaps(NamedTuple):
    """Distances (T, P) [m], negative where shapes reach into each other, and gradients (T, P, n) by the joints."""

    values: FloatArray
    gradients: FloatArray


class _Group(NamedTuple):
    kernel: str  # by its name: a compiled function that is sent to another process is compiled anew there
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
        for kernel, first, second, pairs in (
            ("pair_distances", "capsules", "capsules", self.capsule_pairs),
            ("box_distances", "capsules", "boxes", self.box_pairs),
            ("box_box_distances", "boxes", "boxes", self.box_box_pairs),
            ("plane_distances", "points", "planes", self.plane_pairs),
        ):
            names += [(self._shapes[first][i].name, self._shapes[second][j].name) for i, j in pairs]
            if pairs:
                kinds = (first,) if first == second else (first, second)
                index: NDArray[np.int64] = np.array(pairs, dtype=np.int64)
                groups.append(_Group(kernel, tuple(tables[kind] for kind in kinds), index))
        object.__setattr__(self, "pairs", tuple(names))
        object.__setattr__(self, "_groups", tuple(groups))

    @property
    def _shapes(self) -> dict[str, tuple[PlacedCapsule | PlacedBox | PlacedPoint | HalfSpace, ...]]:
        return {"capsules": self.capsules, "boxes": self.boxes, "points": self.points, "planes": self.planes}

    def at(self, q: FloatArray, gradients: bool = False) -> Gaps:
        """The distances in poses q (T, n); without ``gradients``, those are (T, P, 0)."""
        q = kernel_input(q)
        columns = self.robot.num_joints if gradients else 0
        chain, parts = self.robot.chain, []
        for kernel, shapes, pairs in self._groups:
            part = Gaps(np.empty((len(q), len(pairs))), np.empty((len(q), len(pairs), columns)))
            getattr(kernels, kernel)(chain.origins, chain.prismatic, *shapes, pairs, q, *part)
            parts.append(part)
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Gaps(np.empty((len(q), 0)), np.empty((len(q), 0, columns)))
        return Gaps(*(np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True)))

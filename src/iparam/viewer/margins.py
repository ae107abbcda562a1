"""`Margins`: which two things come nearest to each other along a motion, how near, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from iparam.arrays import FloatArray
from iparam.robot.collision.distances import Distances
from iparam.robot.collision.scene import ALMOST_ALL, CollisionScene, sampled_poses
from iparam.robot.collision.shapes import HalfSpace, PlacedBox, PlacedCapsule, PlacedPoint
from iparam.robot.kinematics import frame_poses
from iparam.robot.model import Robot

Shape = PlacedCapsule | PlacedBox | PlacedPoint

BUILT_NEAR = 0.06
"""Distance, in reaches of the arm, that two shapes keep below in almost all poses to count as built near each other."""

HARDLY_CHANGES = 0.02
"""By so much of the arm's reach at most the distance of two shapes differs between any two poses if no motion is to be
told from it."""

_FAR = 1e3  # m: beyond all distances of a cell


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest pair in one pose.

    Attributes:
        bodies: what the two are called.
        distance: between them, negative if they reach into each other; 0 counts as apart for two that are built to
            overlap by so much [m].
        points: (2, 3) on the surfaces of the two, in the base frame [m].
    """

    bodies: tuple[str, str]
    distance: float
    points: FloatArray


@dataclass(frozen=True, eq=False)
class Margins:
    """The nearest pair along a motion.

    Attributes:
        time: (T,) [s].
        distance: (T,) of the nearest pair at each [m].
        column: (T,) which of the scene's pairs that is.
        clearance: that a plan has to keep [m]; 0 if there is none.
        scene: arm, payload and cell.
    """

    time: FloatArray
    distance: FloatArray
    column: NDArray[np.int64]
    clearance: float
    scene: CollisionScene

    @property
    def least(self) -> int:
        """Index of the time at which anything comes nearest to anything."""
        return int(np.argmin(self.distance))


def motion_margins(scene: CollisionScene, time: FloatArray, q: FloatArray, clearance: float = 0.0) -> Margins | None:
    """The margins along the poses q (T, n) at times (T,) [s]; None if nothing can hit anything."""
    if not any(group.pairs for group in scene.distances):
        return None
    gaps, ranked = _gaps(scene, q)
    column = np.argmin(ranked, axis=1)
    return Margins(time, gaps[np.arange(len(q)), column], column, clearance, scene)


def _gaps(scene: CollisionScene, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(T, P) the distances of all pairs, and what they are ranked by.

    Shapes that are built near each other, as two links of a wrist, or at the same distance in every pose, as a shoulder
    and the ground, would always be the nearest and tell nothing: they are looked at only where they touch, or where
    there is nothing else.
    """
    gaps = _distances(scene, q)
    return gaps, np.where(_says_nothing(scene) & (gaps >= 0.0), gaps + _FAR, gaps)


def _distances(scene: CollisionScene, q: FloatArray) -> FloatArray:
    return np.concatenate([group.at(q).values for group in scene.distances], axis=1) + np.concatenate(scene.allowance)


@lru_cache(maxsize=8)
def _says_nothing(scene: CollisionScene) -> NDArray[np.bool_]:
    """(P,) whether two shapes are near each other in almost all poses of the arm, or always as far from each other: see
    `BUILT_NEAR` and `HARDLY_CHANGES`.
    """
    gaps, reach = _distances(scene, sampled_poses(scene.robot)), scene.robot.reach
    near = np.quantile(gaps, ALMOST_ALL, axis=0) < BUILT_NEAR * reach
    return np.asarray(near | (np.ptp(gaps, axis=0) < HARDLY_CHANGES * reach))


def nearest_pair(scene: CollisionScene, q: FloatArray) -> Nearest | None:
    """The nearest pair in a pose q (n,), with the points that are nearest to each other."""
    if not any(group.pairs for group in scene.distances):
        return None
    gaps, ranked = (values[0] for values in _gaps(scene, q[None]))
    column = int(np.argmin(ranked))
    start = 0
    for group in scene.distances:
        if column < start + len(group.pairs):
            points = _nearest_points(group, column - start, q)
            return Nearest(group.pairs[column - start], float(gaps[column]), points)
        start += len(group.pairs)
    return None


def _nearest_points(group: Distances, column: int, q: FloatArray) -> FloatArray:
    """(2, 3) of a pair of shapes."""
    lists: tuple[tuple[tuple[tuple[int, int], ...], tuple[Shape, ...], tuple[Shape | HalfSpace, ...]], ...] = (
        (group.capsule_pairs, group.capsules, group.capsules),
        (group.box_pairs, group.capsules, group.boxes),
        (group.box_box_pairs, group.boxes, group.boxes),
        (group.plane_pairs, group.points, group.planes),
    )
    for pairs, firsts, seconds in lists:
        if column >= len(pairs):
            column -= len(pairs)
            continue
        first, second = firsts[pairs[column][0]], seconds[pairs[column][1]]
        corners, radius = _placed(group.robot, first, q)
        if isinstance(second, HalfSpace):
            deepest = corners[int(np.argmin(corners @ second.normal))] - radius * second.normal
            return np.stack([deepest, deepest - (deepest @ second.normal - second.offset) * second.normal])
        others, reach = _placed(group.robot, second, q)
        one, other = closest_points(corners, others)
        way = other - one
        length = float(np.linalg.norm(way))
        direction = way / length if length > 0.0 else np.zeros(3)
        return np.stack([one + radius * direction, other - reach * direction])
    raise IndexError(column)


def closest_points(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The points of the convex hulls of corners (V, 3) and (W, 3) that are nearest to each other; exact.

    The differences of their corners span a hull whose point p nearest to 0 is wanted. With weights x >= 0 of any sum s,
    |D x|^2 + (s - 1)^2 is least at s^2 |p|^2 + (s - 1)^2, so that x / s are the weights of p, whatever s is.
    """
    differences = (one[:, None] - other[None]).reshape(-1, 3)
    scale = max(float(np.abs(differences).max()), 1e-12)
    rows = np.vstack([differences.T / scale, np.ones(len(differences))])
    weights, _ = nnls(rows, np.array([0.0, 0.0, 0.0, 1.0]))
    weights = (weights / weights.sum()).reshape(len(one), len(other))
    return weights.sum(axis=1) @ one, weights.sum(axis=0) @ other


def _placed(robot: Robot, shape: Shape, q: FloatArray) -> tuple[FloatArray, float]:
    """Corners (V, 3) of a shape's core in the base frame, and its radius around them."""
    if isinstance(shape, PlacedBox):
        corners, radius = shape.corners, 0.0
    elif isinstance(shape, PlacedPoint):
        corners, radius = shape.position[None], shape.radius
    else:
        corners, radius = np.stack([shape.start, shape.end]), shape.radius
    pose = body_pose(robot, shape.body, q)
    return corners @ pose[:3, :3].T + pose[:3, 3], radius


def body_pose(robot: Robot, body: int, q: FloatArray) -> FloatArray:
    """(4, 4) of a body's frame of `Chain` in the base."""
    if body == 0:
        return np.eye(4)
    index = int(np.flatnonzero(robot.chain.frame_bodies == body)[0])
    packed = robot.chain.frame_offsets[index]
    offset = np.eye(4)
    offset[:3, :3], offset[:3, 3] = packed[:9].reshape(3, 3), packed[9:]
    pose = frame_poses(robot, q)[robot.frames[index]]
    return pose @ np.linalg.inv(offset)

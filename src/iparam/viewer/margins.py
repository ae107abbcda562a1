"""`Margins`: which two things come nearest to each other along a motion, and how near."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.robot.collision.scene import ALMOST_ALL, CollisionScene, sampled_poses

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
    """

    bodies: tuple[str, str]
    distance: float


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
    """The nearest pair in a pose q (n,)."""
    if not any(group.pairs for group in scene.distances):
        return None
    gaps, ranked = (values[0] for values in _gaps(scene, q[None]))
    column = int(np.argmin(ranked))
    pairs = [pair for group in scene.distances for pair in group.pairs]
    return Nearest(pairs[column], float(gaps[column]))

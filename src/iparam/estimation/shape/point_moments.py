"""Points with volumes that have the moments of a body: moved until they do, or fewer in place of many."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray

MOST_THINNED = 20_000
"""Points of a part from which on those near each other are taken together: beyond that, only time is added."""

CELLS_ALONG = 24
"""Pieces of each side of a part's box in which points are taken together."""


def with_moments(points: FloatArray, volumes: FloatArray, center: FloatArray, spread: FloatArray) -> FloatArray:
    """(n, 3) the points (n, 3) with volumes (n,) under the affine map, next to the identity, that gives them moments.

    Args:
        points, volumes: about those of the body.
        center: (3,) its centre of volume.
        spread: (3, 3) the covariance of its volume about that.
    """
    weight = volumes / volumes.sum()
    middle = weight @ points
    own = ((points - middle) * weight[:, None]).T @ (points - middle)
    floor = 1e-12 * np.eye(3)
    change = np.linalg.cholesky(spread + np.trace(spread) * floor) @ np.linalg.inv(
        np.linalg.cholesky(own + np.trace(own) * floor)
    )
    return np.asarray(center + (points - middle) @ change.T)


def thinned(points: FloatArray, volumes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points (k, 3) and volumes (k,) of the same moments as many points (n, 3) with volumes (n,); these if few."""
    if len(points) <= MOST_THINNED:
        return points, volumes
    low, extent = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-300)
    place = np.minimum(((points - low) / extent * CELLS_ALONG).astype(np.int64), CELLS_ALONG - 1)
    code = (place[:, 0] * CELLS_ALONG + place[:, 1]) * CELLS_ALONG + place[:, 2]
    _, cell = np.unique(code, return_inverse=True)
    total = np.asarray(np.bincount(cell, volumes), dtype=np.float64)
    sums = np.stack([np.bincount(cell, volumes * points[:, axis]) for axis in range(3)], axis=1)
    center = volumes @ points / volumes.sum()
    spread = ((points - center) * (volumes / volumes.sum())[:, None]).T @ (points - center)
    return with_moments(sums / total[:, None], total, center, spread), total

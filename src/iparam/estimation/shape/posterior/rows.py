"""`DataRows`: what data say of phi."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray

MOST_PRECISE = 1e4
"""Rows are believed up to that many standard deviations in the load's own size: no sensor is better."""


@dataclass(frozen=True, eq=False)
class DataRows:
    """What data say of phi: rows @ phi = values, with independent errors of standard deviation 1.

    Attributes:
        rows: (r, 10), r at most 10.
        values: (r,).
    """

    rows: FloatArray
    values: FloatArray

    @property
    def information(self) -> FloatArray:
        """(10, 10) inverse covariance of phi by the data alone."""
        return np.asarray(self.rows.T @ self.rows)


def bounded(rows: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same data as at most ten orthogonal rows, none more precise than can be used."""
    left, values, right = np.linalg.svd(rows, full_matrices=False)
    kept = values > 1e-9 * max(float(values[0]), 1e-300)
    used = np.minimum(values, MOST_PRECISE)
    shrunk = (left.T @ target) * used / np.maximum(values, 1e-300)
    return (used[:, None] * right)[kept], shrunk[kept]

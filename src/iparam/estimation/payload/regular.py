"""`solve_regular`: linear equations of which some directions may not be determined."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray

REGULAR = 1e-10
"""Least eigenvalue of a Gram matrix with columns of unit length that counts as determined."""


def solve_regular(gram: FloatArray, right: FloatArray) -> FloatArray:
    """The shortest solution in units of its columns, where some of it is not determined; of each column of right."""
    scale = np.sqrt(np.maximum(np.diag(gram), 0.0))
    scale = np.where(scale > 0.0, scale, 1.0)
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    inverse = np.where(values > REGULAR * values[-1], 1.0 / np.maximum(values, 1e-300), 0.0)
    inside = (vectors * inverse) @ vectors.T / np.outer(scale, scale)
    return np.asarray(inside @ right)

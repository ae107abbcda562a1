"""Recursive filters of second order at most: to load ``scipy.signal`` takes as long as the search for causes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iparam.arrays import FloatArray
from iparam.native import recursions


def recursive_filter(ahead: Sequence[float], back: Sequence[float], values: FloatArray, step: float) -> FloatArray:
    """(N, ...) values behind the filter ahead(s) / back(s), by Tustin's rule; all before the first were zero.

    Args:
        ahead: factors of 1, of s and 1, or of s^2, s and 1; none of a higher power than those of ``back``.
        back: the same.
        values: (N, ...) what is filtered, along its first axis.
        step: between two of them [s].
    """
    rate = 2.0 / step  # s stands for rate (z - 1) / (z + 1)
    factors = np.zeros((2, 3))
    for row, given in zip(factors, (ahead, back), strict=True):
        square, linear, constant = np.pad(np.asarray(given, dtype=np.float64), (3 - len(given), 0)).tolist()
        if len(back) == 3:
            row[:] = (
                square * rate**2 + linear * rate + constant,
                2.0 * (constant - square * rate**2),
                square * rate**2 - linear * rate + constant,
            )
        else:
            row[:2] = constant + linear * rate, constant - linear * rate
    flat = np.array(values, dtype=np.float64).reshape(len(values), -1)
    return recursions.recursive_filter(factors / factors[1, 0], flat).reshape(values.shape)

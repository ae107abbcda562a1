"""`NoiseWatch`: how strong the noise of a wrench is, beside what it was said to be."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray

MEMORY = 200
"""Samples over which it is averaged."""

MOST = 9.0
"""Times its mean that a square counts at most: a load that is grasped, or a spike, is no noise."""

ABOVE = 2.0
"""Variance, in that stated, up to which the stated one is right."""


class NoiseWatch:
    """Follows the second differences of the wrench: those of a smooth signal are next to none.

    Args:
        deviation: (6,) standard deviations of the noise as stated [N, N m].
    """

    def __init__(self, deviation: FloatArray) -> None:
        self._stated, self._unit = deviation, 1.0 / (np.sqrt(6.0) * deviation)
        self._before: list[FloatArray] = []
        self._variance = np.ones(6)  # in units of the stated one

    def add(self, wrench: FloatArray) -> float:
        """Take in a wrench (6,); the largest variance of a channel in the stated one, 1 where that is right or more."""
        before = self._before
        before.append(wrench)
        if len(before) < 3:
            return 1.0
        difference = (before[0] - 2.0 * before[1] + wrench) * self._unit
        before.pop(0)
        square = np.minimum(difference * difference, MOST * np.maximum(self._variance, 1.0))
        self._variance += (square - self._variance) / MEMORY
        largest = float(self._variance.max())
        return largest if largest > ABOVE else 1.0

    @property
    def deviation(self) -> FloatArray:
        """(6,) standard deviations of the noise [N, N m]: as stated, or as seen in channels where that is more."""
        return np.asarray(self._stated * np.sqrt(np.where(self._variance > ABOVE, self._variance, 1.0)))

"""`ChangeDetector`: notices from the innovations that the load is no longer the one that was estimated."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation import kernels

FAST = 1.0 / 15.0
SLOW = 1.0 / 500.0
THRESHOLD = 3.0
"""Ratio of recent to usual squared innovations that means a change."""

WARM_UP = 50
"""Innovations before which nothing is decided."""

KNOWN_WARM_UP = 15
"""The same where it is known how large they are as a rule."""

BLOCK = 25
"""Samples whose scores are added up to see errors that last."""


class ChangeDetector:
    """Watches the whitened innovations e = W (y - prediction), which have expected square 1 if nothing changed.

    Args:
        num_unknowns: p.
        usual: mean square of the innovations before the load last changed; None if it is not known. A load that is
            lifted slowly must not be taken for noise.
    """

    def __init__(self, num_unknowns: int, usual: float | None = None) -> None:
        self._fast, self._slow, self._count = 1.0, 1.0 if usual is None else usual, 0
        self._known = usual is not None
        self._score = np.zeros(num_unknowns)
        self._gram = np.zeros((num_unknowns, num_unknowns))
        self._squares = np.zeros((num_unknowns, num_unknowns))
        self._information = np.zeros((num_unknowns, num_unknowns))
        self._nothing = np.zeros((num_unknowns, num_unknowns))
        self._rows, self._weighted = np.zeros((6, num_unknowns)), np.zeros((6, num_unknowns + 1))
        self.inflation = 1.0

    @property
    def usual(self) -> float | None:
        """Mean square of the innovations so far; None before they tell."""
        return self._slow if self._known or self._count > 2 * WARM_UP else None

    def changed(
        self, whiten: FloatArray, A: FloatArray, y: FloatArray, parameters: FloatArray, covariance: FloatArray | None
    ) -> bool:
        """Take in the innovation of one sample; whether the load has changed.

        Args:
            whiten: (6, 6) lower triangular root of the inverse covariance of a wrench sample.
            A: (6, 10) its regressor.
            y: (6,) its wrench.
            parameters: (p,) the estimate before it.
            covariance: (p, p) of that estimate, or None if unknown.
        """
        known = self._nothing if covariance is None else covariance
        square = kernels.weigh_innovation(whiten, A, y, parameters, known, self._rows, self._weighted)
        self._count += 1
        self._fast += FAST * (square - self._fast)
        if self._count > (KNOWN_WARM_UP if self._known else WARM_UP) and self._fast > THRESHOLD * max(self._slow, 1.0):
            return True
        self._slow += (SLOW if self._known else max(SLOW, 1.0 / (self._count + 1.0))) * (square - self._slow)
        self._accumulate()
        return False

    def _accumulate(self) -> None:
        """Compare the scatter of block sums of scores with that of independent samples."""
        kernels.add_scores(self._rows, self._weighted, self._score, self._gram)
        if self._count % BLOCK:
            return
        if self._count > 2 * WARM_UP:
            self._squares += np.outer(self._score, self._score)
            self._information += self._gram
            scale = np.sqrt(np.diag(self._information))
            ratio = np.diag(self._squares) / np.maximum(scale**2, 1e-300)
            self.inflation = max(1.0, float(ratio.mean()))
        self._score[:] = 0.0
        self._gram[:] = 0.0

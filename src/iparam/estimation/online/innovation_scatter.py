"""`InnovationScatter`: by how much errors that last make an estimate less certain than independent ones would."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.native.recursions import add_innovation

WARM_UP = 100
"""Innovations before which nothing is decided."""

BLOCK = 25
"""Samples whose scores are added up to see errors that last."""


class InnovationScatter:
    """Watches the whitened innovations e = W (y - prediction), which have expected square 1 and are independent.

    Args:
        num_unknowns: p.

    Attributes:
        inflation: of the variances, by correlation in time; 1 for none.
    """

    def __init__(self, num_unknowns: int) -> None:
        self._count = 0
        self._score, self._expected, self._squares, self._information = np.zeros((4, num_unknowns))
        self.inflation = 1.0

    def add(
        self, whiten: FloatArray, A: FloatArray, y: FloatArray, parameters: FloatArray, covariance: FloatArray
    ) -> None:
        """Take in the innovation of one sample, and compare the scatter of block sums with that of independent ones.

        Args:
            whiten: (6, 6) lower triangular root of the inverse covariance of a wrench sample.
            A: (6, 10) its regressor.
            y: (6,) its wrench.
            parameters: (p,) the estimate before it.
            covariance: (p, p) of that estimate.
        """
        add_innovation(whiten, A, y, parameters, covariance, self._score, self._expected)
        self._count += 1
        if self._count % BLOCK:
            return
        if self._count > WARM_UP:
            self._squares += self._score**2
            self._information += self._expected
            ratio = self._squares / np.maximum(self._information, 1e-300)
            self.inflation = max(1.0, float(ratio.mean()))
        self._score[:] = 0.0
        self._expected[:] = 0.0

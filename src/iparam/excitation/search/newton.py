"""The optimisation within a start: trust-region Newton steps along a path of ever sharper smoothings.

Every iterate keeps every constraint, so the method can be stopped at any time and still has a usable motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from iparam.arrays import FloatArray
from iparam.excitation.search.barrier import BarrierFunction, Expansion, Smoothing

ACCEPT, GOOD, POOR = 0.05, 0.7, 0.25
"""Ratios of obtained to predicted decrease above which a step is taken, and the trust region grows or shrinks."""

MOST_STEPS = 40
"""At one smoothing."""


def minimize_along_path(
    function: BarrierFunction,
    x: FloatArray,
    path: Sequence[Smoothing],
    stop: Callable[[FloatArray], bool],
) -> FloatArray:
    """Follow the minimum of ``function`` from smooth to sharp.

    Args:
        function: what to minimise.
        x: (v,) strictly feasible start.
        path: smoothings, from coarse to fine.
        stop: called with every new iterate; True ends the search there.

    Returns:
        (v,) the last iterate, strictly feasible on the function's grids.
    """
    for smoothing in path:
        radius = 1.0
        value = function.value(x, smoothing)
        for _ in range(MOST_STEPS):
            model = _ScaledModel(function.expand(x, smoothing))
            gain, ratio, size = 0.0, 0.0, radius
            for _ in range(25):
                step, predicted, size = model.step(radius)
                candidate = x + step
                new = function.value(candidate, smoothing)
                ratio = (value - new) / predicted if np.isfinite(new) and predicted > 0 else -1.0
                if ratio > ACCEPT:
                    gain = value - new
                    break
                radius = 0.3 * min(radius, size)
            if gain <= 0.0:
                break
            x, value = candidate, new
            if stop(x):
                return x
            if ratio > GOOD:
                radius = max(radius, 2.0 * size)
            elif ratio < POOR:
                radius = 0.5 * size
            if gain < smoothing.tolerance:
                break
    return x


class _ScaledModel:
    """A quadratic model in the metric of the barrier, in which a unit step stays about feasible (Dikin's ellipsoid)."""

    def __init__(self, expansion: Expansion) -> None:
        size = len(expansion.gradient)
        floor = 1e-3 * np.trace(expansion.metric) / size + 1e-12
        factor = np.linalg.cholesky(expansion.metric + floor * np.eye(size))
        self._inverse = np.linalg.inv(factor)
        scaled = self._inverse @ expansion.hessian @ self._inverse.T
        self._values, self._vectors = np.linalg.eigh(0.5 * (scaled + scaled.T))
        self._slope = self._vectors.T @ (self._inverse @ expansion.gradient)

    def step(self, radius: float) -> tuple[FloatArray, float, float]:
        """The best step of at most ``radius``, what the model says it gains, and its length in the metric."""
        lowest = max(0.0, -float(self._values[0]))
        least = lowest + 1e-10 * max(1.0, lowest)
        scaled = self._shifted(least)
        if np.linalg.norm(scaled) > radius:
            low, high = least, least + float(np.linalg.norm(self._slope)) / radius
            while high - low > 1e-3 * high:
                middle = float(np.sqrt(low * high)) if low > 0 and high > 4 * low else 0.5 * (low + high)
                if np.linalg.norm(self._shifted(middle)) > radius:
                    low = middle
                else:
                    high = middle
            scaled = self._shifted(high)
        predicted = -float(self._slope @ scaled + 0.5 * (self._values * scaled**2).sum())
        return self._inverse.T @ (self._vectors @ scaled), predicted, float(np.linalg.norm(scaled))

    def _shifted(self, shift: float) -> FloatArray:
        return np.asarray(-self._slope / (self._values + shift))

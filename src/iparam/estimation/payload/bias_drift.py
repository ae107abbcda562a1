"""`BiasDrift`: a sensor's bias that walks during the run, found in the data and taken out of the problem.

A bias that is estimated as a constant leaves its walk in the residuals, where it looks like gravity on a load that
turns slowly: the estimate is worse than need be, and the stated standard deviations are too small. How fast each
channel walks is found by restricted maximum likelihood (what the load takes of the data is accounted for).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.payload.problem import PayloadProblem
from iparam.native.recursions import whiten_walk
from iparam.remarks import Remark, remark

RATIOS = np.logspace(-5.0, 3.0, 9)
"""Variances that a walk gains in a second, in those of a block's noise, between which the best one is sought."""

ROUNDS = 2
PRECISION = 0.05
"""Of the logarithm of a ratio."""

ENOUGH = 1000
"""Samples are averaged in blocks as long as more than that many are left: a walk is slow."""

LONGEST_BLOCK = 0.02
"""Of a block, at most [s]: the arm must not get far in it."""

SLOW = 1.0
"""The most that a bias walks in a second, in standard deviations of a sample's noise."""

LEAST_SAMPLES = 100
"""Below that many a walk cannot be told from noise."""


@dataclass(frozen=True, eq=False)
class BiasDrift:
    """A random walk of the bias.

    Attributes:
        ratio: (6,) variance that each channel gains in a second over that of a sample's noise [1/s].
        rate: (6,) standard deviation that each channel gains in the first second [N, N m].
    """

    ratio: FloatArray
    rate: FloatArray

    @property
    def slow(self) -> bool:
        """Whether no channel walks faster in a second than biases do, see `SLOW`."""
        return bool((self.ratio <= SLOW**2).all())

    @property
    def remark(self) -> Remark:
        """What to tell the user."""
        force, torque = (float(np.sqrt(np.mean(self.rate[part] ** 2))) for part in (slice(3), slice(3, 6)))
        return remark("bias-drifts", force=force, torque=torque)


def find_drift(problem: PayloadProblem) -> BiasDrift | None:
    """How the bias drifts; None if a constant one explains the data as well, or if they are too few to tell."""
    if problem.num_samples < LEAST_SAMPLES:
        return None
    size = _block_size(problem.time)
    A, y, time = (_block_means(values, size) for values in (problem.A, problem.y, problem.time))
    search = _Search(A, y, np.diff(time))
    if not search.regular:
        return None
    for _ in range(ROUNDS):
        for channel in range(6):
            search.improve(channel)
    if not search.ratio.any():
        return None
    return BiasDrift(search.ratio / size, np.sqrt(search.ratio * search.variance))


def without_drift(problem: PayloadProblem, drift: BiasDrift) -> PayloadProblem:
    """The problem with white noise and no bias that has the same solution as one with a drifting bias."""
    steps = np.diff(problem.time)

    def whitened(matrices: FloatArray) -> FloatArray:
        out = np.empty_like(matrices)
        for channel in range(6):
            series = np.ascontiguousarray(matrices[:, channel])
            out[:, channel], _ = whiten_walk(series, steps, float(drift.ratio[channel]))
        return out

    return dataclasses.replace(
        problem,
        A=whitened(problem.A),
        y=whitened(problem.y[..., None])[..., 0],
        bias=False,
        instruments=None if problem.instruments is None else whitened(problem.instruments),
        remarks=(*problem.remarks, drift.remark),
    )


def _block_size(time: FloatArray) -> int:
    return max(1, min(time.size // ENOUGH, int(LONGEST_BLOCK / float(np.median(np.diff(time))))))


def _block_means(values: FloatArray, size: int) -> FloatArray:
    """Means over blocks of samples (N // size, ...); the last, incomplete one is left out."""
    count = len(values) // size
    return np.asarray(values[: count * size].reshape(count, size, *values.shape[1:]).mean(axis=1))


class _Search:
    """The restricted likelihood of all channels, of which one at a time is changed.

    Args:
        A: (B, 6, 10) regressors.
        y: (B, 6) wrenches.
        steps: (B - 1,) time between them [s].
    """

    def __init__(self, A: FloatArray, y: FloatArray, steps: FloatArray) -> None:
        self._steps = steps
        self._freedom = len(A) - 1
        self._rows = [np.column_stack([A[:, channel], y[:, channel]]) for channel in range(6)]
        self.ratio = np.zeros(6)
        self._grams = np.stack([self._gram(channel, 0.0)[0] for channel in range(6)])
        self.variance = np.maximum(self._grams[:, -1, -1] / self._freedom, 1e-300)
        self.regular = self._settle()

    def _settle(self) -> bool:
        """Find the variances with constant biases; False if the motion does not determine the load."""
        for _ in range(6):
            information, right, _ = self._sums()
            if not np.linalg.cond(information) < 1e14:
                return False
            ends = np.append(np.linalg.solve(information, right), -1.0)
            squares = np.einsum("i,cij,j->c", ends, self._grams, ends)
            if not (squares > 0.0).all():
                return False  # exact data do not drift
            self.variance = squares / self._freedom
        return True

    def improve(self, channel: int) -> None:
        """Set the ratio of a channel to the best one, the others being what they are."""
        others = [other for other in range(6) if other != channel]
        sums = self._sums(others)

        def deviance(logarithm: float) -> float:
            return self._deviance(channel, sums, float(np.exp(logarithm)))[0]

        still, variance = self._deviance(channel, sums, 0.0)
        best = _minimum(deviance, np.log(RATIOS))
        walking, other_variance = self._deviance(channel, sums, float(np.exp(best)))
        if walking < still:
            self.ratio[channel], self.variance[channel] = np.exp(best), other_variance
        else:
            self.ratio[channel], self.variance[channel] = 0.0, variance
        self._grams[channel] = self._gram(channel, float(self.ratio[channel]))[0]

    def _sums(self, channels: list[int] | None = None) -> tuple[FloatArray, FloatArray, float]:
        """Information (10, 10), its right side (10,) and the squares of y, of some channels together."""
        chosen = list(range(6)) if channels is None else channels
        total = np.einsum("c,cij->ij", 1.0 / self.variance[chosen], self._grams[chosen])
        return total[:-1, :-1], total[:-1, -1], float(total[-1, -1])

    def _gram(self, channel: int, ratio: float) -> tuple[FloatArray, float]:
        """(11, 11) of a channel's whitened [A, y], and the logarithms of what they were divided by, added up."""
        white, variances = whiten_walk(self._rows[channel], self._steps, ratio)
        return white.T @ white, float(np.log(variances).sum())

    def _deviance(
        self, channel: int, others: tuple[FloatArray, FloatArray, float], ratio: float
    ) -> tuple[float, float]:
        """-2 times the restricted log-likelihood with a ratio, up to a constant, and the best variance with it."""
        gram, logarithms = self._gram(channel, ratio)
        information, right, squares = others
        variance = float(self.variance[channel])
        for _ in range(4):  # the variance and the load, in turn
            inverse = np.linalg.inv(information + gram[:-1, :-1] / variance)
            ends = np.append(inverse @ (right + gram[:-1, -1] / variance), -1.0)
            share = float(np.sum(inverse * gram[:-1, :-1])) / variance  # of the load that this channel determines
            variance = max(float(ends @ gram @ ends), 1e-300) / (self._freedom - share)
        whole, side = information + gram[:-1, :-1] / variance, right + gram[:-1, -1] / variance
        fitted = squares + float(gram[-1, -1]) / variance - float(side @ np.linalg.solve(whole, side))
        return self._freedom * np.log(variance) + logarithms + float(np.linalg.slogdet(whole)[1]) + fitted, variance


def _minimum(function: Callable[[float], float], grid: FloatArray) -> float:
    """Where a function is least: around the best point of an even grid."""
    from scipy.optimize import minimize_scalar

    best = int(np.argmin([function(float(point)) for point in grid]))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    return float(minimize_scalar(function, bounds=bounds, method="bounded", options={"xatol": PRECISION}).x)

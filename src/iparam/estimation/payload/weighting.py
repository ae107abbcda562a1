"""How samples and channels count: the covariance of the residuals, the weights it means, and the triangular factor
of the weighted problem, all that linear estimators need to know of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.payload.problem import PayloadProblem

SHRINKAGE = 0.05
"""Share of the estimated correlations between channels that is not believed: keeps the covariance regular."""

NEGLIGIBLE = 0.01
"""Share of a channel's variance below which errors of the motion do not change the weights."""

_FLOOR = 1e-12
"""Least standard deviation of a channel, as a share of the largest value in it: exact data do not divide by zero."""


@dataclass(frozen=True, eq=False)
class NoiseWeights:
    """Covariances of the residuals and their inverse roots.

    Attributes:
        covariance: (6, 6) for all samples, or (M, 6, 6) at the samples kept by the problem's uncertainty.
        whiten: (6, 6) or (N, 6, 6) W with W' W the inverse covariance, lower triangular.
        sensor: (6, 6) the part of the covariance that is the wrench's own.
    """

    covariance: FloatArray
    whiten: FloatArray
    sensor: FloatArray

    @property
    def constant(self) -> bool:
        """Whether all samples weigh the same."""
        return self.whiten.ndim == 2

    @property
    def precision(self) -> FloatArray:
        """Inverse covariance, (6, 6) or (M, 6, 6)."""
        return np.asarray(np.linalg.inv(self.covariance))

    def rows(self, values: FloatArray) -> FloatArray:
        """Whitened values (N, 6, ...)."""
        return np.asarray(self.whiten @ values)

    def vectors(self, values: FloatArray) -> FloatArray:
        """Whitened vectors (N, 6)."""
        return np.asarray((self.whiten @ values[..., None])[..., 0])

    def weighted(self, values: FloatArray) -> FloatArray:
        """W' W times vectors (N, 6)."""
        inner = self.whiten @ values[..., None]
        return np.asarray((np.swapaxes(self.whiten, -1, -2) @ inner)[..., 0])


def constant_weights(covariance: FloatArray) -> NoiseWeights:
    """The same weights for all samples."""
    return NoiseWeights(covariance, np.linalg.inv(np.linalg.cholesky(covariance)), covariance)


def first_weights(problem: PayloadProblem) -> NoiseWeights:
    """Weights before anything is fitted: the covariance given, or the spread of the wrench itself."""
    if problem.wrench_covariance is not None:
        return constant_weights(problem.wrench_covariance)
    deviation = np.maximum(problem.y.std(axis=0), channel_floor(problem))
    return constant_weights(np.diag(deviation**2))


def residual_weights(problem: PayloadProblem, residual: FloatArray, phi: FloatArray) -> NoiseWeights:
    """Weights from residuals (N, 6) of a fit phi (10,), and from what is known of the regressor's errors."""
    freedom = max(problem.num_samples - problem.num_unknowns / 6.0, 1.0)
    total = residual.T @ residual / freedom
    total = (1.0 - SHRINKAGE) * total + SHRINKAGE * np.diag(np.diag(total))
    total += np.diag(channel_floor(problem) ** 2)
    base = total if problem.wrench_covariance is None else problem.wrench_covariance
    if problem.uncertainty is None:
        return constant_weights(base)
    motion = problem.uncertainty.wrench_covariance(phi)
    mean = problem.uncertainty.mean(motion)
    if (np.diag(mean) < NEGLIGIBLE * np.diag(total)).all():
        return constant_weights(base)
    if problem.wrench_covariance is None:  # what the motion explains is not the sensor's; keep at least a tenth
        base = _positive_part(total - mean, 0.1 * total)
    covariance = base + motion
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    return NoiseWeights(covariance, problem.uncertainty.at_all_samples(whiten), base)


def channel_floor(problem: PayloadProblem) -> FloatArray:
    """(6,) a standard deviation that is as good as none."""
    size = np.abs(problem.y).max(axis=0)
    return np.asarray(_FLOOR * np.maximum(size, max(float(size.max()), 1e-6)))


def _positive_part(matrix: FloatArray, least: FloatArray) -> FloatArray:
    """``matrix``, with directions in which it is below ``least`` (positive definite) raised to that."""
    root = np.linalg.cholesky(least)
    inverse = np.linalg.inv(root)
    values, vectors = np.linalg.eigh(inverse @ matrix @ inverse.T)
    return np.asarray(root @ (vectors * np.maximum(values, 1.0)) @ vectors.T @ root.T)


SAMPLES_A_BLOCK = 20_000

WELL_CONDITIONED = 1e-2
"""Least part of a column, relative, that the columns before it leave, for the faster factorisation."""


def triangular_factor(problem: PayloadProblem, weights: NoiseWeights, bias_first: bool = False) -> FloatArray:
    """R (p + 1, p + 1), upper triangular, with R' R the Gram matrix of the whitened [design, y].

    Args:
        problem: the data.
        weights: what they are whitened with.
        bias_first: put the bias before phi: the trailing block is then that of the data with the bias projected out.
    """
    size = problem.num_unknowns + 1
    factor = np.zeros((0, size))
    for start in range(0, problem.num_samples, SAMPLES_A_BLOCK):
        part = slice(start, min(start + SAMPLES_A_BLOCK, problem.num_samples))
        whiten = weights.whiten if weights.constant else weights.whiten[part]
        count = part.stop - part.start
        rows = np.empty((count, 6, size))
        first = 6 if bias_first and problem.bias else 0
        rows[:, :, first : first + 10] = whiten @ problem.A[part]
        if problem.bias:
            place = slice(0, 6) if bias_first else slice(10, 16)
            rows[:, :, place] = whiten
        rows[:, :, -1] = (whiten @ problem.y[part, :, None])[..., 0]
        factor = _factor(np.concatenate([factor, rows.reshape(-1, size)]) if len(factor) else rows.reshape(-1, size))
    padded = np.zeros((size, size))
    padded[: len(factor)] = factor
    return padded


def _factor(rows: FloatArray) -> FloatArray:
    """The triangular factor of rows: by Cholesky where that keeps ten digits, otherwise by reflections."""
    gram = rows.T @ rows
    scale = np.sqrt(np.diag(gram))
    if (scale > 0.0).all():
        try:
            root = np.linalg.cholesky(gram / np.outer(scale, scale))
        except np.linalg.LinAlgError:
            return np.asarray(np.linalg.qr(rows, mode="r"))
        if root.diagonal().min() > WELL_CONDITIONED:
            return np.asarray(root.T * scale)
    return np.asarray(np.linalg.qr(rows, mode="r"))


def solve_triangle(factor: FloatArray) -> FloatArray:
    """The least-squares solution (p,) of a triangular factor (p + 1, p + 1)."""
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor[:-1, :-1], factor[:-1, -1]))

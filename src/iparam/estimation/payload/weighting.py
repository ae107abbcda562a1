"""`NoiseWeights`: the covariance that the residuals of a problem have, sample by sample, and the weights it means."""

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

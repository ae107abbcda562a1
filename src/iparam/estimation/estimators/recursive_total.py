"""Recursive total least squares by an incremental SVD (Kubus et al. 2008, Brand 2002)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, as_float_array
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.estimators.incremental_svd import IncrementalSVD
from iparam.estimation.estimators.recursive import RecursiveState, prior_rows, product_rows
from iparam.estimation.estimators.total_least_squares import (
    Errors,
    error_gram,
    total_covariance,
    total_weights,
)
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import constant_weights
from iparam.native.recursions import solve_total_of_svd


class RecursiveTotalLeastSquaresState(RecursiveState):
    """The SVD of the whitened [bias, A, y] of all samples so far: at most 17 values and 17 x 17 vectors.

    Args:
        noise: (11, 11) Gram matrix of the errors in the whitened [A, y], up to a factor; None for errors of the same
            size in all entries.
        whiten: (6, 6) root of the inverse covariance of a sample; None to weigh all components alike, in SI units.
        bias: whether the sensor's bias is estimated; its columns are exact.
    """

    def __init__(self, noise: FloatArray | None = None, whiten: FloatArray | None = None, bias: bool = False) -> None:
        self._exact = 6 * bias
        self.svd = IncrementalSVD(self._exact + NUM_PARAMETERS + 1)
        self.samples = 0
        # Of the noise no copy: the caller may let it grow.
        self._noise = np.eye(NUM_PARAMETERS + 1) if noise is None else as_float_array(noise, "noise", (11, 11))
        self._whiten = np.eye(6) if whiten is None else as_float_array(whiten, "whiten", (6, 6))
        self._triangle = np.zeros((self.svd.num_columns,) * 2)
        self._solution = np.zeros(self._exact + NUM_PARAMETERS)
        self._order = np.roll(np.arange(len(self._solution)), -self._exact)  # phi first, then the bias
        self._ratio = -1.0
        self._prior_rows = 0

    def seed_bias(self, mean: FloatArray, covariance: FloatArray) -> None:
        """See `RecursiveState`. Its rows have errors in y like those of samples, which the noise is told."""
        rows = np.zeros((6, self.svd.num_columns))
        found = prior_rows(mean, covariance)
        rows[:, :6], rows[:, -1] = found[:, :6], found[:, -1]
        self.svd.append_unchecked(rows)
        self._noise[-1, -1] += 6.0
        self._prior_rows = 6

    def seed_samples(self, products: FloatArray, samples: int) -> None:
        """See `RecursiveState`."""
        rows = np.empty_like(products)
        order = np.append(self._order, len(self._order))
        rows[:, order] = product_rows(products)
        self.svd.append_unchecked(rows)
        self.samples += samples
        self.solve()

    @property
    def cross_products(self) -> FloatArray:
        """See `RecursiveState`."""
        order = np.append(self._order, len(self._order))
        triangle = self._triangle[:, order]
        return np.asarray(triangle.T @ triangle)

    def take(self, A_k: FloatArray, y_k: FloatArray) -> None:
        """See `RecursiveState`."""
        count, columns = y_k.size // 6, self.svd.num_columns
        rows = np.empty((count, 6, columns))
        rows[..., : self._exact] = self._whiten[:, : self._exact]
        rows[..., self._exact : -1] = self._whiten @ A_k
        rows[..., -1] = y_k @ self._whiten.T
        self.svd.append_unchecked(rows.reshape(-1, columns))
        self.samples += count

    def solve(self) -> None:
        """See `RecursiveState`."""
        svd = self.svd
        self._ratio = solve_total_of_svd(
            svd.values, svd.vectors, self._exact, self._noise, self._triangle, self._solution
        )

    @property
    def ratio(self) -> float:
        """The least ratio of squares at the last `solve`, see `native.recursions.solve_total`."""
        return self._ratio

    @property
    def solution(self) -> FloatArray | None:
        """See `RecursiveState`."""
        if self._ratio < 0.0:
            return None
        return np.concatenate([self._solution[self._exact :], self._solution[: self._exact]])

    @property
    def inverse_information(self) -> FloatArray:
        """See `RecursiveState`."""
        p, exact = len(self._solution), self._exact
        gram = self._triangle[:p, :p].T @ self._triangle[:p, :p]
        gram[exact:, exact:] -= self._ratio * self._noise[:-1, :-1]
        inverse = np.linalg.inv(gram)
        return np.asarray(inverse[self._order[:, None], self._order] if exact else inverse)

    @property
    def variance(self) -> float:
        """See `RecursiveState`."""
        phi = np.array([*self._solution[self._exact :].tolist(), -1.0])
        freedom = max(6 * self.samples + self._prior_rows - len(self._solution), 1)
        return max(self._ratio * float(phi @ self._noise @ phi) / freedom, 1e-300)


@dataclass(frozen=True)
class RecursiveTotalLeastSquares(Estimator):
    """Total least squares, sample by sample; after any number of samples it equals `TotalLeastSquares`.

    Attributes:
        errors: see `TotalLeastSquares`.
    """

    errors: Errors = "known"

    def start(
        self, noise: FloatArray | None = None, whiten: FloatArray | None = None, bias: bool = False
    ) -> RecursiveTotalLeastSquaresState:
        """A state without samples; arguments as in `RecursiveTotalLeastSquaresState`."""
        return RecursiveTotalLeastSquaresState(noise, whiten, bias)

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`: all samples one after the other."""
        weights = constant_weights(total_weights(problem).sensor)
        noise = error_gram(problem, weights, self.errors)
        state = self.start(noise, weights.whiten, problem.bias)
        for A_k, y_k in zip(problem.A, problem.y, strict=True):
            state.take(A_k, y_k)
        state.solve()
        parameters = state.parameters
        covariance, inflation = total_covariance(problem, weights, parameters, state.ratio * noise[:-1, :-1])
        return assemble_estimate("rtls", problem, parameters, covariance, inflation=inflation)

"""Recursive total least squares by an incremental SVD (Kubus et al. 2008, Brand 2002)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.estimation import kernels
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
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

REPAIR_EVERY = 1024
"""Updates after which rounding is swept out of the orthogonality of the vectors."""


@dataclass(eq=False)
class IncrementalSVD:
    """The state: feed it rows with `append`.

    Attributes:
        num_columns: p.
        values: (p,) singular values, descending.
        vectors: (p, p) right singular vectors, columns.
        num_rows: how many rows there were.
        work: (p, p) numbers that mean nothing between two calls.
    """

    num_columns: int
    values: FloatArray = field(init=False)
    vectors: FloatArray = field(init=False)
    num_rows: int = 0
    work: FloatArray = field(init=False, repr=False)
    _updates: int = 0

    def __post_init__(self) -> None:
        if self.num_columns < 1:
            raise InputError(f"num_columns must be at least 1, got {self.num_columns}")
        self.values = np.zeros(self.num_columns)
        self.vectors = np.eye(self.num_columns)
        self.work = np.zeros((self.num_columns, self.num_columns))

    def append(self, rows: ArrayLike) -> None:
        """Add rows (b, p), in any number."""
        block = np.array(as_float_array(rows, "rows", (self.num_columns,)).reshape(-1, self.num_columns))
        self.append_unchecked(block)

    def append_unchecked(self, rows: FloatArray) -> None:
        """`append` for a float64 array (b, p) that may be overwritten: no checks, no copies."""
        kernels.append_rows(self.values, self.vectors, rows, self.work)
        self.num_rows += len(rows)
        self._updates += 1
        if self._updates % REPAIR_EVERY == 0:
            kernels.orthonormalise(self.vectors)

    def triangle(self) -> FloatArray:
        """(p, p) the triangular factor of the matrix, columns in the order given."""
        out = np.empty((self.num_columns, self.num_columns))
        kernels.triangle_of_svd(self.values, self.vectors, self.work, out)
        return out


class RecursiveTotalLeastSquaresState(RecursiveState):
    """The SVD of the whitened [bias, A, y] of all samples so far: at most 17 values and 17 x 17 vectors.

    Args:
        noise: (11, 11) Gram matrix of the errors in the whitened [A, y], up to a factor.
        whiten: (6, 6) root of the inverse covariance of a sample.
        bias: whether the sensor's bias is estimated; its columns are exact.
    """

    def __init__(self, noise: FloatArray, whiten: FloatArray, bias: bool) -> None:
        self._exact = 6 * bias
        self.svd = IncrementalSVD(self._exact + NUM_PARAMETERS + 1)
        self.samples = 0
        self._noise, self._whiten = noise, np.ascontiguousarray(whiten)  # the caller may let the noise grow
        self._rows = np.zeros((6, self.svd.num_columns))
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
        self._solve()

    @property
    def cross_products(self) -> FloatArray:
        """See `RecursiveState`."""
        order = np.append(self._order, len(self._order))
        triangle = self._triangle[:, order]
        return np.asarray(triangle.T @ triangle)

    def update(self, A_k: FloatArray, y_k: FloatArray) -> None:
        """See `RecursiveState`."""
        self.take(A_k, y_k)
        self._solve()

    def take(self, A_k: FloatArray, y_k: FloatArray) -> None:
        """`update` without a new solution, where nobody looks at it before the next sample."""
        if A_k.ndim == 2:
            rows = self._rows
            kernels.whitened_rows(self._whiten, A_k, y_k, self._exact, rows)
            self.samples += 1
        else:
            block = np.empty((len(A_k), 6, self.svd.num_columns))
            block[:, :, : self._exact] = self._whiten[:, : self._exact]
            block[:, :, self._exact : -1] = self._whiten @ A_k
            block[:, :, -1] = y_k @ self._whiten.T
            rows = block.reshape(-1, self.svd.num_columns)
            self.samples += len(A_k)
        self.svd.append_unchecked(rows)

    def _solve(self) -> None:
        svd = self.svd
        self._ratio = kernels.solve_total(
            svd.values, svd.vectors, svd.work, self._exact, self._noise, self._triangle, self._solution
        )

    @property
    def ratio(self) -> float:
        """The least ratio of squares at the last `update`, see `kernels.solve_total`."""
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

    def start(self, noise: FloatArray, whiten: FloatArray, bias: bool) -> RecursiveTotalLeastSquaresState:
        """A state without samples; arguments as in `RecursiveTotalLeastSquaresState`."""
        return RecursiveTotalLeastSquaresState(noise, whiten, bias)

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`: all samples one after the other."""
        weights = constant_weights(total_weights(problem).sensor)
        noise = error_gram(problem, weights, self.errors)
        state = self.start(noise, weights.whiten, problem.bias)
        for A_k, y_k in zip(problem.A[:-1], problem.y[:-1], strict=True):
            state.take(A_k, y_k)
        state.update(problem.A[-1], problem.y[-1])
        parameters = state.parameters
        covariance, inflation = total_covariance(problem, weights, parameters, state.ratio * noise[:-1, :-1])
        return assemble_estimate("rtls", problem, parameters, covariance, inflation=inflation)

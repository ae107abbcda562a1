"""Recursive estimators: an immutable configuration and an explicit state that takes one sample after the other.

All of them keep a bounded summary of the past, so a sample costs the same whenever it comes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, kernel_input
from iparam.errors import InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import residuals, weighted_fit
from iparam.native.recursions import fold_rows, solve_triangle
from iparam.regressor.samples import wrench_samples
from iparam.remarks import Remark, remark


class RecursiveState(ABC):
    """What is known after the samples so far.

    Attributes:
        samples: how many there were.
    """

    samples: int

    def update(self, A_k: ArrayLike, y_k: ArrayLike) -> FloatArray:
        """Take in a sample and solve.

        Args:
            A_k: (6, 10) of one sample, or a block of samples, (b, 6, 10) or stacked (6 b, 10).
            y_k: (6,) [force, torque], or (b, 6) or stacked (6 b,) [N, N m].

        Returns:
            The estimate phi (10,) from all samples so far; NaN before they determine it.
        """
        matrices, wrenches = wrench_samples(A_k, y_k)
        if len(matrices) == 1:
            matrices, wrenches = matrices[0], wrenches[0]
        self.take(kernel_input(matrices), kernel_input(wrenches))
        self.solve()
        found = self.solution
        return np.full(NUM_PARAMETERS, np.nan) if found is None else found[:NUM_PARAMETERS]

    @abstractmethod
    def take(self, A_k: FloatArray, y_k: FloatArray) -> None:
        """`update` without checks and without a new solution: (6, 10) and (6,), or (b, 6, 10) and (b, 6)."""

    def solve(self) -> None:  # noqa: B027
        """Make `solution` that of all samples taken so far."""

    @property
    @abstractmethod
    def solution(self) -> FloatArray | None:
        """(p,) phi and bias; None before the samples determine them."""

    @property
    @abstractmethod
    def inverse_information(self) -> FloatArray:
        """(p, p) the covariance if the residuals are as large as expected."""

    @property
    @abstractmethod
    def variance(self) -> float:
        """Mean square of the whitened residuals: 1 if they are as large as expected."""

    @property
    @abstractmethod
    def cross_products(self) -> FloatArray:
        """(p + 1, p + 1) sums of products of the whitened [A, bias columns, y], a known bias among them."""

    @abstractmethod
    def seed_bias(self, mean: FloatArray, covariance: FloatArray) -> None:
        """Know the bias, (6,) and (6, 6), before the first sample; only for a state that estimates it."""

    @abstractmethod
    def seed_samples(self, products: FloatArray, samples: int) -> None:
        """Take in so many samples by their `cross_products` (p + 1, p + 1), before any other; after the bias."""

    @property
    def parameters(self) -> FloatArray:
        """`solution`, or IdentificationError before there is one."""
        found = self.solution
        if found is None:
            raise IdentificationError(f"{self.samples} samples do not yet determine the parameters")
        return found

    @property
    def covariance(self) -> FloatArray:
        """(p, p) of the solution if the samples' errors are independent, scaled by the residuals."""
        return self.inverse_information * self.variance


class RecursiveLeastSquaresState(RecursiveState):
    """All samples so far as one triangular factor: exact, and free of the drift of a recursion for a covariance.

    Args:
        whiten: (6, 6) root of the inverse covariance of a sample; None to weigh all components alike, in SI units.
        bias: whether the sensor's bias is estimated too, p = 16, or not, p = 10.
        forgetting: weight of the past at each sample, 1 for none forgotten.
    """

    def __init__(self, whiten: FloatArray | None = None, bias: bool = False, forgetting: float = 1.0) -> None:
        p = NUM_PARAMETERS + 6 * bias
        self.factor = np.zeros((p + 1, p + 1))
        self.samples = 0
        self._whiten = np.eye(6) if whiten is None else as_float_array(whiten, "whiten", (6, 6))
        self._forgetting = forgetting

    def take(self, A_k: FloatArray, y_k: FloatArray) -> None:
        """See `RecursiveState`."""
        count, columns = y_k.size // 6, len(self.factor)
        rows = np.empty((count, 6, columns))
        rows[..., :NUM_PARAMETERS] = self._whiten @ A_k
        rows[..., NUM_PARAMETERS:-1] = self._whiten[:, : columns - 1 - NUM_PARAMETERS]
        rows[..., -1] = y_k @ self._whiten.T
        if self._forgetting != 1.0:
            ages = np.arange(count, -1, -1)  # of what is known already, and of the samples
            self.factor *= self._forgetting ** (0.5 * ages[0])
            rows *= self._forgetting ** (0.5 * ages[1:, None, None])
        fold_rows(self.factor, rows.reshape(-1, columns))
        self.samples += count

    def seed_bias(self, mean: FloatArray, covariance: FloatArray) -> None:
        """See `RecursiveState`."""
        self.factor[NUM_PARAMETERS:-1, NUM_PARAMETERS:] = prior_rows(mean, covariance)

    def seed_samples(self, products: FloatArray, samples: int) -> None:
        """See `RecursiveState`."""
        self.factor = np.asarray(np.linalg.qr(np.vstack([self.factor, product_rows(products)]), mode="r"))
        self.samples += samples

    @property
    def cross_products(self) -> FloatArray:
        """See `RecursiveState`."""
        return np.asarray(self.factor.T @ self.factor)

    @property
    def solution(self) -> FloatArray | None:
        """See `RecursiveState`."""
        return solve_triangle(self.factor)

    @property
    def inverse_information(self) -> FloatArray:
        """See `RecursiveState`."""
        inverse = np.linalg.inv(self.factor[:-1, :-1])
        return np.asarray(inverse @ inverse.T)

    @property
    def variance(self) -> float:
        """See `RecursiveState`."""
        freedom = max(6 * self.samples - len(self.factor) + 1, 1)
        return max(float(self.factor[-1, -1]) ** 2 / freedom, 1e-300)


def prior_rows(mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """(k, k + 1) rows [R, R mean] of unit variance, R upper triangular, that say what a prior says of k unknowns."""
    unit = 1.0 / np.sqrt(np.diag(covariance))
    precision = np.linalg.inv(covariance * np.outer(unit, unit)) * np.outer(unit, unit)
    root = np.linalg.cholesky(0.5 * (precision + precision.T)).T
    return np.column_stack([root, root @ mean])


def product_rows(products: FloatArray) -> FloatArray:
    """(k, k) rows X with X' X = products (k, k), which may be singular."""
    unit = np.sqrt(np.maximum(np.diag(products), 1e-300))
    values, vectors = np.linalg.eigh(products / np.outer(unit, unit))
    kept = np.where(values > 1e-13 * values[-1], values, 0.0)  # the rest is rounding
    return np.ascontiguousarray((vectors * np.sqrt(kept)).T * unit)


def _check_forgetting(forgetting: float) -> None:
    if not 0.9 <= forgetting <= 1.0:
        raise InputError(argument="forgetting", value=forgetting, expected="between 0.9 and 1")


def _discount(weighted: FloatArray, forgetting: float) -> None:
    """Multiply rows (N, 6) of samples, the oldest first, by forgetting^age in place."""
    if forgetting < 1.0:
        weighted *= forgetting ** np.arange(len(weighted) - 1, -1, -1)[:, None]


@dataclass(frozen=True)
class RecursiveLeastSquares(Estimator):
    """Recursive weighted least squares.

    Attributes:
        forgetting: 1 gives every sample the same weight and the result of batch least squares; below 1 an old sample
            counts forgetting^age.
    """

    forgetting: float = 1.0

    def __post_init__(self) -> None:
        _check_forgetting(self.forgetting)

    def start(self, whiten: FloatArray | None = None, bias: bool = False) -> RecursiveLeastSquaresState:
        """A state without samples; arguments as in `RecursiveLeastSquaresState`."""
        return RecursiveLeastSquaresState(whiten, bias, self.forgetting)

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`: all samples one after the other."""
        first = weighted_fit(problem, correct=False)
        whiten = np.linalg.inv(np.linalg.cholesky(first.weights.sensor))
        state = self.start(whiten, problem.bias)
        state.take(problem.A, problem.y)
        parameters = state.parameters
        gram = state.factor[:-1, :-1].T @ state.factor[:-1, :-1]
        residual = residuals(problem, parameters)
        weighted = residual @ (whiten.T @ whiten)
        _discount(weighted, self.forgetting)
        scores = Scores(problem.design, weighted, np.zeros(problem.num_unknowns))
        covariance, inflation = estimate_covariance(gram, scores)
        return assemble_estimate("rls", problem, parameters, covariance, inflation=inflation)


class RecursiveInstrumentalState:
    """Sums of Z' W A and Z' W y.

    Args:
        precision: (6, 6) inverse covariance of a sample; None to weigh all components alike, in SI units.
        bias: whether the sensor's bias is estimated too; it is its own instrument.
        forgetting: weight of the past at each sample.
    """

    def __init__(self, precision: FloatArray | None = None, bias: bool = False, forgetting: float = 1.0) -> None:
        p = NUM_PARAMETERS + 6 * bias
        self.moments = np.zeros((p, p))
        self.right = np.zeros(p)
        self.samples = 0
        self._precision = np.eye(6) if precision is None else as_float_array(precision, "precision", (6, 6))
        self._forgetting = forgetting
        self._design, self._instruments = np.zeros((2, 6, p))
        self._design[:, NUM_PARAMETERS:] = self._instruments[:, NUM_PARAMETERS:] = np.eye(6)[:, : 6 * bias]

    def update(self, A_k: ArrayLike, y_k: ArrayLike, Z_k: ArrayLike) -> FloatArray:
        """Take in samples with their instruments Z_k, shaped as A_k, and solve; the rest as in `RecursiveState`."""
        matrices, wrenches = wrench_samples(A_k, y_k)
        instruments, _ = wrench_samples(Z_k, y_k)
        for sample in zip(matrices, wrenches, instruments, strict=True):
            self.take(*sample)
        try:
            return self.parameters[:NUM_PARAMETERS]
        except IdentificationError:
            return np.full(NUM_PARAMETERS, np.nan)

    def take(self, A_k: FloatArray, y_k: FloatArray, Z_k: FloatArray) -> None:
        """`update` of one sample, (6, 10), (6,) and (6, 10), without checks and without a solution."""
        self._design[:, :NUM_PARAMETERS] = A_k
        self._instruments[:, :NUM_PARAMETERS] = Z_k
        weighted = self._instruments.T @ self._precision
        if self._forgetting != 1.0:
            self.moments *= self._forgetting
            self.right *= self._forgetting
        self.moments += weighted @ self._design
        self.right += weighted @ y_k
        self.samples += 1

    @property
    def parameters(self) -> FloatArray:
        """(p,) the present solution; IdentificationError before the samples determine one."""
        scale = np.sqrt(np.abs(np.diag(self.moments)))
        scale[scale == 0.0] = 1.0
        scaled = self.moments / np.outer(scale, scale)
        if np.linalg.cond(scaled) > 1e12:
            raise IdentificationError(f"{self.samples} samples do not yet determine the parameters")
        return np.asarray(np.linalg.solve(scaled, self.right / scale) / scale)


@dataclass(frozen=True)
class RecursiveInstrumentalVariables(Estimator):
    """Recursive instrumental variables; after all samples it equals `InstrumentalVariables`.

    Attributes:
        forgetting: as in `RecursiveLeastSquares`.
    """

    needs_instruments: ClassVar[bool] = True

    forgetting: float = 1.0

    def __post_init__(self) -> None:
        _check_forgetting(self.forgetting)

    def start(self, precision: FloatArray | None = None, bias: bool = False) -> RecursiveInstrumentalState:
        """A state without samples; arguments as in `RecursiveInstrumentalState`."""
        return RecursiveInstrumentalState(precision, bias, self.forgetting)

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`: all samples one after the other."""
        first = weighted_fit(problem, correct=False)
        precision = np.asarray(np.linalg.inv(first.weights.sensor), float)
        instruments, matrices = problem.instrument_design, problem.instruments
        remarks: tuple[Remark, ...] = ()
        if instruments is None or matrices is None:
            instruments, matrices, remarks = problem.design, problem.A, (remark("no-instruments"),)
        state = self.start(precision, problem.bias)
        for A_k, y_k, Z_k in zip(problem.A, problem.y, matrices, strict=True):
            state.take(A_k, y_k, Z_k)
        parameters = state.parameters
        weighted = residuals(problem, parameters) @ precision
        _discount(weighted, self.forgetting)
        scores = Scores(instruments, weighted, np.zeros(problem.num_unknowns))
        covariance, inflation = estimate_covariance(state.moments, scores)
        return assemble_estimate("riv", problem, parameters, covariance, inflation=inflation, remarks=remarks)

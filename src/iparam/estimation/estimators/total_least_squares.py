"""Total least squares: errors in the regressor as well as in the wrench, where they are and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from iparam.arrays import FloatArray, kernel_input
from iparam.errors import UnknownNameError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import NoiseWeights, residuals, triangular_factor, weighted_fit
from iparam.native import recursions

Errors = Literal["known", "equal"]


@dataclass(frozen=True)
class TotalLeastSquares(Estimator):
    """Mixed and scaled total least squares on whitened rows.

    The columns of a bias are exact and stay so. How large the errors of the other entries are relative to those of the
    wrench, and how they go together, is taken from the motion: an acceleration that is off is off in all entries that
    hold it, and entries that hold none (the mass has no torque) are exact.

    Attributes:
        errors: "known" uses the covariance of the motion (equal ones if there is none); "equal" is the textbook's:
            errors of the same size in all entries of the whitened regressor as in the wrench.
    """

    errors: Errors = "known"

    def __post_init__(self) -> None:
        if self.errors not in ("known", "equal"):
            raise UnknownNameError("kind of errors", self.errors, ("known", "equal"))

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`."""
        weights = total_weights(problem)
        factor = triangular_factor(problem, weights, bias_first=True)
        noise = error_gram(problem, weights, self.errors)
        parameters, ratio = solve_total(factor, noise, 6 * problem.bias)
        covariance, inflation = total_covariance(problem, weights, parameters, ratio * noise[:-1, :-1])
        return assemble_estimate("tls", problem, parameters, covariance, inflation=inflation)


def total_weights(problem: PayloadProblem) -> NoiseWeights:
    """Weights of the wrench's own noise, after a look at the residuals of a weighted fit."""
    return weighted_fit(problem).weights


def error_gram(problem: PayloadProblem, weights: NoiseWeights, errors: Errors) -> FloatArray:
    """(11, 11) Gram matrix of the errors in the whitened [A, y], up to a common factor."""
    rows = 6.0 * problem.num_samples
    if errors == "equal" or problem.uncertainty is None:
        return rows * np.eye(NUM_PARAMETERS + 1)
    gram = np.zeros((NUM_PARAMETERS + 1,) * 2)
    gram[:-1, :-1] = problem.uncertainty.gram(weights.precision)
    gram[-1, -1] = wrench_error(problem, weights)
    return gram


def wrench_error(problem: PayloadProblem, weights: NoiseWeights) -> float:
    """Expected sum of squares of the wrench's own errors, whitened."""
    if weights.constant:
        return 6.0 * problem.num_samples
    shares = np.trace(np.linalg.solve(weights.covariance, weights.sensor[None]), axis1=1, axis2=2)
    return float(problem.num_samples * shares.mean())


def solve_total(factor: FloatArray, noise: FloatArray, exact: int) -> tuple[FloatArray, float]:
    """Solution (p,), phi first, and the least ratio of squares, of a factor with the ``exact`` bias columns first."""
    solution = np.empty(len(factor) - 1)
    ratio = recursions.solve_total(kernel_input(factor), exact, noise, solution)
    if ratio < 0.0:
        raise IdentificationError("total least squares has no solution here: the wrench does not depend on the motion")
    return np.roll(solution, -exact), ratio


def total_covariance(
    problem: PayloadProblem, weights: NoiseWeights, parameters: FloatArray, errors: FloatArray
) -> tuple[FloatArray, float]:
    """Covariance (p, p) of a total least-squares solution, and its inflation by correlation in time."""
    p = problem.num_unknowns
    shift = np.zeros((p, p))
    shift[:NUM_PARAMETERS, :NUM_PARAMETERS] = errors
    rows = weights.rows(problem.design).reshape(-1, p)
    residual = residuals(problem, parameters)
    scores = Scores(problem.design, weights.weighted(residual), shift @ parameters / problem.num_samples)
    return estimate_covariance(rows.T @ rows - shift, scores)

"""The weighted linear fit that several estimators share, with the correction for errors of the regressor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.identifiability import require_identifiable
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighting import (
    NoiseWeights,
    first_weights,
    residual_weights,
    solve_triangle,
    triangular_factor,
)
from iparam.regressor.identifiability import IdentifiabilityReport

ROUNDS = 2


@dataclass(frozen=True, eq=False)
class WeightedFit:
    """A linear fit.

    Attributes:
        parameters: (p,) phi and, where it is estimated, the bias.
        information: (p, p) B, the curvature of half the weighted squares, corrected for errors of the regressor.
        covariance: (p, p) of the parameters.
        residual: (N, 6) [N, N m].
        weights: of the last round.
        identifiability: what the motion determines.
        inflation: of the covariance, by correlation in time.
    """

    parameters: FloatArray
    information: FloatArray
    covariance: FloatArray
    residual: FloatArray
    weights: NoiseWeights
    identifiability: IdentifiabilityReport
    inflation: float

    @property
    def phi(self) -> FloatArray:
        """(10,) the load."""
        return self.parameters[:NUM_PARAMETERS]


def weighted_fit(problem: PayloadProblem, reweigh: bool = True, correct: bool = True) -> WeightedFit:
    """Fit phi and bias by weighted least squares.

    Args:
        problem: the data.
        reweigh: estimate the weights from the residuals; otherwise those of `first_weights` stay (and, without a
            given covariance, all samples and channels weigh by the wrench's own spread).
        correct: subtract the errors' expected part from the regressor's Gram matrix, which otherwise pulls the
            estimate towards zero.
    """
    weights = first_weights(problem)
    report = require_identifiable(problem, weights)
    parameters, information, shift = solve_weighted(problem, weights, correct=False)
    for _ in range(ROUNDS if reweigh else 0):
        residual = residuals(problem, parameters)
        weights = residual_weights(problem, residual, parameters[:NUM_PARAMETERS])
        parameters, information, shift = solve_weighted(problem, weights, correct)
    residual = residuals(problem, parameters)
    constant = shift @ parameters / problem.num_samples
    scores = Scores(problem.design, weights.weighted(residual), constant)
    covariance, inflation = estimate_covariance(information, scores)
    return WeightedFit(parameters, information, covariance, residual, weights, report, inflation)


def solve_weighted(
    problem: PayloadProblem, weights: NoiseWeights, correct: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Parameters (p,), information (p, p), and the part (p, p) of the Gram matrix that was taken for errors."""
    factor = triangular_factor(problem, weights)
    gram, p = factor[:-1, :-1].T @ factor[:-1, :-1], problem.num_unknowns
    shift = np.zeros((p, p))
    if not correct or problem.uncertainty is None:
        return solve_triangle(factor), gram, shift
    shift[:NUM_PARAMETERS, :NUM_PARAMETERS] = problem.uncertainty.gram(weights.precision)
    corrected = gram - shift
    if np.linalg.eigvalsh(corrected)[0] <= 0.0:
        require_identifiable(problem, weights)  # says what cannot be told
        return solve_triangle(factor), gram, np.zeros((p, p))
    solution = np.linalg.solve(corrected, factor[:-1, :-1].T @ factor[:-1, -1])
    return np.asarray(solution, float), corrected, shift


def residuals(problem: PayloadProblem, parameters: FloatArray) -> FloatArray:
    """(N, 6) what a solution leaves unexplained [N, N m]."""
    residual = problem.y - problem.A @ parameters[:NUM_PARAMETERS]
    return np.asarray(residual - parameters[NUM_PARAMETERS:] if problem.bias else residual)

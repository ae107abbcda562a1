"""Least squares, plain and weighted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.weighted_fit import (
    constant_weights,
    require_identifiable,
    residuals,
    solve_weighted,
    weighted_fit,
)


@dataclass(frozen=True)
class LeastSquares(Estimator):
    """Ordinary least squares: every newton counts as much as every newton metre, and the regressor as exact."""

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`."""
        weights = constant_weights(np.eye(6))
        require_identifiable(problem, weights)
        parameters, information, _ = solve_weighted(problem, weights, correct=False)
        scores = Scores(problem.design, residuals(problem, parameters), np.zeros(problem.num_unknowns))
        covariance, inflation = estimate_covariance(information, scores)
        return assemble_estimate("ls", problem, parameters, covariance, inflation=inflation)


@dataclass(frozen=True)
class WeightedLeastSquares(Estimator):
    """Generalised least squares: each sample weighs by the covariance of its residual.

    The covariance is that of the wrench, given or estimated from the residuals with all correlations between channels,
    plus what the errors of the motion make of it.

    Attributes:
        correct: for the pull towards zero that errors of the regressor exert (bias-compensated least squares).
    """

    correct: bool = True

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`."""
        found = weighted_fit(problem, correct=self.correct)
        return assemble_estimate("wls", problem, found.parameters, found.covariance, inflation=found.inflation)

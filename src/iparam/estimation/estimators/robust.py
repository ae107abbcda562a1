"""Robust least squares: samples that do not fit count less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.weighted_fit import (
    channel_floor,
    first_weights,
    require_identifiable,
    residuals,
    solve_weighted,
)
from iparam.remarks import Remark, remark
from iparam.rounding import percent

ROUNDS = 100
_NORMAL = 0.6744897501960817  # median of |x| of a standard normal x


@dataclass(frozen=True)
class HuberLeastSquares(Estimator):
    """Huber's estimator by iteratively reweighted least squares, each channel of each sample on its own.

    Attributes:
        threshold: residual in standard deviations from which its pull no longer grows; 1.345 keeps 95 % of the
            precision of least squares under normal noise.
    """

    threshold: float = 1.345

    def __post_init__(self) -> None:
        if not (np.isfinite(self.threshold) and self.threshold > 0):
            raise InputError(argument="threshold", value=self.threshold, expected="positive")

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`."""
        weights = first_weights(problem)
        require_identifiable(problem, weights)
        parameters, _, _ = solve_weighted(problem, weights, correct=False)
        design = problem.design
        for _ in range(ROUNDS):
            residual = residuals(problem, parameters)
            deviation = np.maximum(np.median(np.abs(residual), axis=0) / _NORMAL, channel_floor(problem))
            information, right = self._normal_equations(problem, design, residual / deviation, deviation)
            following = parameters + np.linalg.solve(information, right)
            change = np.abs(following - parameters).max() / max(np.abs(parameters).max(), 1e-300)
            parameters = following
            if change < 1e-12:
                break
        residual = residuals(problem, parameters)
        scaled = residual / deviation
        clipped = np.clip(scaled, -self.threshold, self.threshold) / deviation
        inside = (np.abs(scaled) <= self.threshold) / deviation**2
        bread = np.einsum("nci,nc,ncj->ij", design, inside, design, optimize=True)
        covariance, inflation = estimate_covariance(bread, Scores(design, clipped, np.zeros(problem.num_unknowns)))
        share = float(np.mean(np.abs(scaled) > 5.0))
        remarks: tuple[Remark, ...] = ()
        if share > 1e-3:
            remarks = (remark("wrench-outliers", share=percent(share)),)
        return assemble_estimate("robust", problem, parameters, covariance, inflation=inflation, remarks=remarks)

    def _normal_equations(
        self, problem: PayloadProblem, design: FloatArray, scaled: FloatArray, deviation: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        pull = np.minimum(1.0, self.threshold / np.maximum(np.abs(scaled), 1e-300)) / deviation**2
        rows = (design * np.sqrt(pull)[..., None]).reshape(-1, problem.num_unknowns)
        right = design.reshape(-1, problem.num_unknowns).T @ (pull * scaled * deviation).ravel()
        return rows.T @ rows, right

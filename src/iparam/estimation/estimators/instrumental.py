"""Instrumental variables: a second account of the motion whose errors are independent of the first one's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.weighted_fit import residuals, weighted_fit
from iparam.remarks import Remark, remark


@dataclass(frozen=True)
class InstrumentalVariables(Estimator):
    """phi = (Z' W A)^-1 Z' W y with instruments Z from the set points or a second smoother.

    Errors of A that Z does not share do not bias it. Without instruments in the problem A is its own, which is weighted
    least squares.
    """

    needs_instruments: ClassVar[bool] = True

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`."""
        first = weighted_fit(problem, correct=False)
        instruments = problem.instrument_design
        remarks: tuple[Remark, ...] = ()
        if instruments is None:
            instruments, remarks = problem.design, (remark("no-instruments"),)
        p, weights = problem.num_unknowns, first.weights
        left, right = weights.rows(instruments).reshape(-1, p), weights.rows(problem.design).reshape(-1, p)
        moments = left.T @ right
        if np.linalg.cond(moments / np.outer(*[np.linalg.norm(part, axis=0) for part in (left, right)])) > 1e10:
            raise IdentificationError("the instruments tell nothing about the motion: they do not move with it")
        solution = np.linalg.solve(moments, left.T @ weights.vectors(problem.y).ravel())
        parameters = np.asarray(solution, float)
        scores = Scores(instruments, weights.weighted(residuals(problem, parameters)), np.zeros(p))
        covariance, inflation = estimate_covariance(moments, scores)
        return assemble_estimate("riv", problem, parameters, covariance, inflation=inflation, remarks=remarks)

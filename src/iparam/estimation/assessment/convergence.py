"""`recursive_convergence`: how the estimates of the recursive estimators settle while samples come in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.assessment.derived_values import NORMAL_95, derived_of
from iparam.estimation.estimators.recursive import RecursiveLeastSquares, RecursiveLeastSquaresState
from iparam.estimation.estimators.recursive_total import RecursiveTotalLeastSquares, RecursiveTotalLeastSquaresState
from iparam.estimation.estimators.total_least_squares import error_gram, total_weights
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import constant_weights
from iparam.spatial.derived import derived_covariance
from iparam.spatial.parameters import InertialParameters

INSTANTS = 80


@dataclass(frozen=True, eq=False)
class Convergence:
    """The estimate of one method at K instants.

    Attributes:
        method: its name.
        time: (K,) [s].
        values: (K, 10) mass [kg], centre of mass [m] and inertia about it [kg m^2].
        half_widths: (K, 10) of their 95 % intervals, if the errors of the samples are independent.
    """

    method: str
    time: FloatArray
    values: FloatArray
    half_widths: FloatArray


def recursive_convergence(problem: PayloadProblem) -> tuple[Convergence, ...]:
    """The recursive estimators over the samples of a problem, from where these determine a load."""
    weights = constant_weights(total_weights(problem).sensor)
    noise = error_gram(problem, weights, "known")
    states: dict[str, RecursiveLeastSquaresState | RecursiveTotalLeastSquaresState] = {
        "rls": RecursiveLeastSquares().start(weights.whiten, problem.bias),
        "rtls": RecursiveTotalLeastSquares().start(noise, weights.whiten, problem.bias),
    }
    ends = np.unique(np.linspace(0, problem.num_samples, INSTANTS + 1).astype(int))[1:]
    found = []
    for name, state in states.items():
        rows = []
        start = 0
        for end in ends:
            state.update(problem.A[start:end], problem.y[start:end])
            start = end
            solution = state.solution
            if solution is None or solution[0] == 0.0:
                continue
            phi, covariance = solution[:NUM_PARAMETERS], state.covariance[:NUM_PARAMETERS, :NUM_PARAMETERS]
            if not (np.isfinite(phi).all() and np.isfinite(covariance).all()):
                continue
            variances = np.diag(derived_covariance(phi, 0.5 * (covariance + covariance.T)))
            half = NORMAL_95 * np.sqrt(np.maximum(variances, 0.0))
            rows.append((problem.time[end - 1] - problem.time[0], derived_of(InertialParameters.from_phi(phi)), half))
        if rows:
            time, values, half_widths = (np.array(column) for column in zip(*rows, strict=True))
            found.append(Convergence(name, time, values, half_widths))
    return tuple(found)

"""Least squares among physically consistent bodies: the pseudo-inertia is positive definite, a convex constraint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.estimators.estimator import Estimator
from iparam.estimation.payload.estimate_assembly import assemble_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.weighted_fit import weighted_fit
from iparam.remarks import Remark, Severity, remark
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.phi import pseudo_inertia_from_phi

MARGIN = 1e-6
"""Least eigenvalue of the pseudo-inertia in units of the load's own size: next to flat, and yet no plate."""

LEAST_REACH = 1e-3
"""A load is taken to extend at least that far [m], so that its size can be a unit."""


@dataclass(frozen=True)
class ConsistentLeastSquares(Estimator):
    """Weighted least squares under the 4 x 4 linear matrix inequality of the pseudo-inertia.

    Where weighted least squares is consistent by itself, that is the solution. Otherwise it is the consistent body with
    the least weighted squares. The covariance is that of weighted least squares in both cases, which is on the safe
    side in the second.

    Attributes:
        correct: see `WeightedLeastSquares`.
    """

    correct: bool = True

    def fit(self, problem: PayloadProblem) -> Estimate:
        """See `Estimator.fit`."""
        found = weighted_fit(problem, correct=self.correct)
        parameters, remarks = found.parameters, tuple[Remark, ...]()
        possible = is_physically_consistent(found.phi)
        if not possible:
            phi = nearest_consistent(found.phi, _without_rest(found.information))
            parameters = _with_rest(found.parameters, found.information, phi)
            moved = np.sqrt((phi - found.phi) @ np.linalg.solve(found.covariance[:10, :10], phi - found.phi))
            remarks = (nearest_taken(float(moved)),)
        return assemble_estimate(
            "consistent",
            problem,
            parameters,
            found.covariance,
            inflation=found.inflation,
            remarks=remarks,
            unconstrained_phi=None if possible else found.phi,
        )


FARTHEST_BY_CHANCE = 5.5
"""Distance of the nearest consistent body from the data, in standard deviations, that noise alone may explain: ten
parameters are further from the truth in one of a thousand cases (chi-square)."""


def nearest_taken(distance: float) -> Remark:
    """The remark on a consistent body that was taken in place of the data's own solution, that far away."""
    severity = Severity.INFO if distance <= FARTHEST_BY_CHANCE else Severity.DOUBT
    return remark("nearest-body-taken", severity, distance=distance)


def nearest_consistent(phi: FloatArray, information: FloatArray) -> FloatArray:
    """The consistent phi (10,) with the least (x - phi)' information (x - phi), by Clarabel.

    Args:
        phi: (10,) the unconstrained minimum.
        information: (10, 10) positive definite.
    """
    import clarabel
    from scipy import sparse

    # In units of the load's own mass and reach all numbers are near 1.
    mass = max(abs(float(phi[0])), 1e-6)
    reach = max(np.sqrt(max(float(np.abs(phi[[4, 7, 9]]).max()), 0.0) / mass), LEAST_REACH)
    units = mass * np.array([1.0, *[reach] * 3, *[reach**2] * 6])
    scaled = information * np.outer(units, units)
    norm = float(np.trace(scaled)) / NUM_PARAMETERS
    scaled /= norm
    maps = _pseudo_inertia_columns()  # svec of the upper triangle of J, column by column, is maps @ phi
    floor = MARGIN * np.array([1.0 if row == column else 0.0 for column in range(4) for row in range(column + 1)])
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(scaled)),
        -scaled @ (phi / units),
        sparse.csc_matrix(-maps),
        -floor,
        [clarabel.PSDTriangleConeT(4)],
        settings,
    )
    solution = solver.solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise IdentificationError(f"no consistent load was found: the solver says {solution.status}")
    return np.array(solution.x) * units


@cache
def _pseudo_inertia_columns() -> FloatArray:
    """(10, 10): the upper triangle of the pseudo-inertia of each unit phi, off-diagonal entries times root 2."""
    matrices = pseudo_inertia_from_phi(np.eye(NUM_PARAMETERS))
    root = np.sqrt(2.0)
    rows = [
        matrices[:, row, column] * (1.0 if row == column else root) for column in range(4) for row in range(column + 1)
    ]
    return np.array(rows)


def _without_rest(information: FloatArray) -> FloatArray:
    """(10, 10) information on phi with the bias (if any) minimised over: its Schur complement."""
    own, cross, rest = information[:10, :10], information[:10, 10:], information[10:, 10:]
    if not rest.size:
        return own
    return np.asarray(own - cross @ np.linalg.solve(rest, cross.T))


def _with_rest(parameters: FloatArray, information: FloatArray, phi: FloatArray) -> FloatArray:
    """The parameters with phi in place, and the bias that is best with it."""
    result = parameters.copy()
    result[:10] = phi
    if len(parameters) > NUM_PARAMETERS:
        change = information[10:, :10] @ (phi - parameters[:10])
        result[10:] -= np.linalg.solve(information[10:, 10:], change)
    return result

"""The fit that all hypotheses share: load, bias and their own parameters by weighted least squares, among possible
bodies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.estimation.payload.regular import REGULAR, solve_regular
from iparam.spatial.consistency import is_physically_consistent

LARGEST = 2.0
"""Radius of gyration, and distance of the centre of mass, of the largest load that is thought of [m]."""

LEAST_MASS = 0.01
"""Of a load that has a size [kg]."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A hypothesis fitted to a run.

    Attributes:
        phi: (10,) the load, a possible body where the data determine all of it.
        parameters: (k,) those of the hypothesis.
        design: (N, 6, p) of phi, the bias where there is one, and the parameters.
        information: (p, p) of the same, in units of the sensor's noise.
        residual: (N, 6) that the possible load leaves [N, N m].
        squares: weighted sum of squares that the possible load leaves.
        free_phi: (10,) the load without that constraint.
        weights: (N, 6) of the squares: 1 / noise^2, 0 where a sample is not used.
    """

    phi: FloatArray
    parameters: FloatArray
    design: FloatArray
    information: FloatArray
    residual: FloatArray
    squares: float
    free_phi: FloatArray
    weights: FloatArray

    @property
    def force_rms(self) -> float:
        """Root mean square of the force that is left [N]."""
        return self._rms(slice(3))

    @property
    def torque_rms(self) -> float:
        """Root mean square of the torque that is left [N m]."""
        return self._rms(slice(3, 6))

    def _rms(self, part: slice) -> float:
        """Of the samples that are used."""
        used = self.weights[:, part] > 0.0
        squares = np.sum(self.residual[:, part] ** 2 * used, axis=0) / np.maximum(np.sum(used, axis=0), 1)
        return float(np.sqrt(np.sum(squares)))

    @property
    def widening(self) -> float:
        """By how much the parameters of the hypothesis raise the largest standard deviation of the load, a factor."""
        count = len(self.information) - self.parameters.size
        known = np.linalg.pinv(self.information[:count, :count], hermitian=True)
        whole = np.linalg.pinv(self.information, hermitian=True)
        ratio = np.diag(whole)[:NUM_PARAMETERS] / np.maximum(np.diag(known)[:NUM_PARAMETERS], 1e-300)
        return float(np.sqrt(max(float(ratio.max()), 1.0)))

    @property
    def load_deviations(self) -> FloatArray:
        """(10,) standard deviations of the load, from noise as the sensor has it."""
        return np.asarray(np.sqrt(np.maximum(np.diag(self.load_covariance), 0.0)))

    @property
    def load_covariance(self) -> FloatArray:
        """(10, 10) of the load, from noise as the sensor has it."""
        return np.asarray(np.linalg.pinv(load_information(self.information), rcond=REGULAR, hermitian=True))

    def covariance(self) -> tuple[FloatArray, float]:
        """(p, p) of phi, bias and parameters, and by how much correlation in time raises it; infinite for a column that
        nothing depends on.
        """
        size = self.design.shape[2]
        found = np.zeros((size, size))
        diagonal = np.diag(self.information)
        shown = np.flatnonzero(diagonal > 1e-30 * diagonal.max())
        found[np.diag_indices(size)] = np.inf
        try:
            scores = Scores(self.design[:, :, shown], self.weights * self.residual, np.zeros(shown.size))
            part, raised = estimate_covariance(self.information[np.ix_(shown, shown)], scores)
        except np.linalg.LinAlgError:
            return found, 1.0
        found[np.ix_(shown, shown)] = part
        return found, raised


def linear_fit(
    run: ExaminedRun,
    regressors: FloatArray | None = None,
    columns: FloatArray | None = None,
    used: FloatArray | None = None,
    possible: bool = True,
    effect: FloatArray | None = None,
) -> Fit:
    """Fit load, bias and the factors of further columns.

    Args:
        run: that they are fitted to.
        regressors: (N, 6, 10) of the load; those of the run if not given.
        columns: (N, 6, k) what the parameters of a hypothesis are multiplied with; none if not given.
        used: (N, 6) or (N, 1) which share of a sample counts; all of it if not given.
        possible: look among possible bodies only.
        effect: (N, 6) part of the wrench that neither load nor bias has to do with; none if not given [N, N m].
    """
    A = run.A if regressors is None else regressors
    parts = [A]
    if run.bias:
        parts.append(np.broadcast_to(np.eye(6), (len(A), 6, 6)))
    if columns is not None:
        parts.append(columns)
    design = np.concatenate(parts, axis=2)
    weights = np.broadcast_to(1.0 / run.noise**2, run.y.shape)
    for share in (used, run.used):
        if share is not None:
            weights = weights * share
    root = np.sqrt(weights)
    rows = (design * root[:, :, None]).reshape(-1, design.shape[2])
    measured = run.y if effect is None else run.y - effect
    target = (measured * root).ravel()
    gram, right = rows.T @ rows, rows.T @ target
    solution = solve_regular(gram, right)
    free = solution[:NUM_PARAMETERS]
    if possible:
        solution = _possible(solution, gram)
    residual = measured - design @ solution
    squares = float(np.sum(weights * residual**2))
    start = NUM_PARAMETERS + 6 * run.bias
    return Fit(solution[:NUM_PARAMETERS], solution[start:], design, gram, residual, squares, free, weights)


def load_information(gram: FloatArray) -> FloatArray:
    """(10, 10) information on the load with all else minimised over."""
    own, cross, rest = gram[:10, :10], gram[:10, 10:], gram[10:, 10:]
    if not rest.size:
        return own
    return np.asarray(own - cross @ solve_regular(rest, cross.T))


def _of_a_size(phi: FloatArray, information: FloatArray) -> FloatArray:
    """Phi (10,) without what lets it be larger than any load, where the data hardly tell: noise of the motion alone may
    make moments of tons of what no turn shows, and a possible body of that size is nowhere near the rest of the load.
    """
    mass = max(abs(float(phi[0])), LEAST_MASS)
    scale = mass * np.array([1.0, *[LARGEST] * 3, *[LARGEST**2] * 6])
    if (np.abs(phi) <= scale * (1.0 + REGULAR)).all():
        return phi
    bound = np.diag(1.0 / scale**2)
    bound[0, 0] = 0.0
    return solve_regular(information + bound, information @ phi)


def _possible(solution: FloatArray, gram: FloatArray) -> FloatArray:
    """The best solution whose load a rigid body can have."""
    phi = solution[:NUM_PARAMETERS]
    if is_physically_consistent(phi):
        return solution
    information = load_information(gram)
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    if np.linalg.eigvalsh(information / np.outer(scale, scale))[0] <= REGULAR:
        if phi[0] >= 0.0:
            return solution
        possible = np.zeros(NUM_PARAMETERS)
    else:
        try:
            possible = nearest_consistent(_of_a_size(phi, information), information)
        except IparamError:  # too far from any body for the solver: none of it is there
            possible = np.zeros(NUM_PARAMETERS)
    result = solution.copy()
    result[:NUM_PARAMETERS] = possible
    if len(result) > NUM_PARAMETERS:
        change = gram[NUM_PARAMETERS:, :NUM_PARAMETERS] @ (possible - phi)
        result[NUM_PARAMETERS:] -= solve_regular(gram[NUM_PARAMETERS:, NUM_PARAMETERS:], change)
    return result

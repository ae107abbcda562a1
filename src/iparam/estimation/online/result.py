"""An on-line estimate as an `Estimate`: the residuals of the wrench, without keeping the samples."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.errors import IparamError
from iparam.estimation.assessment.refutation import (
    ABOVE_NOISE,
    FARTHEST,
    MOST_UNEXPLAINED,
    distance_from_possible,
    shows_no_body,
)
from iparam.estimation.estimate import SUCCESS, Cause, Estimate, Refutation, Wrench
from iparam.estimation.estimators.consistent import nearest_consistent, nearest_taken
from iparam.estimation.online.partial_solution import OnlineSolution
from iparam.estimation.payload.estimate_assembly import estimate_of, precision_remarks
from iparam.estimation.payload.partial_estimate import part_of
from iparam.estimation.payload.problem import NUM_PARAMETERS
from iparam.remarks import remark
from iparam.rounding import NORMAL_95
from iparam.spatial.consistency import check_consistency, is_physically_consistent

BLOCK = 32
"""Samples that are folded into the sums together: a product of matrices costs less than many of vectors."""


"""What is said of an estimate that was moved."""


class WrenchMoments:
    """Sums of squares and products of [A, bias, y] for each of the six components of the wrench.

    With them the residual of any parameters p is known for all samples so far: r^2 = [p, -1] M [p, -1]' of each.

    Args:
        bias: whether the sensor's bias is estimated too.
    """

    def __init__(self, bias: bool) -> None:
        self.samples = 0
        size = NUM_PARAMETERS + 6 * bias + 1
        self._folded = np.zeros((6, size, size))
        self._rows = np.zeros((6, BLOCK, size))
        self._rows[:, :, NUM_PARAMETERS:-1] = np.eye(6)[:, None, : 6 * bias]
        self._waiting = 0

    def seed(self, sums: FloatArray, samples: int) -> None:
        """Begin with the sums (6, p + 1, p + 1) of so many samples."""
        self._folded, self.samples = self._folded + sums, self.samples + samples

    def add(self, A: FloatArray, y: FloatArray) -> None:
        """Take in one sample, A (6, 10) and y (6,)."""
        self._rows[:, self._waiting, :NUM_PARAMETERS] = A
        self._rows[:, self._waiting, -1] = y
        self._waiting += 1
        self.samples += 1
        if self._waiting == BLOCK:
            self._folded, self._waiting = self._sums, 0

    @property
    def _sums(self) -> FloatArray:
        """(6, p + 1, p + 1) of all samples."""
        rows = self._rows[:, : self._waiting]
        return np.asarray(self._folded + np.swapaxes(rows, 1, 2) @ rows)

    def residual_squares(self, parameters: FloatArray) -> FloatArray:
        """(6,) sums of squares of what ``parameters`` (p,) leave of each component [N^2, (N m)^2]."""
        ends = np.append(parameters, -1.0)
        return np.asarray(np.maximum(np.einsum("i,kij,j->k", ends, self._sums, ends), 0.0))

    @property
    def signal_squares(self) -> FloatArray:
        """(6,) sums of squares of each component of the wrench, about its mean where a bias is estimated."""
        sums, squares = self._sums, self._sums[:, -1, -1]
        if sums.shape[1] == NUM_PARAMETERS + 1:
            return np.asarray(squares)
        totals = sums[np.arange(6), NUM_PARAMETERS + np.arange(6), -1]
        return np.asarray(np.maximum(squares - totals**2 / max(self.samples, 1), 0.0))

    @property
    def condition_number(self) -> float:
        """Of the stacked regressor in SI units; 3e7 also stands for more, which squares of the entries cannot tell."""
        values = np.linalg.eigvalsh(self._sums[:, :NUM_PARAMETERS, :NUM_PARAMETERS].sum(axis=0))
        return float(np.sqrt(values[-1] / max(values[0], 1e-15 * values[-1], 1e-300)))


class OnlineQuality(NamedTuple):
    """How good an on-line estimate is, in numbers that are quick to get.

    Attributes:
        samples: since the start or the last change of load.
        condition_number: of the stacked regressor in SI units.
        relative_mass_deviation: standard deviation of the mass over the mass.
        physically_consistent: whether a body of positive density can have these parameters.
        restarts: changes of load so far.
        residual_force_rms, residual_torque_rms: of the residuals of the wrench, all three components [N, N m].
    """

    samples: int
    condition_number: float
    relative_mass_deviation: float
    physically_consistent: bool
    restarts: int
    residual_force_rms: float
    residual_torque_rms: float


def online_quality(solution: OnlineSolution, moments: WrenchMoments, restarts: int) -> OnlineQuality:
    """The quality of the present estimate; arguments as in `online_result`, and the changes of load so far."""
    parameters, covariance = solution.parameters, solution.covariance
    possible = is_physically_consistent(parameters[:NUM_PARAMETERS]) if solution.complete else parameters[0] > 0.0
    squares = moments.residual_squares(_fitted(solution)) / max(moments.samples, 1)
    return OnlineQuality(
        moments.samples,
        moments.condition_number,
        float(np.sqrt(max(covariance[0, 0], 0.0))) / max(abs(float(parameters[0])), 1e-12),
        bool(possible),
        restarts,
        float(np.sqrt(squares[:3].sum())),
        float(np.sqrt(squares[3:].sum())),
    )


def online_refutation(
    found: Estimate, parameters: FloatArray, moments: WrenchMoments, deviation: FloatArray
) -> Refutation | None:
    """Why the samples so far refute an on-line estimate; None where they do not.

    Args:
        found: the estimate.
        parameters: (p,) that leave the least of the samples.
        moments: of all samples that it rests on.
        deviation: (6,) standard deviations of the sensor's noise, as stated or as seen if that is more [N, N m].
    """
    reason = shows_no_body(found) or _shows_lift(found)
    if not reason:
        share = _unexplained_share(parameters, moments, deviation)
        if share <= MOST_UNEXPLAINED:
            return None
        reason = (
            f"The load explains too little of the measured wrench: {100 * share:.0f} % of the power of its force or "
            f"torque is left over ({100 * MOST_UNEXPLAINED:g} % is allowed)."
        )
    free = found.phi if found.unconstrained_phi is None else found.unconstrained_phi
    half = NORMAL_95 * found.standard_deviation.mass
    if free[0] < -2.0 * half and _possible_if_reversed(found, free):  # clearly: other mistakes make small masses
        rms = float(np.sqrt(np.sum(found.residual_rms.force**2)))
        sentence = (
            f"The reversed wrench gives {-free[0]:.4f} +- {half:.2g} kg (95 %): the sensor reports the opposite of "
            "what it was said to (measures)."
        )
        return Refutation(reason, (Cause("wrench-sign", sentence, rms, rms),))
    return Refutation(
        f"{reason} Look at the sensor's axes, units and place, at the arm's model and how it is mounted, and at the "
        "clock; 'iparam doctor' names the cause from a recording."
    )


def _possible_if_reversed(found: Estimate, free: FloatArray) -> bool:
    """Whether the solution (10,) is that of no possible load, and of a possible one if the wrench were turned."""
    if not found.complete:
        return True  # of the signs, that of the mass is all that is known
    possible = bool(is_physically_consistent(-free))
    turned = replace(found, phi=frozen(-free), unconstrained_phi=None, physically_consistent=possible)
    return not shows_no_body(turned) and distance_from_possible(found)[0] > 0.0


def _shows_lift(found: Estimate) -> str:
    """A sentence if a load of which only a part is known pulls upwards."""
    deviation = found.standard_deviation.mass
    if found.complete or not found.mass < -FARTHEST * deviation:
        return ""
    return f"The data show no possible load: its mass is {found.mass:.4g} +- {NORMAL_95 * deviation:.2g} kg (95 %)."


def _fitted(solution: OnlineSolution) -> FloatArray:
    return solution.parameters if solution.fitted is None else solution.fitted


def _unexplained_share(parameters: FloatArray, moments: WrenchMoments, deviation: FloatArray) -> float:
    """Share of the power of the force, or of the torque if that is more, beyond its noise that the load leaves."""
    unexplained, shown = moments.residual_squares(parameters), moments.signal_squares
    noise, found = moments.samples * np.asarray(deviation) ** 2, 0.0
    for part in (slice(0, 3), slice(3, 6)):
        beyond = float(np.sum(shown[part]) - np.sum(noise[part]))
        if beyond > (ABOVE_NOISE - 1.0) * float(np.sum(noise[part])):
            found = max(found, float(np.sum(np.maximum(unexplained[part] - noise[part], 0.0))) / beyond)
    return found


def _possible(phi: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray | None, float]:
    """The nearest parameters (10,) of a rigid body; those of least squares where these are others, else None; and how
    far apart the two are, in standard deviations.
    """
    if is_physically_consistent(phi):
        return phi, None, 0.0
    unit = 1.0 / np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    information = np.linalg.pinv(covariance * np.outer(unit, unit), hermitian=True) * np.outer(unit, unit)
    try:
        nearest = nearest_consistent(phi, information)
    except IparamError:  # too far from any body for the solver
        return phi, None, np.inf
    moved = nearest - phi
    return nearest, phi, float(np.sqrt(max(float(moved @ information @ moved), 0.0)))


def online_result(method: str, solution: OnlineSolution, moments: WrenchMoments, deviation: FloatArray) -> Estimate:
    """Put the present estimate together.

    Args:
        method: of the recursion.
        solution: phi and, if estimated, the bias.
        moments: of all samples that it rests on.
        deviation: (6,) standard deviations of the sensor's noise [N, N m].
    """
    parameters, (phi, covariance_phi) = solution.parameters, solution.published
    squares = moments.residual_squares(_fitted(solution))
    rms = np.sqrt(squares / max(moments.samples, 1))
    status, free = SUCCESS, None
    if solution.complete:
        phi, free, distance = _possible(phi, covariance_phi)
        report = check_consistency(phi)
        remarks = precision_remarks(phi, np.sqrt(np.maximum(np.diag(covariance_phi), 0.0)))
        if not report:
            remarks.append(remark("not-a-rigid-body", violation=report.violations[0]))
        if free is not None:
            remarks.append(nearest_taken(distance))
    else:
        remarks, status = [part_of(phi)], "Only a part was estimated."
    bias = parameters[NUM_PARAMETERS:] if solution.known[NUM_PARAMETERS:].all() else np.empty(0)
    found = estimate_of(
        f"online {method}",
        phi,
        covariance_phi,
        condition_number=moments.condition_number if solution.complete else np.inf,
        residual_norm=float(np.sqrt(squares.sum())),
        residual_rms=Wrench(frozen(rms[:3]), frozen(rms[3:])),
        sensor_bias=Wrench(frozen(bias[:3]), frozen(bias[3:])) if bias.size else None,
        samples=moments.samples,
        remarks=remarks,
        status=status,
        unconstrained_phi=None if free is None else frozen(free),
    )
    return replace(found, refutation=online_refutation(found, _fitted(solution), moments, deviation))

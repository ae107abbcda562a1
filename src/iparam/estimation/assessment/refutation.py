"""When the data refute a result: they show no possible body, or the model leaves most of what they show unexplained.

A method that only looks among possible bodies always finds one. What it had to give up for that is the evidence: least
squares without the constraint is then many standard deviations away.
"""

from __future__ import annotations

import numpy as np

from iparam.errors import IparamError
from iparam.estimation.assessment.derived_values import derived_of, parameter_scales
from iparam.estimation.assessment.residual_structure import residual_structure
from iparam.estimation.estimate import Estimate, Refutation
from iparam.estimation.estimators.consistent import nearest_consistent
from iparam.estimation.payload.problem import PayloadProblem
from iparam.recording.noise_level import noise_beside, white_noise_level
from iparam.rounding import NORMAL_95
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.parameters import InertialParameters

FARTHEST = 11.0
"""Distance of least squares from the nearest possible body, in standard deviations, that a sound log may have. Noise
alone stays below 5.5 in 999 of 1000 cases (chi-square of ten parameters), and where errors of real sensors and arms are
left in the residuals, standard deviations were seen to be too small by a factor of up to about two."""

MATERIAL = 0.05
"""Change that possibility asks for, as a share of the load's mass, radius of gyration or largest moment of inertia,
below which it harms nobody: with a very good sensor a slender tool is many deviations from any body, and is right."""

MOST_UNEXPLAINED = 0.5
"""Share of the power of the force, or of the torque, beyond its noise that the model may leave unexplained."""

BENDS = 4
"""Degree of the polynomial in time that a sensor's bias may follow."""

ABOVE_NOISE = 4.0
"""Power of a signal in that of its noise from which on there is something to explain."""


def distance_from_possible(estimate: Estimate) -> tuple[float, float]:
    """How far least squares is from any rigid body: in standard deviations, and as the largest change of a parameter
    that this asks for, in the units of `parameter_scales`. Zeros where a body can have what least squares gives.
    """
    free = estimate.phi if estimate.unconstrained_phi is None else estimate.unconstrained_phi
    if np.isnan(free).any() or is_physically_consistent(free):
        return 0.0, 0.0
    covariance = estimate.covariance_phi
    unit = 1.0 / np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    scaled = covariance * np.outer(unit, unit)  # correlations: safe to invert
    information = np.linalg.pinv(scaled, hermitian=True) * np.outer(unit, unit)
    try:
        possible = estimate.phi if estimate.physically_consistent else nearest_consistent(free, information)
    except IparamError:  # too far from any body for the solver
        return float("inf"), float("inf")
    moved = possible - free
    distance = float(np.sqrt(max(float(moved @ information @ moved), 0.0)))
    body, shown = InertialParameters.from_phi(possible), InertialParameters.from_phi(free)
    # In the units of the larger of the two: next to nothing has no size of its own.
    scales = np.maximum(parameter_scales(body), parameter_scales(shown))
    return distance, float(np.max(np.abs(derived_of(body) - derived_of(shown)) / scales))


def shows_no_body(estimate: Estimate, told: str = "The data show no possible load: least squares gives") -> str:
    """A sentence if the data show parameters that no rigid body has, clearly and by more than could be overlooked.

    Args:
        estimate: with what least squares gives.
        told: how the sentence begins, up to the mass.
    """
    distance, change = distance_from_possible(estimate)
    if distance <= FARTHEST or change <= MATERIAL:
        return ""
    free = estimate.phi if estimate.unconstrained_phi is None else estimate.unconstrained_phi
    away = f"{distance:.1f} standard deviations" if np.isfinite(distance) else "far"
    return (
        f"{told} a mass of {free[0]:.4g} +- "
        f"{NORMAL_95 * np.sqrt(estimate.covariance_phi[0, 0]):.2g} kg (95 %) and parameters that are {away} from those "
        f"of any rigid body ({FARTHEST:g} are allowed)."
    )


def unexplained_share(problem: PayloadProblem, estimate: Estimate) -> float:
    """Share of the power of the force, or of the torque if that is more, that the motion has to do with and the model
    leaves; 0 where what it leaves is noise, or does not follow the motion.
    """
    if not estimate.complete:
        return 0.0
    load = problem.A @ estimate.phi
    residual, signal = problem.y - load, problem.y
    if problem.bias:  # and how it changes during the run, which is noise
        bends = np.linalg.qr(np.vander((problem.time - problem.time[0]) / np.ptp(problem.time), BENDS + 1))[0]
        residual, signal = (values - bends @ (bends.T @ values) for values in (residual, signal))
    if not residual_structure(problem, residual).follows_motion:
        return 0.0
    spectral = noise_beside(residual, load)
    noise = (white_noise_level(residual) if spectral is None else spectral.level) ** 2
    residual_power, shown = np.mean(residual**2, axis=0), np.mean(signal**2, axis=0)
    found = 0.0
    for part in (slice(0, 3), slice(3, 6)):
        beyond = float(np.sum(shown[part]) - np.sum(noise[part]))
        if beyond > (ABOVE_NOISE - 1.0) * float(np.sum(noise[part])):
            found = max(found, float(np.sum(np.maximum(residual_power[part] - noise[part], 0.0))) / beyond)
    return found


def too_little_explained(problem: PayloadProblem, estimate: Estimate) -> str:
    """A sentence if the load leaves most of the wrench unexplained, and what it leaves follows the motion."""
    share = unexplained_share(problem, estimate)
    if share <= MOST_UNEXPLAINED:
        return ""
    return (
        f"The load explains too little of the measured wrench: {100 * share:.0f} % of the power of its force or "
        f"torque is left over and follows the motion ({100 * MOST_UNEXPLAINED:g} % is allowed)."
    )


def unexplained(reason: str) -> Refutation:
    """A refutation of which no cause is known."""
    where = "the sensor's sign, axes, units and place, at the arm's model and how it is mounted, and at the clock"
    return Refutation(f"{reason} Look at {where}.")

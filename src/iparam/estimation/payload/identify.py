"""`identify_payload`: one call from a recording to an `Estimate`."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import frozen
from iparam.errors import InputError, UnknownNameError
from iparam.estimation.assessment.motion_path import motion_path
from iparam.estimation.assessment.residual_structure import ResidualStructure, residual_structure
from iparam.estimation.causes.judgement import judged
from iparam.estimation.corrections.joint_fit import fit_corrections
from iparam.estimation.errors import NotIdentifiableError
from iparam.estimation.estimate import SENSOR_FRAME, Estimate, Wrench
from iparam.estimation.estimators.estimator import DEFAULT_METHOD, Estimator, make_estimator
from iparam.estimation.payload.bias_drift import BiasDrift, find_drift, without_drift
from iparam.estimation.payload.estimate_assembly import CORRELATED, condition_number
from iparam.estimation.payload.partial_estimate import partial_estimate
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.problem_from_recording import prepare_run
from iparam.estimation.static.slow_motion import slow_motion_estimate
from iparam.motion.motion import MotionEstimate
from iparam.motion.sources import MotionSource
from iparam.recording.recording import Recording
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.run_check import moves_without_arm, recorded_robot
from iparam.sensing.wrench_source import WrenchSource

if TYPE_CHECKING:
    from iparam.spatial.parameters import InertialParameters

PayloadBias = Literal["estimate", "constant", "none", "zeroed", "drifting"]
"""The sensor's bias: none and zeroed as in `problem_from_recording`; constant, its "estimate"; drifting, one that walks
during the run (see `bias_drift`); or estimate: constant, and drifting where that alone explains the data."""

SURE = 3.0
"""Standard deviations from which a number of the estimate is believed to be there."""


def identify_payload(
    recording: Recording,
    robot: Robot | str | None = None,
    method: str | Estimator = DEFAULT_METHOD,
    *,
    motion: MotionSource | MotionEstimate | None = None,
    wrench: WrenchSource | None = None,
    bias: PayloadBias = "estimate",
    delay: float | None = None,
    wrench_covariance: ArrayLike | None = None,
    zero_pose: ArrayLike | None = None,
    prior: InertialParameters | None = None,
    gravity: ArrayLike | None = None,
    partial: bool = True,
    correction: Correction | None = None,
) -> Estimate:
    """Identify what the arm carried.

    Args:
        recording: of a motion that excites the load.
        robot: the arm, its name or its URDF's path; None takes the recording's. It must be the arm of the recording. A
            recording of the sensor's own orientation, without joint angles, needs none.
        method: one of `METHODS`, or an estimator.
        motion, wrench, wrench_covariance, zero_pose, gravity: see `problem_from_recording`.
        bias: of the sensor. "drifting" also estimates how it walks, channel by channel: right for a sensor that is not
            warm yet. Errors of another kind that last for some tenths of a second are taken for drift, too, so the
            default, "estimate", does so only if a slow walk explains all that a constant bias leaves.
        delay: by how much the wrench lags behind the joint angles [s]; None compensates what the wrench shows
            clearly, a delay or a low-pass of the angles, and says so in a warning; without an arm, nothing.
        prior: a guess of the load, for method "logchol".
        partial: where the data determine only some of the parameters, give those, with NaN for the rest, by weighted
            least squares whatever the method; False raises `NotIdentifiableError`.
        correction: what is to be put right in the recording, with "estimate" for what is to be found along with the
            load: that is then counted in its standard deviations, and the estimate says what it is.

    Returns:
        The estimate; one that the data themselves refute says so in its `refutation`, with what would explain them.
    """
    if bias not in get_args(PayloadBias):
        raise UnknownNameError("treatment of the bias", bias, get_args(PayloadBias))
    arm = robot if isinstance(robot, Robot) else _arm(recording, robot)
    if prior is not None and not isinstance(method, str):
        raise InputError("a prior goes with the name of a method; give an estimator its prior when it is made")
    estimator = make_estimator(method, prior) if isinstance(method, str) else method
    given, fit = Correction() if correction is None else correction, None
    if set(given.estimated) - {"delay"}:
        fit = fit_corrections(
            recording, arm, given, motion=motion, wrench=wrench, bias=bias != "none", delay=delay, gravity=gravity
        )
        given, delay = fit.correction, None
    run = prepare_run(
        recording,
        arm,
        motion=motion,
        wrench=wrench,
        bias=bias if bias in ("none", "zeroed") else "estimate",
        delay=delay,
        wrench_covariance=wrench_covariance,
        zero_pose=zero_pose,
        instruments=estimator.needs_instruments,
        gravity=None if "gravity" in (correction or given).estimated else gravity,
        correction=given,
    )
    problem, drift = run.problem, None
    if fit is not None:
        warnings = (*problem.warnings, *fit.warnings)
        problem = dataclasses.replace(problem, correction_covariance=fit.phi_covariance, warnings=warnings)
    try:
        if bias == "drifting":
            estimate, drift = _fit_drifting(estimator, problem)
        else:
            estimate = estimator.fit(problem)
    except NotIdentifiableError as reason:
        if not partial or fit is not None:
            raise
        estimate = (slow_motion_estimate if problem.hidden else partial_estimate)(problem, reason)
    else:
        if bias == "estimate" and estimate.time_correlation > CORRELATED:
            structure = _structure(problem, estimate)
            if structure.lasts and not structure.linear_in_motion:
                estimate, drift = _fit_drifting(estimator, problem, unless=estimate)
    signal = getattr(wrench, "signal", "wrench")
    estimate = judged(run, estimate, drift)
    return dataclasses.replace(
        estimate,
        warnings=(*estimate.warnings, *(() if arm is None else _size_remarks(estimate, arm))),
        robot=robot if isinstance(robot, str) else recording.robot or ("" if arm is None else arm.name),
        frame=SENSOR_FRAME if arm is None else arm.tool_frame,
        measurements=(recording.signal(signal).fingerprint,) if recording.has(signal) else (),
        path=None if arm is None else motion_path(given.applied(recording, arm)),
        correction=given,
        correction_deviations={} if fit is None else dict(fit.deviations),
    )


def _arm(recording: Recording, robot: str | None) -> Robot | None:
    """The arm of a recording; None for one that tells the sensor's own motion and names no arm."""
    return None if robot is None and moves_without_arm(recording) else recorded_robot(recording, robot)


def _size_remarks(estimate: Estimate, robot: Robot) -> tuple[str, ...]:
    """A sentence if the load would be larger than the arm, by its inertia or the place of its centre of mass."""
    moments = np.nan_to_num(np.abs(np.diag(estimate.inertia_about_com)))
    sure = moments > SURE * np.diag(estimate.standard_deviation.inertia_about_com)
    radius = float(np.sqrt(np.max(moments * sure) / max(abs(np.nan_to_num(estimate.mass, nan=np.inf)), 1e-12)))
    place = np.nan_to_num(np.abs(estimate.center_of_mass))
    distance = float(np.linalg.norm(place * (place > SURE * estimate.standard_deviation.center_of_mass)))
    if max(radius, distance) <= robot.reach or robot.reach == 0.0:
        return ()
    sentence = (
        f"The load would be larger than the arm: its radius of gyration {radius:.3g} m, its centre of mass "
        f"{distance:.3g} m from {robot.tool_frame}, and {robot.name} reaches {robot.reach:.3g} m. Is the time in "
        "seconds, and are the torques in N m?"
    )
    return (sentence,)


def _structure(problem: PayloadProblem, estimate: Estimate) -> ResidualStructure:
    residual = problem.y - problem.A @ estimate.phi
    return residual_structure(problem, residual - residual.mean(axis=0) if problem.bias else residual)


def _fit_drifting(
    estimator: Estimator, problem: PayloadProblem, unless: Estimate | None = None
) -> tuple[Estimate, BiasDrift | None]:
    """The estimate with a bias that walks, and how it does; None where it was taken for constant.

    Args:
        estimator: to fit with.
        problem: the data.
        unless: the estimate with a constant bias, which is given back where a slow walk does not explain what it
            leaves; None takes the walk as it is.
    """
    drift = find_drift(problem)
    if drift is None or (unless is not None and not drift.slow):
        return (estimator.fit(problem) if unless is None else unless), None
    white = without_drift(problem, drift)
    estimate = estimator.fit(white)
    if unless is not None and (estimate.time_correlation > CORRELATED or _structure(white, estimate).follows_motion):
        return unless, None
    bias = np.mean(problem.y - problem.A @ estimate.phi, axis=0)
    estimate = dataclasses.replace(
        estimate,
        sensor_bias=Wrench(frozen(bias[:3]), frozen(bias[3:])),
        condition_number=condition_number(problem.A),
    )
    return estimate, drift

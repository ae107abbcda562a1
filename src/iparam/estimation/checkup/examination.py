"""`examine_recording`: every check of a recording, and the causes where a load alone does not explain it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from iparam.errors import IparamError
from iparam.estimation.checkup.check import Check, Checkup, Level
from iparam.estimation.checkup.signal_checks import signal_checks
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.identify import identify_payload
from iparam.motion.sources import MotionSource
from iparam.recording.followers import joint_count
from iparam.recording.recording import Recording
from iparam.recording.statements import recorded_gravity
from iparam.regressor.identifiability import PARAMETER_NAMES, beyond_arm
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.run_check import check_run

POOR_CONDITION = 100.0
"""Condition number of the stacked regressor from which some parameters are much better known than others."""

BEYOND_LIMIT = 0.05
"""By how much angles may exceed the limits of a joint before that is told [rad]."""

_LEVELS: dict[str, Level] = {"good": "green", "usable": "amber", "refuted": "red"}
_LATE = "lags behind"  # in the sentence about a delay that was compensated


def examine_recording(
    recording: Recording,
    robot: Robot,
    *,
    motion: MotionSource | None = None,
    correction: Correction | None = None,
    estimate: Estimate | None = None,
) -> Checkup:
    """Look through a recording before a load is identified from it.

    Args:
        recording: of a motion that excites the load.
        robot: the arm.
        motion: where the motion comes from; the Kalman smoother if not given.
        correction: what is to be put right in it first.
        estimate: the load that was identified from it; None identifies it.
    """
    given = Correction() if correction is None else correction
    checks: list[Check] = []
    try:
        corrected = given.applied(recording, robot)
    except IparamError as error:
        return Checkup((Check("correction", "red", str(error)),))
    checks += signal_checks(corrected)
    if any(check.name == "signals" and check.level == "red" for check in checks):
        return Checkup(tuple(checks))
    try:
        checks += _arm_checks(corrected, robot)
        if estimate is None:
            estimate = identify_payload(recording, robot, motion=motion, correction=given)
    except IparamError as error:
        checks.append(Check("load", "red", str(error)))
        return Checkup(tuple(checks))
    checks += _motion_checks(estimate, corrected, robot)
    checks.append(_load_check(estimate))
    return Checkup(tuple(checks), estimate)


def _arm_checks(recording: Recording, robot: Robot) -> Iterator[Check]:
    angles = recording.signal("q").values
    if angles.shape[1] != robot.num_joints:
        yield Check("arm", "red", f"{angles.shape[1]} joint angles, and {joint_count(robot)}")
        return
    limits = robot.limits
    beyond = np.maximum(angles.max(axis=0) - limits.upper, limits.lower - angles.min(axis=0))
    worst = int(np.argmax(beyond))
    checked = check_run(recording, robot)
    if beyond[worst] > BEYOND_LIMIT:
        text = f"{robot.joint_label(worst)} goes {np.degrees(beyond[worst]):.3g} deg beyond the limits of {robot.name}"
        yield Check("arm", "amber", f"{text}: is it that arm, in that order, counted from that zero?")
    else:
        yield Check("arm", "green", f"{robot.name}, {robot.num_joints} joints, all angles within its limits")
    gravity = ", ".join(f"{value:.4g}" for value in checked.gravity)
    odd = [remark for remark in checked.remarks if "accelerometer shows" in remark]
    yield Check("gravity", "red" if odd else "green", odd[0] if odd else f"{gravity} m/s^2 in the axes of the base")
    units = [remark for remark in checked.remarks if "Are the torques" in remark or "which no wrist" in remark]
    if units:
        yield Check("units", "red", units[0])
    turned = [remark for remark in checked.remarks if "frame" in remark and remark not in odd]
    text = turned[0] if turned else f"wrench in {robot.tool_frame}, {'; '.join(_stated(recording)) or 'nothing stated'}"
    yield Check("frames", "amber" if turned else "green", text)


def _stated(recording: Recording) -> Iterator[str]:
    frame = recording.signal("wrench").frame
    if frame:
        yield f"as the recording states ({frame})"


def _motion_checks(estimate: Estimate, recording: Recording, robot: Robot) -> Iterator[Check]:
    if not estimate.complete:
        known = ", ".join(estimate.determined) or "nothing"
        missing = {name for name, value in zip(PARAMETER_NAMES, estimate.phi, strict=True) if np.isnan(value)}
        if missing <= set(beyond_arm(robot, recorded_gravity(recording))):
            yield Check("excitation", "amber", f"the motion determines {known}, all that a motion of {robot.name} can")
        else:
            yield Check("excitation", "red", f"the motion determines {known}: plan one with iparam excite optimize")
    elif estimate.condition_number > POOR_CONDITION:
        yield Check("excitation", "amber", f"condition number {estimate.condition_number:.3g}: some parameters suffer")
    else:
        yield Check("excitation", "green", f"all ten parameters, condition number {estimate.condition_number:.3g}")
    late = [warning for warning in estimate.warnings if _LATE in warning]
    yield Check("delay", "amber" if late else "green", late[0] if late else "none between joint angles and wrench")
    told = {*late, *recording.warnings}
    for warning in estimate.warnings:
        if warning not in told:
            yield Check("remark", "amber", warning)


def _load_check(estimate: Estimate) -> Check:
    mass = f"{estimate.mass:.4g} kg" if np.isfinite(estimate.mass) else "no mass"
    assessment = estimate.assessment
    level = _LEVELS[assessment["verdict"]]
    if level == "red":
        return Check("load", "red", f"refuted ({mass}): {assessment['sentence']}")
    return Check("load", level, f"{assessment['verdict']}, {mass}: {assessment['sentence']}")

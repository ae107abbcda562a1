"""Taking a known load out of a wrench: what is left is what touches the tool."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.estimation.assessment.applicability import check_frame, comes_from, compare_arm
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate
from iparam.estimation.payload.problem_from_recording import within_motion
from iparam.motion.angle_samples import evenly_stamped
from iparam.motion.delay import AlignedMotion, align_motion
from iparam.motion.sources import KalmanMotion, MotionSource
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.statements import COMPENSATED, compensated_mass, with_gravity
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.offset import offset_compensated_regressor, resting_regressor
from iparam.sensing.run_check import check_run
from iparam.sensing.wrench_source import SensorWrench, WrenchSource

WORSE = 1.05
"""How much more a force may change without a load than with it before that is said: something may touch the tool."""

SMALL_INERTIA = 0.01
"""For which it is said what an inertia that is not known exerts [kg m^2]; a load of 1 kg and 0.35 m across has it."""

LEAST_LEFT = 1e-3
"""Torque of such an inertia that is not worth a word [N m]."""


def compensate_wrench(
    recording: Recording,
    robot: Robot,
    estimate: Estimate,
    *,
    motion: MotionSource | None = None,
    wrench: WrenchSource | None = None,
    delay: float | None = None,
    zeroed: bool = False,
    gravity: ArrayLike | None = None,
    correction: Correction | None = None,
) -> Recording:
    """The recording with the identified load, and the sensor's bias where it was identified, taken out of the wrench.

    Args:
        recording: with the wrench, and what the motion source needs.
        robot: the arm.
        estimate: of the load.
        motion, wrench, delay, gravity: see `problem_from_recording`.
        zeroed: whether the sensor was zeroed with the load on it in the first pose.
        correction: what is to be put right in the recording, as it was in the one that the estimate comes from; what is
            returned is corrected.

    Returns:
        The recording; its wrench covers the samples within the motion. A load is taken out once: a second one only if
        it was identified from what the first left.
    """
    estimate.require_weight("what a load weighs and how it hangs takes its mass and centre of mass")
    _check_estimate(estimate, recording, robot)
    given = Correction() if correction is None else correction
    if given.without or given.rezeroed:
        raise InputError(
            "a load is taken out of all channels of a whole run: leave out no channel, and split no bias",
            argument="without" if given.without else "rezeroed",
        )
    checked = check_run(given.applied(recording, robot), robot, gravity)
    recording, restamped = evenly_stamped(checked.recording)
    delay = given.delay if delay is None and isinstance(given.delay, float) else delay
    measured = (SensorWrench() if wrench is None else wrench).read(recording)
    moved = (KalmanMotion() if motion is None else motion).motion(with_gravity(recording, gravity), robot)
    if given.low_pass is not None:
        measured = replace(measured, time=measured.time - (delay or 0.0))
        aligned = AlignedMotion(moved, given.lag, filtered=True, order=given.filter_order)
    elif delay is None:
        aligned = align_motion(moved, measured, robot, checked.gravity)
    else:
        aligned = AlignedMotion(moved, delay)
    whole, late = aligned.motion, aligned.delay
    rows, left_out = within_motion(whole, measured.time - late, aligned.settling)
    if not rows.any():
        raise IdentificationError("no wrench sample lies within the recorded motion")
    matrices = aligned.regressor(measured.time[rows], robot, checked.gravity)
    if zeroed:
        matrices = offset_compensated_regressor(matrices, resting_regressor(robot, whole.q[0], checked.gravity))
    values = measured.values[rows] - matrices @ estimate.known_phi
    if estimate.sensor_bias is not None:
        values = values - np.concatenate([estimate.sensor_bias.force, estimate.sensor_bias.torque])
    clean = Signal(measured.time[rows], values, measured.unit, measured.frame)
    remarks = [
        *restamped,
        *aligned.remarks,
        *left_out,
        *checked.remarks,
        *_left_in(matrices, estimate),
        *_not_in_it(measured.values[rows], values),
    ]
    result = recording.with_signal("wrench", clean).with_remarks(*remarks)
    total = estimate.mass + (compensated_mass(recording) or 0.0)
    return result.with_metadata(**{COMPENSATED: total}, compensated_method=estimate.method)


def _left_in(matrices: FloatArray, estimate: Estimate) -> list[Remark]:
    """A remark on what an inertia that is not known exerts in a run with the regressors (N, 6, 10)."""
    unknown = np.isnan(estimate.phi)
    if not unknown.any():
        return []
    most = SMALL_INERTIA * float(np.abs(matrices[:, 3:, unknown]).max())
    if most < LEAST_LEFT:
        return []
    return [remark("inertia-left-in-torque", torque=most, inertia=SMALL_INERTIA, advice=estimate.to_see_the_rest)]


def _check_estimate(estimate: Estimate, recording: Recording, robot: Robot) -> None:
    check_frame(estimate.frame, robot)
    arm = compare_arm(estimate, robot)
    if arm.same is False:
        raise ContradictionError(
            f"{arm.remark} The bias of its sensor is not that of this one. Identify the load with {robot.name}"
        )
    before = compensated_mass(recording)
    if before is not None and not comes_from(estimate, recording):
        raise ContradictionError(
            f"a load of {before:.4g} kg has been taken out of this wrench already, and one of "
            f"{estimate.mass:.4g} kg would be a second: start from the recording as it was measured, or identify from "
            "this one what is left in it"
        )


def _not_in_it(before: FloatArray, after: FloatArray) -> list[Remark]:
    """A remark if the force (N, 3 of 6) changes more without the load than it did with it."""
    was, remains = (float(np.sqrt(np.mean(np.var(values[:, :3], axis=0)))) for values in (before, after))
    if remains <= WORSE * was:
        return []
    return [remark("load-not-in-wrench", before=was, after=remains)]

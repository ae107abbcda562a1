"""`problem_from_recording`: from what was recorded to what is to be solved."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array, block_means
from iparam.errors import ContradictionError, InputError, UnknownNameError
from iparam.estimation.corrections.problem_changes import changed_problem, without_columns, without_entries
from iparam.estimation.errors import IdentificationError
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.regressor_uncertainty import regressor_uncertainty
from iparam.estimation.payload.spikes import without_spikes
from iparam.motion.angle_samples import evenly_stamped
from iparam.motion.delay import AlignedMotion, align_motion
from iparam.motion.motion import MotionEstimate
from iparam.motion.orientation import OrientationMotion
from iparam.motion.sources import AccelerometerMotion, KalmanMotion, MotionSource, SetPointMotion, known_motion
from iparam.recording.recording import Recording
from iparam.recording.screening import GAP
from iparam.recording.signal import Signal
from iparam.recording.statements import are_poses, with_gravity
from iparam.recording.units import time_hint
from iparam.regressor.identifiability import PARAMETER_NAMES
from iparam.regressor.wrench import body_regressor
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.sensing.correction import Correction
from iparam.sensing.held_samples import without_repeats
from iparam.sensing.offset import offset_compensated_regressor, resting_regressor
from iparam.sensing.run_check import check_run
from iparam.sensing.saturation import saturated_entries
from iparam.sensing.wrench_source import Measures, SensorWrench, WrenchSource, weighed_wrench, wrench_remarks

Bias = Literal["estimate", "none", "zeroed"]
"""The sensor's bias: six more unknowns, none, or a sensor that was zeroed with the load on it in the first pose.

The zeroing took the mean of a few noisy samples, and its error is the same in all that follow, far above what their own
noise averages to. A zeroed sensor therefore has six more unknowns, too: that error. What the zeroing itself tells about
them is not used; on motions of 1.5 s and 10 s it would narrow no standard deviation by more than 1 %.
"""

LEAST_SAMPLES = 4

LONGEST_DELAY = 0.5
"""Between joint angles and wrench that is believed [s]."""
MOST_SAMPLES = 100_000
"""Samples from which on successive ones are averaged: the model is linear in the load, so it holds for means, too, and
they tell as much as long as the motion hardly changes within one."""

LONGEST_MEAN = 0.02
"""The longest time that a mean is taken over [s]: a fifth of a period of the fastest motion of an arm, 10 Hz."""

SHORTEST_GAP = 0.1
"""Time between samples of a motion from which on it is not known in between, if it is unusual, too [s]."""

SHORTEST_STRETCH = 0.25
"""Time between gaps below which the samples in between tell no acceleration [s]."""

_PART = 20_000  # samples whose regressors are held at a time


@dataclass(frozen=True, eq=False)
class PreparedRun:
    """A recording made ready to be solved.

    Attributes:
        problem: what is to be solved.
        recording: as it was used, with what was measured at the tool in the robot's tool frame.
        wrench: (T, 6) as it was used, all of it, in the tool frame [N, N m].
        aligned: the motion, in step with the wrench.
        gravity: (3,) in base axes, or those of the world [m/s^2].
        robot: the arm; None where the sensor's own orientation was recorded instead.
        measures: whose wrench the sensor was taken to report, see `SensorWrench`.
        compensated: what was wrong with the recording and is put right already: its slug, and a sentence.
        given: the correction that was applied to the recording.
    """

    problem: PayloadProblem
    recording: Recording
    wrench: Signal
    aligned: AlignedMotion
    gravity: FloatArray
    robot: Robot | None
    measures: Measures = "action"
    compensated: tuple[tuple[str, str], ...] = ()
    given: Correction = field(default_factory=Correction)


def problem_from_recording(recording: Recording, robot: Robot | None, **settings: Any) -> PayloadProblem:
    """The problem alone; the arguments are those of `prepare_run`."""
    return prepare_run(recording, robot, **settings).problem


def prepare_run(
    recording: Recording,
    robot: Robot | None,
    *,
    motion: MotionSource | MotionEstimate | None = None,
    wrench: WrenchSource | None = None,
    bias: Bias = "estimate",
    delay: float | None = None,
    wrench_covariance: ArrayLike | None = None,
    zero_pose: ArrayLike | None = None,
    instruments: bool = False,
    gravity: ArrayLike | None = None,
    correction: Correction | None = None,
) -> PreparedRun:
    """Stack the regressors and wrenches of a recording.

    Args:
        recording: with the wrench, and what the motion source needs.
        robot: the arm; None where the sensor's own orientation is recorded instead of joint angles.
        motion: where the motion comes from, or the motion itself; the Kalman smoother if not given, and without an arm
            `OrientationMotion`. A source that does not say how well it knows the motion is compared with the smoother,
            and what differs counts as its error.
        wrench: where the wrench comes from; the signal ``wrench`` if not given, without an arm with the sign that the
            weight shows.
        bias: what to do about the sensor's bias.
        delay: by how much the wrench lags behind the joint angles [s]; None compensates what the wrench shows clearly,
            a delay, or a low-pass of the angles or of the wrench (see `align_motion`); without an arm, nothing.
        wrench_covariance: (6, 6) of the noise of a wrench sample; None estimates it.
        zero_pose: (n,) where the sensor was zeroed, with ``bias="zeroed"``; the first pose if not given [rad].
        instruments: add regressors from the set points for instrumental variables, or, where the motion is that of the
            set points, from the smoothed angles.
        gravity: (3,) in base axes [m/s^2]; None for the recording's own, or 9.81 downwards.
        correction: what is to be put right in the recording; its values must be known.
    """
    if bias not in ("estimate", "none", "zeroed"):
        raise UnknownNameError("treatment of the bias", bias, ("estimate", "none", "zeroed"), argument="bias")
    correction = Correction() if correction is None else correction
    original, clock = recording, correction.clock if isinstance(correction.clock, float) else 1.0
    recording, wrench, delay = _corrected(recording, robot, correction, wrench, delay)
    given, correction = correction, correction.remaining()
    if delay is not None and not np.isfinite(delay):
        raise InputError(argument="delay", value=delay, expected="a finite time in s")
    if delay is not None and abs(delay) > LONGEST_DELAY:
        raise ContradictionError(
            f"a delay of {delay:g} s, and no sensor lags behind by more than {LONGEST_DELAY:g} s: is it in ms? It is "
            "given in s",
            argument="delay",
        )
    recording = with_gravity(recording, gravity)  # so that a source of motion that needs it finds the caller's
    checked = check_run(recording, robot)
    recording = checked.recording
    restamped: tuple[Remark, ...] = ()
    timed = robot is not None and not are_poses(recording)  # against joint angles, and not the numbers of rows
    if timed and not isinstance(motion, MotionEstimate):
        recording, restamped = evenly_stamped(recording)
    sign: list[Remark] = []
    if robot is None and wrench is None:
        wrench, sign = weighed_wrench(recording, checked.gravity)
    sensor = SensorWrench() if wrench is None else wrench
    measured = sensor.read(recording)
    if not are_poses(recording) and (hint := time_hint(measured.time)):
        raise ContradictionError(f"the wrench has {hint}. No arm's motion can be followed like that")
    source: MotionSource | MotionEstimate | None = motion
    if robot is None:
        whole = motion if isinstance(motion, MotionEstimate) else OrientationMotion().motion(recording)
    else:
        source = KalmanMotion() if motion is None else motion
        if instruments:  # whose errors are those of the set points
            source = _without_set_points(source)
        whole = source if isinstance(source, MotionEstimate) else known_motion(recording, robot, source)
    repeats: tuple[Remark, ...] = ()
    spikes: tuple[Remark, ...] = ()
    if not are_poses(recording):  # which are no neighbours of each other
        measured, repeats = without_repeats(measured, whole)
        measured, spikes = without_spikes(measured, whole, robot, checked.gravity)
    saturated, cut = _saturated(original, getattr(sensor, "signal", ""), measured, clock)
    if correction.low_pass is not None:
        measured = dataclasses.replace(measured, time=measured.time - (delay or 0.0))
        aligned = AlignedMotion(whole, correction.lag, filtered=True, order=correction.filter_order)
    elif delay is None and timed and robot is not None:
        aligned = align_motion(whole, measured, robot, checked.gravity)
    else:
        aligned = AlignedMotion(whole, delay or 0.0)
    known, lag_remarks = whole, aligned.remarks
    if aligned.motion is not whole:
        lag_remarks = tuple(one for one in aligned.motion.remarks if one not in whole.remarks)
    whole, delay = aligned.motion, aligned.delay
    inside, left_out = within_motion(whole, measured.time - delay, aligned.settling)
    found = int(np.count_nonzero(inside))
    if found < LEAST_SAMPLES:
        raise IdentificationError(
            f"only {found} wrench samples lie within the recorded motion; at least {LEAST_SAMPLES} "
            "are needed, and hundreds for a usable estimate"
        )
    size = averaged(measured.time[inside])
    count = found // size
    used = np.flatnonzero(inside)[: count * size]
    times = measured.time[used].reshape(count, size)
    middles = block_means(times.ravel(), size)
    offset = None
    if bias == "zeroed":
        offset = _zeroed(whole, robot, zero_pose, checked.gravity)

    def regressors(of: MotionEstimate) -> FloatArray:
        """Their means (count, 6, 10)."""
        means, each = np.empty((count, 6, NUM_PARAMETERS)), max(1, _PART // size)
        for start in range(0, count, each):
            part = times[start : start + each]
            matrices = dataclasses.replace(aligned, motion=of).regressor(part.ravel(), robot, checked.gravity)
            means[start : start + each] = block_means(matrices, size)
        found = means if offset is None else offset_compensated_regressor(means, offset)
        found.flags.writeable = False  # so that nobody needs a copy
        return found

    remarks = [
        *wrench_remarks(recording),
        *checked.remarks,
        *restamped,
        *sign,
        *whole.remarks,
        *repeats,
        *spikes,
        *cut,
        *aligned.remarks,
        *left_out,
    ]
    matrices = regressors(whole)
    second = regressors(_second_motion(recording, robot, source)) if instruments else None
    if second is not None and np.array_equal(second, matrices):
        raise IdentificationError(
            "the instruments are the regressors themselves, so instrumental variables would be least squares: give the "
            "motion's source instead of its values, or take it from the measured angles"
        )
    covariance = None if wrench_covariance is None else as_float_array(wrench_covariance, "wrench_covariance") / size
    problem = PayloadProblem(
        A=matrices,
        y=block_means(measured.values[used], size),
        time=middles,
        bias=bias != "none",
        wrench_covariance=covariance,
        uncertainty=regressor_uncertainty(robot, whole, checked.gravity, middles - delay),
        hidden=PARAMETER_NAMES[4:] if whole.quasi_static else (),
        instruments=second,
        averaged=size,
        delay_deviation=aligned.standard_deviation,
        remarks=tuple(remarks),
    )
    if correction.wrench_frame == "tcp" and robot is not None:
        problem = without_columns(problem, _taken_out(robot, whole.at(middles - delay).q, checked.gravity))
    problem = without_entries(changed_problem(problem, correction), _any_of(saturated[used], size))
    measures: Measures = given.measures or getattr(sensor, "measures", None) or "action"
    lag = "low-pass" if aligned.filtered or aligned.motion is not known else "delay"
    compensated = (
        *(("held-samples", one.message) for one in repeats),
        *(("outliers", one.message) for one in spikes),
        *(("saturation", one.message) for one in cut),
        *((lag, one.message) for one in lag_remarks),
    )
    return PreparedRun(problem, recording, measured, aligned, checked.gravity, robot, measures, compensated, given)


def _corrected(
    recording: Recording,
    robot: Robot | None,
    correction: Correction,
    wrench: WrenchSource | None,
    delay: float | None,
) -> tuple[Recording, WrenchSource | None, float | None]:
    """The recording put right, and how its wrench is read and delayed."""
    open_ones = [name for name in correction.estimated if name != "delay"]
    if open_ones:
        raise InputError(
            argument=open_ones[0],
            problem="can only be estimated by identify_payload, along with the load: give the value that it found",
        )
    if wrench is not None and correction.measures is not None:
        raise InputError(
            "a source of the wrench says itself what it measures: leave that out of the correction", argument="measures"
        )
    late = correction.delay if isinstance(correction.delay, float) else None
    if delay is not None and late is not None:
        raise InputError(
            f"the delay is given twice, {delay:g} s and {late:g} s in the correction: leave one out", argument="delay"
        )
    source = correction.wrench_source if wrench is None else wrench
    return correction.applied(recording, robot), source, late if delay is None else delay


def _saturated(
    original: Recording, name: str, measured: Signal, clock: float
) -> tuple[NDArray[np.bool_], tuple[Remark, ...]]:
    """(T, 6) which entries of a wrench, as it is used, are of channels at their limit, and a remark about them.

    Args:
        original: the recording as it was made: no other shows the limits of its channels.
        name: of its wrench; "" for one that no sensor measured.
        measured: what became of its wrench; where channels were mixed, a sample with one at its limit is lost.
        clock: true seconds in one of the original's.
    """
    if not name or not original.has(name):
        return np.zeros(measured.values.shape, dtype=bool), ()
    raw = original.signal(name)
    rows = np.searchsorted(0.5 * clock * (raw.time[1:] + raw.time[:-1]), measured.time)
    shown = dataclasses.replace(raw, time=measured.time, values=raw.values[rows])
    found, said = saturated_entries(shown)
    if said and not np.array_equal(np.abs(shown.values), np.abs(measured.values)):
        found = np.repeat(found.any(axis=1, keepdims=True), 6, axis=1)
    return found, said


def _any_of(entries: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """(T / size, 6) whether any of so many successive entries (T, 6) is."""
    return np.asarray(entries.reshape(-1, size, 6).any(axis=1))


def _zeroed(
    motion: MotionEstimate, robot: Robot | None, zero_pose: ArrayLike | None, gravity: FloatArray
) -> FloatArray:
    """The regressor (6, 10) at rest in the pose in which the sensor was zeroed."""
    if robot is not None:
        pose = motion.q[0] if zero_pose is None else as_float_array(zero_pose, "zero_pose", (robot.num_joints,))
        return resting_regressor(robot, pose, gravity)
    if zero_pose is not None or motion.orientation is None:
        raise InputError(
            argument="zero_pose",
            problem="are joint angles: without an arm, the sensor is taken to be zeroed as it first was",
        )
    still = np.zeros((1, 3))
    return np.asarray(body_regressor(still, still, -(motion.orientation[:1].transpose(0, 2, 1) @ gravity))[0])


def _taken_out(robot: Robot, q: FloatArray, gravity: FloatArray) -> FloatArray:
    """(N, 6, 9) what a controller that turns a wrench into base axes may take out of it, in tool axes at angles (N, n):
    an offset in base axes, and any weight, whose force is a part of that.
    """
    back = np.swapaxes(forward_kinematics(robot, q)[:, :3, :3], 1, 2)
    still = np.zeros((len(q), 3))
    columns = np.zeros((len(q), 6, 9))
    columns[:, :3, :3] = columns[:, 3:, 3:6] = back
    columns[:, :, 6:] = body_regressor(still, still, -(back @ gravity))[:, :, 1:4]
    return columns


def averaged(times: FloatArray) -> int:
    """How many successive samples to take the mean of."""
    within = int(LONGEST_MEAN / float(np.median(np.diff(times))) + 0.01)
    return max(1, min(-(-times.size // MOST_SAMPLES), within))


def within_motion(
    motion: MotionEstimate, times: FloatArray, settling: float = 0.0
) -> tuple[NDArray[np.bool_], list[Remark]]:
    """Which of the wrench's times (N,) [s] a motion covers, and a remark about each kind of those that it does not.

    It covers none in a gap of its own samples: what an arm did in there, no curve through its ends tells. Nor any
    within ``settling`` [s] of its start: what was before it lasts that long in a filter.
    """
    inside = (times >= motion.time[0] + settling) & (times <= motion.time[-1])
    remarks = []
    if outside := times.size - int(np.count_nonzero(inside)):
        remarks.append(remark("wrench-outside-motion", count=outside))
    steps = np.diff(motion.time)
    wide = np.flatnonzero(steps > max(GAP * float(np.median(steps)), SHORTEST_GAP))
    starts, ends = motion.time[[0, *(wide + 1)]], motion.time[[*wide, -1]]
    covered = np.zeros(times.size, dtype=bool)
    short = 0
    for start, end in zip(starts, ends, strict=True):
        stretch = slice(np.searchsorted(times, start), np.searchsorted(times, end, "right"))
        if wide.size == 0 or end - start >= SHORTEST_STRETCH:
            covered[stretch] = True
        else:
            short += stretch.stop - stretch.start
    if lost := int(np.count_nonzero(inside & ~covered)) - short:
        remarks.append(remark("wrench-in-motion-gaps", count=lost))
    if short:
        remarks.append(remark("wrench-between-gaps", count=short, seconds=SHORTEST_STRETCH))
    inside &= covered
    return inside, remarks


def _without_set_points(source: MotionSource | MotionEstimate) -> MotionSource | MotionEstimate:
    """The source without what set points would add to measured angles."""
    if isinstance(source, AccelerometerMotion):
        joints = _without_set_points(source.joints)
        return source if isinstance(joints, MotionEstimate) else dataclasses.replace(source, joints=joints)
    return dataclasses.replace(source, angles_alone=True) if isinstance(source, KalmanMotion) else source


def _second_motion(recording: Recording, robot: Robot | None, first: object) -> MotionEstimate:
    """A motion whose errors are not those of the first: the set points, or for these the smoothed angles."""
    if robot is None:
        raise IdentificationError("instrumental variables (riv) need the set points of an arm: use another method")
    while isinstance(first, AccelerometerMotion):
        first = first.joints
    if isinstance(first, SetPointMotion) and recording.has("q"):
        return KalmanMotion(angles_alone=True).motion(recording, robot)
    if isinstance(first, SetPointMotion) or not recording.has("target_q"):
        missing = "q" if isinstance(first, SetPointMotion) else "target_q"
        raise IdentificationError(
            "instrumental variables (riv) need the motion twice, with errors that are independent: as measured (q) and "
            f"as commanded (target_q). This recording has no {missing}: record it too, or use another method, such as "
            "consistent or tls"
        )
    return SetPointMotion().motion(recording, robot)

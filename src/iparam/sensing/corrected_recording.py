"""`corrected_recording`: the signals of a recording with a `Correction` applied."""

from __future__ import annotations

import dataclasses

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.orientation import read_otherwise
from iparam.recording.channels import default_frame
from iparam.recording.followers import followed_again, with_followers
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.statements import FRAME_KEYS
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.sensing.correction import ESTIMATE, Correction
from iparam.sensing.held_samples import frozen_stretches
from iparam.sensing.sensor_frame import in_tool_frame
from iparam.sensing.wrench_source import SIGN_DOUBTED, BaseFrameWrench

STEEP = 0.5
"""Change of a delay per time from which on it jumps: no clock is that wrong."""

_POSITIONS = ("q", "target_q")


def corrected_recording(given: Correction, recording: Recording, robot: Robot | None) -> Recording:
    """See `Correction.applied`."""
    recording = _with_joints(given, _without_intervals(given, with_followers(recording, robot)), robot)
    if given.orientation_columns is not None:
        recording = read_otherwise(recording, given.orientation_columns)
    if recording.has("wrench") and given.delays:
        recording = recording.with_signal("wrench", _in_time(given, recording.signal("wrench")))
    if recording.has("wrench") and _changes_wrench(given):
        recording = _with_wrench(given, recording, robot)
    if given.gravity not in (None, ESTIMATE):
        recording = recording.with_metadata(gravity=list(given.gravity or ()))
    if given.clock not in (None, ESTIMATE):
        factor = float(given.clock or 1.0)
        signals = {
            name: dataclasses.replace(signal, time=factor * signal.time) for name, signal in recording.signals.items()
        }
        recording = dataclasses.replace(recording, signals=signals)
    return recording


def _changes_wrench(given: Correction) -> bool:
    values = (given.sensor_rotation, given.sensor_offset, given.wrench_axes, given.wrench_scale, given.external_force)
    turned = given.wrench_frame not in (None, "tool") or given.measures == "reaction"
    return turned or given.high_pass is not None or any(value not in (None, ESTIMATE) for value in values)


def _without_intervals(given: Correction, recording: Recording) -> Recording:
    if not given.exclude or not recording.has("wrench"):
        return recording
    wrench = recording.signal("wrench")
    kept = np.ones(wrench.num_samples, dtype=bool)
    for start, stop in given.exclude:
        inside = (wrench.time >= start) & (wrench.time <= stop)
        if not inside.any():
            raise InputError(
                argument="exclude",
                problem=(
                    f"{start:g} {stop:g} leaves nothing out: the wrench is from {wrench.time[0]:g} to "
                    f"{wrench.time[-1]:g} s"
                ),
            )
        kept &= ~inside
    if not kept.any():
        raise InputError(argument="exclude", problem=f"leaves none of the {wrench.num_samples} samples of the wrench")
    part = dataclasses.replace(wrench, time=wrench.time[kept], values=wrench.values[kept])
    return _without_frozen_angles(given, recording.with_signal("wrench", part))


def _without_frozen_angles(given: Correction, recording: Recording) -> Recording:
    """The recording without the angles of an excluded time in which one of them stands still while others move: where
    it goes on, the joint would have jumped.
    """
    if not recording.has("q"):
        return recording
    angles = recording.signal("q")
    kept = np.ones(angles.num_samples, dtype=bool)
    for _, first, last in frozen_stretches(angles):
        if any(start <= first and last <= stop for start, stop in given.exclude):
            kept &= (angles.time <= first) | (angles.time > last)
    if kept.all():
        return recording
    return recording.with_signal("q", dataclasses.replace(angles, time=angles.time[kept], values=angles.values[kept]))


def _with_joints(given: Correction, recording: Recording, robot: Robot | None) -> Recording:
    offset = None if given.joint_offset == ESTIMATE else given.joint_offset
    if offset is None and given.joint_order is None and given.joint_sign is None:
        return recording
    count = recording.num_joints if robot is None else robot.num_joints
    for name in ("joint_offset", "joint_order", "joint_sign"):
        value = getattr(given, name)
        if value not in (None, ESTIMATE) and len(value) != count:
            raise InputError(
                argument=name, problem=f"must have one number for each of the {count} joints, got {len(value)}"
            )
    order = list(given.joint_order or range(count))
    sign = np.array(given.joint_sign or [1] * count, dtype=np.float64)
    zero = np.radians(np.zeros(count) if offset is None else np.asarray(offset, dtype=np.float64))
    signals = dict(recording.signals)
    for name, signal in recording.signals.items():
        if default_frame(name) == "joint" and signal.width == count:
            values = sign * signal.values[:, order] + (zero if name in _POSITIONS else 0.0)
            signals[name] = dataclasses.replace(signal, values=values)
    return followed_again(dataclasses.replace(recording, signals=signals), robot)


def _with_wrench(given: Correction, recording: Recording, robot: Robot | None) -> Recording:
    if robot is not None and given.wrench_frame is None:
        recording, _ = in_tool_frame(recording, robot)
    signal = recording.signal("wrench")
    values = signal.values @ given.wrench_matrix().T
    if given.high_pass is not None:
        steps = 0.5 * (values[1:] + values[:-1]) * np.diff(signal.time)[:, None]
        values[1:] += 2.0 * np.pi * given.high_pass * np.cumsum(steps, axis=0)
    if given.wrench_frame not in (None, "tool"):
        if robot is None:
            raise InputError(
                "a wrench in base axes needs the joint angles of an arm, and this recording has none",
                argument="wrench_frame",
            )
        base = recording.with_signal("wrench", Signal(signal.time, values, signal.unit, "base"))
        signal = BaseFrameWrench(robot).read(base)
        of_tool = {"forces-base": slice(3, 6), "torques-base": slice(3)}.get(str(given.wrench_frame), slice(0))
        recorded, values = values[np.searchsorted(base.signal("wrench").time, signal.time)], np.array(signal.values)
        values[:, of_tool] = recorded[:, of_tool]
    values = values @ given.frame_matrix().T
    if given.external_force not in (None, ESTIMATE):
        values = values + _pull(given, recording, robot, signal.time)
    frame = signal.frame if robot is None else robot.tool_frame
    stated = {key: value for key, value in recording.metadata.items() if key not in FRAME_KEYS}
    if robot is not None:
        recording = dataclasses.replace(recording, metadata={**stated, "tool_frame": robot.tool_frame})
    if given.measures == "reaction":  # so what was doubted is put right
        kept = tuple(one for one in recording.remarks if one.code not in SIGN_DOUBTED)
        recording = dataclasses.replace(recording, remarks=kept)
    return recording.with_signal("wrench", Signal(signal.time, values, signal.unit, frame))


def _in_time(given: Correction, wrench: Signal) -> Signal:
    """The wrench at the times that it belongs to; what comes a second time is left out, and what is within a jump."""
    times, delays = np.transpose(given.delays)
    time = wrench.time - np.interp(wrench.time, times, delays)
    jumps = np.flatnonzero(np.abs(np.diff(delays)) > STEEP * np.diff(times))
    sure = np.ones(time.size, dtype=bool)
    for at in jumps:
        sure &= (wrench.time <= times[at]) | (wrench.time >= times[at + 1])
    time, values = time[sure], wrench.values[sure]
    kept = np.append(True, time[1:] > np.maximum.accumulate(time)[:-1])
    return dataclasses.replace(wrench, time=time[kept], values=values[kept])


def _pull(given: Correction, recording: Recording, robot: Robot | None, times: FloatArray) -> FloatArray:
    """(T, 6) by which the arm's wrench falls short of the load's, since the force takes a part of it."""
    if robot is None or not recording.has("q"):
        raise InputError(
            argument="external_force", problem="is in base axes and needs the joint angles of an arm: record them"
        )
    angles = recording.signal("q")
    late = given.delay if isinstance(given.delay, float) else 0.0
    q = np.column_stack([np.interp(times - late, angles.time, column) for column in angles.values.T])
    turns = forward_kinematics(robot, q)[:, :3, :3]
    pull = np.zeros(6)
    pull[: len(given.external_force or ())] = given.external_force
    force = np.einsum("tji,j->ti", turns, pull[:3])
    return np.concatenate([force, np.cross(pull[3:], force)], axis=1)

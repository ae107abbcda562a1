"""`check_run`: what a recording says about itself, against what it is about to be computed with."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.orientation import tells_orientation, world_gravity
from iparam.recording.followers import with_followers
from iparam.recording.recording import Recording
from iparam.recording.screening import turns_taken_out
from iparam.recording.statements import (
    are_poses,
    compensation_remarks,
    gravity_remarks,
    recorded_gravity,
    tool_frame,
)
from iparam.recording.units import LARGEST_FORCE
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import tool_motion
from iparam.robot.loading import StatedArm, load_stated_robot, stated_name
from iparam.robot.model import Robot
from iparam.robot.plausibility import LONG
from iparam.robot.same_arm import check_same_arm
from iparam.sensing.sensor_frame import in_tool_frame

CLEAR_GRAVITY = 3.0
"""Difference between the gravity that an accelerometer shows and that of the model that is told [m/s^2]."""

_MOST_SAMPLES, _LEAST_SAMPLES = 1000, 20
_LEAST_FORCE = 1.0  # N; what changes less is noise


@dataclass(frozen=True, eq=False)
class CheckedRun:
    """What all agree on.

    Attributes:
        recording: the same, with the angles of all joints and what was measured at the tool in the robot's tool frame.
        gravity: (3,) in base axes [m/s^2].
        remarks: what a reader should know.
    """

    recording: Recording
    gravity: FloatArray
    remarks: tuple[Remark, ...]


def check_run(
    recording: Recording, robot: Robot | None, gravity: ArrayLike | None = None, *, uses_wrench: bool = True
) -> CheckedRun:
    """Refuse a recording of another arm or under another gravity than is computed with.

    What was measured in another frame that is fixed to the tool is turned into the tool frame; else it is refused.

    Args:
        recording: that is to be used.
        robot: the arm that is computed with; None where the sensor's own orientation is recorded instead.
        gravity: (3,) in base axes [m/s^2]; None for the recording's own, or 9.81 downwards.
        uses_wrench: whether its frame, and what was taken out of it, matter.
    """
    if robot is None:
        return _check_sensor_run(recording, gravity)
    recording, agreed = with_followers(recording, robot), recorded_gravity(recording, gravity)
    jumping: list[Remark] = []
    if not are_poses(recording):
        signals, jumping = turns_taken_out(recording.signals, robot)
        recording = dataclasses.replace(recording, signals=signals) if jumping else recording
    remarks = [*check_same_arm(recording.robot, robot), *gravity_remarks(agreed), *jumping]
    turned: list[Remark] = []
    if uses_wrench:
        recording, turned = in_tool_frame(recording, robot)
    remarks += [*_accelerometer_remarks(recording, robot, agreed), *turned]
    if uses_wrench:
        remarks += [*compensation_remarks(recording), *_lever_remarks(recording, robot)]
    return CheckedRun(recording, agreed, tuple(remarks))


def moves_without_arm(recording: Recording) -> bool:
    """Whether a recording tells how the sensor moved, and has no joint angles."""
    return not recording.has("q") and not recording.has("target_q") and tells_orientation(recording)


def _check_sensor_run(recording: Recording, gravity: ArrayLike | None) -> CheckedRun:
    """What a recording without an arm says of gravity, and which of its columns were not used."""
    agreed = world_gravity(recording, gravity)
    remarks = [*gravity_remarks(agreed), *compensation_remarks(recording)]
    if are_poses(recording) and recording.has("accelerometer"):
        remarks.append(remark("accelerometer-not-needed"))
    return CheckedRun(recording, agreed, tuple(remarks))


def recorded_robot(
    recording: Recording,
    robot: str | None = None,
    tip: str | None = None,
    base: str | None = None,
    lock: Mapping[str, float] | None = None,
    file: str | os.PathLike[str] = "the recording",
) -> Robot:
    """The arm of a recording, with its tool frame and base if it names some that the arm has.

    Args:
        recording: that may name both; its robot by a known name, a path is not followed.
        robot: name, or path of a URDF, instead of the recording's.
        tip, base: tool frame and base instead of the recording's.
        lock: positions of joints that are not the arm's; see `load_robot`.
        file: of the recording, for messages.
    """
    if not (robot or recording.robot):
        raise InputError("the recording does not say which robot it belongs to: name it", argument="robot")
    name = robot or stated_name(recording.robot, file)
    # `check_run` compares the frames
    return load_stated_robot(name, StatedArm.from_document(recording.metadata), tip, base, lock)


def with_told_frame(recording: Recording, robot: Robot, tip: str | None) -> Recording:
    """The recording with ``tip`` for its tool frame, if it names one that the robot does not have.

    The name cannot be compared with anything, and whoever gives the tip says what the frame is.
    """
    stated = tool_frame(recording.metadata)
    if tip is None or not stated or stated in robot.frames:
        return recording
    said = remark("tool-frame-unknown", stated=stated, robot=robot.name, tip=tip)
    signals = {
        name: dataclasses.replace(signal, frame=tip) if signal.frame == stated else signal
        for name, signal in recording.signals.items()
    }
    told = dataclasses.replace(recording, signals=signals)
    return told.with_metadata(tool_frame=tip).with_remarks(said)


def _accelerometer_remarks(recording: Recording, robot: Robot, gravity: FloatArray) -> list[Remark]:
    """A remark if an accelerometer shows another gravity: over a run, the arm's own acceleration averages out."""
    if not (recording.has("accelerometer") and recording.has("q")):
        return []
    measured, angles = recording.signal("accelerometer"), recording.signal("q")
    rows = np.flatnonzero((measured.time >= angles.time[0]) & (measured.time <= angles.time[-1]))
    rows = rows[:: max(1, rows.size // _MOST_SAMPLES)]
    if angles.width != robot.num_joints or rows.size < _LEAST_SAMPLES:
        return []
    q = np.column_stack([np.interp(measured.time[rows], angles.time, column) for column in angles.values.T])
    # Not forward_kinematics: this kernel is compiled for the regressor in any case.
    turns = tool_motion(robot, q, 0.0 * q, 0.0 * q).pose[:, :3, :3]
    shown = -np.einsum("tij,tj->ti", turns, measured.values[rows]).mean(axis=0)
    if np.linalg.norm(shown - gravity) <= CLEAR_GRAVITY:
        return []
    return [
        remark(
            "accelerometer-shows-other-gravity",
            shown=np.round(shown, 1).tolist(),
            gravity=np.round(gravity, 2).tolist(),
            frame=robot.tool_frame,
        )
    ]


def _lever_remarks(recording: Recording, robot: Robot) -> list[Remark]:
    """A remark if the torques are those of no lever that the arm could hold, or the forces of no weight."""
    if not recording.has("wrench") or recording.signal("wrench").width != 6:
        return []
    values = recording.signal("wrench").values
    largest = float(np.abs(values[:, :3]).max())
    if largest > LARGEST_FORCE:
        return [remark("forces-too-large", largest=largest)]
    # Changes, because a bias has no lever.
    force, torque = (float(np.sqrt(np.mean(np.var(values[:, part], axis=0)))) for part in (slice(3), slice(3, 6)))
    lever = torque / max(force, _LEAST_FORCE)
    if not lever > LONG * robot.reach > 0.0:
        return []
    return [remark("lever-too-long", torque=torque, force=force, lever=lever, robot=robot.name, reach=robot.reach)]

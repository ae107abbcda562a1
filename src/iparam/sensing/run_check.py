"""`check_run`: what a recording says about itself, against what it is about to be computed with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError, IparamError
from iparam.motion.orientation import tells_orientation, world_gravity
from iparam.recording.channels import CHANNELS
from iparam.recording.recording import Recording
from iparam.recording.statements import (
    are_poses,
    compensation_remarks,
    gravity_remarks,
    recorded_gravity,
    stated_frames,
)
from iparam.recording.units import LARGEST_FORCE
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.loading import load_stated_robot
from iparam.robot.model import Robot
from iparam.robot.plausibility import LONG
from iparam.robot.same_arm import check_same_arm
from iparam.sensing.sensor_frame import FIXED_FRAMES, NEAR, rigid_frames

CLEAR_GRAVITY = 3.0
"""Difference between the gravity that an accelerometer shows and that of the model that is told [m/s^2]."""

_MOST_SAMPLES, _LEAST_SAMPLES = 1000, 20
_LEAST_FORCE = 1.0  # N; what changes less is noise


@dataclass(frozen=True, eq=False)
class CheckedRun:
    """What all agree on.

    Attributes:
        gravity: (3,) in base axes [m/s^2].
        remarks: what a reader should know, one sentence each.
    """

    gravity: FloatArray
    remarks: tuple[str, ...]


def check_run(
    recording: Recording, robot: Robot | None, gravity: ArrayLike | None = None, *, uses_wrench: bool = True
) -> CheckedRun:
    """Refuse a recording of another arm, of another tool frame or under another gravity than is computed with.

    Args:
        recording: that is to be used.
        robot: the arm that is computed with; None where the sensor's own orientation is recorded instead.
        gravity: (3,) in base axes [m/s^2]; None for the recording's own, or 9.81 downwards.
        uses_wrench: whether its frame, and what was taken out of it, matter.
    """
    if robot is None:
        return _check_sensor_run(recording, gravity)
    agreed = recorded_gravity(recording, gravity)
    remarks = [
        *check_same_arm(recording.robot, robot),
        *gravity_remarks(agreed),
        *_accelerometer_remarks(recording, robot, agreed),
    ]
    if uses_wrench:
        remarks += [
            *_check_frames(recording, robot),
            *compensation_remarks(recording),
            *_lever_remarks(recording, robot),
        ]
    return CheckedRun(agreed, tuple(remarks))


def moves_without_arm(recording: Recording) -> bool:
    """Whether a recording tells how the sensor moved, and has no joint angles."""
    return not recording.has("q") and not recording.has("target_q") and tells_orientation(recording)


def _check_sensor_run(recording: Recording, gravity: ArrayLike | None) -> CheckedRun:
    """What a recording without an arm says of gravity, and which of its columns were not used."""
    agreed = world_gravity(recording, gravity)
    remarks = [*gravity_remarks(agreed), *compensation_remarks(recording)]
    if are_poses(recording) and recording.has("accelerometer"):
        remarks.append("the accelerometer (ax, ay, az) was not used: poses at rest need none")
    return CheckedRun(agreed, tuple(remarks))


def recorded_robot(recording: Recording, robot: str | None = None, tip: str | None = None) -> Robot:
    """The arm of a recording, with its tool frame if it names one that the arm has.

    Args:
        recording: that may name both.
        robot: name, or path of a URDF, instead of the recording's.
        tip: tool frame instead of the recording's.
    """
    name = robot or recording.robot
    if not name:
        raise InputError("the recording does not say which robot it belongs to: name it (--robot)")
    try:  # `check_run` compares the frames
        return load_stated_robot(name, tip, recording.metadata.get("tool_frame"))
    except IparamError as error:
        if robot:
            raise
        raise InputError(f"the recording belongs to {name!r}. {error}. Say which robot that is (--robot)") from error


def _accelerometer_remarks(recording: Recording, robot: Robot, gravity: FloatArray) -> list[str]:
    """A sentence if an accelerometer shows another gravity: over a run, the arm's own acceleration averages out."""
    if not (recording.has("accelerometer") and recording.has("q")):
        return []
    measured, angles = recording.signal("accelerometer"), recording.signal("q")
    rows = np.flatnonzero((measured.time >= angles.time[0]) & (measured.time <= angles.time[-1]))
    rows = rows[:: max(1, rows.size // _MOST_SAMPLES)]
    if angles.width != robot.num_joints or rows.size < _LEAST_SAMPLES:
        return []
    q = np.column_stack([np.interp(measured.time[rows], angles.time, column) for column in angles.values.T])
    turns = forward_kinematics(robot, q)[:, :3, :3]
    shown = -np.einsum("tij,tj->ti", turns, measured.values[rows]).mean(axis=0)
    if np.linalg.norm(shown - gravity) <= CLEAR_GRAVITY:
        return []
    sentence = (
        f"the accelerometer shows a gravity of {np.round(shown, 1).tolist()} m/s^2 in the axes of the base, and "
        f"{np.round(gravity, 2).tolist()} was computed with: is the arm mounted in another way, or the sensor in "
        f"another frame than {robot.tool_frame}?"
    )
    return [sentence]


def _lever_remarks(recording: Recording, robot: Robot) -> list[str]:
    """A sentence if the torques are those of no lever that the arm could hold, or the forces of no weight."""
    if not recording.has("wrench") or recording.signal("wrench").width != 6:
        return []
    values = recording.signal("wrench").values
    largest = float(np.abs(values[:, :3]).max())
    if largest > LARGEST_FORCE:
        return [f"the forces reach {largest:.4g} N, which no wrist bears: are they in mN?"]
    # Changes, because a bias has no lever.
    force, torque = (float(np.sqrt(np.mean(np.var(values[:, part], axis=0)))) for part in (slice(3), slice(3, 6)))
    lever = torque / max(force, _LEAST_FORCE)
    if not lever > LONG * robot.reach > 0.0:
        return []
    sentence = (
        f"the torques change by {torque:.3g} N m, the forces by {force:.3g} N: a lever of {lever:.3g} m, and "
        f"{robot.name} reaches {robot.reach:.3g} m. Are the torques in N mm?"
    )
    return [sentence]


def _check_frames(recording: Recording, robot: Robot) -> list[str]:
    """Refuse a wrench in another frame than the tool's; a sentence about a tool frame that cannot be compared."""
    stated = {f"the metadata ({key})": frame for key, frame in stated_frames(recording.metadata).items()}
    if recording.has("wrench"):
        label = recording.signal("wrench").frame
        # The channel's own name stands for the tool frame of any arm; a wrench in base axes has a source of its own.
        if label not in ("", CHANNELS["wrench"].frame, CHANNELS["tcp_force"].frame):
            stated["its signal"] = label
    remarks = []
    for where, frame in stated.items():
        if frame == robot.tool_frame:
            continue
        rigid = rigid_frames(robot)
        if frame in rigid:
            _require_near(frame, rigid[frame], robot, where)
        elif where == "the metadata (tool_frame)" and frame not in (*FIXED_FRAMES, robot.base_frame):
            if frame != CHANNELS["wrench"].frame:
                remarks.append(
                    f"the recording's tool frame {frame!r} is not in the model of {robot.name}: {robot.tool_frame} was "
                    "taken for it"
                )
        else:
            raise ContradictionError(
                f"the wrench is in the frame {frame!r} by {where}, and is needed in the tool frame, "
                f"{robot.tool_frame!r}: {_way_out(frame, robot)}; if it is in {robot.tool_frame}, correct the recording"
            )
    own = CHANNELS["wrench"].frame
    if own in robot.frames and robot.tool_frame != own and recording.metadata.get("tool_frame") == robot.tool_frame:
        remarks.append(f"everything is in the frame {robot.tool_frame!r}, which the recording names as its tool frame")
    return remarks


def _require_near(frame: str, pose: FloatArray, robot: Robot, where: str) -> None:
    distance = float(np.linalg.norm(pose[:3, 3]))
    angle = float(np.arccos(np.clip(0.5 * (np.trace(pose[:3, :3]) - 1.0), -1.0, 1.0)))
    if distance > NEAR or np.abs(pose[:3, :3] - np.eye(3)).max() > NEAR:
        raise ContradictionError(
            f"the wrench is in the frame {frame!r} by {where}, and the tool frame of {robot.name} is "
            f"{robot.tool_frame!r}, {1e3 * distance:.4g} mm and {np.degrees(angle):.4g} deg from it: compute in the "
            f"frame of the wrench with tip={frame!r}"
        )


def _way_out(frame: str, robot: Robot) -> str:
    if frame in robot.frames or frame in FIXED_FRAMES:
        return f"{frame!r} does not move with the tool. Turn the wrench into the tool's axes (see BaseFrameWrench)"
    return (
        f"{robot.name} has no frame {frame!r}. Give a URDF that has it behind the last joint as the robot, with "
        f"tip={frame!r}"
    )

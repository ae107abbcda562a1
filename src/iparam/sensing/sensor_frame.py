"""From the frame that a sensor's messages name to the robot's tool frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, FileFormatError, UnknownNameError
from iparam.recording.channels import CHANNELS, TOOL, default_frame
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.statements import FRAME_KEYS, stated_frames
from iparam.remarks import Remark, remark
from iparam.robot.kinematics import frame_poses
from iparam.robot.model import Robot
from iparam.sensing.frame_tree import FrameTree
from iparam.spatial.transforms import inverse_transform, log_so3

BASE = "base"
"""In place of a frame: the tool's origin in the axes of the base."""

FIXED_FRAMES = ("base", "base_link", "world", "map")
NEAR = 1e-6
"""Distance [m] and angle [rad] up to which two frames are one."""

_WHOLE = "the metadata (tool_frame)"  # says it of all signals
_ROUNDING = 1e-9  # m and 1: of a description's numbers


@dataclass(frozen=True, eq=False)
class SensorFrame:
    """Where a sensor is.

    Attributes:
        name: of the frame, or "base".
        pose: (4, 4) T_tool_sensor [m]; None for "base".
        remark: about how it was found; None if there is nothing to say.
    """

    name: str
    pose: FloatArray | None
    remark: Remark | None = None

    def wrench_in_tool(self, values: FloatArray) -> FloatArray:
        """Forces and torques (T, 6) at the sensor, as forces and torques about the tool's origin in its axes."""
        if self.pose is None or _is_identity(self.pose):
            return values
        force, torque = (values[:, part] @ self.pose[:3, :3].T for part in (slice(3), slice(3, 6)))
        return np.concatenate([force, torque + np.cross(self.pose[:3, 3], force)], axis=1)

    def vectors_in_tool(self, values: FloatArray) -> FloatArray:
        """Vectors (T, 3) in sensor axes, in tool axes."""
        if self.pose is None or _is_identity(self.pose):
            return values
        return np.asarray(values @ self.pose[:3, :3].T)

    @property
    def distance(self) -> float:
        """From the tool's origin to the sensor's [m]."""
        return 0.0 if self.pose is None else float(np.linalg.norm(self.pose[:3, 3]))


def sensor_frame(
    frames: Mapping[str, int],
    told: str | None,
    robot: Robot,
    prefix: str,
    topic: str,
    argument: str,
    base: bool,
    tree: FrameTree | None = None,
) -> SensorFrame:
    """Find where a sensor is.

    Args:
        frames: frame_id -> how many messages have it.
        told: the frame that the user says it is, None to believe the messages.
        robot: the arm.
        prefix: before the arm's names in the bag, "" if none.
        topic: for messages.
        argument: that sets ``told``.
        base: whether "base" may be told.
        tree: frames beside the robot's own, as TF has them.
    """
    rigid = rigid_frames(robot)
    names = sorted(frames, key=lambda name: -frames[name])
    if told is not None:
        if base and told in (BASE, robot.base_frame):
            return SensorFrame(BASE, None, _against(names, told, topic))
        if told not in rigid and (placed := _in_tree(told, robot, prefix, tree)) is not None:
            return SensorFrame(told, placed, _against(names, told, topic))
        if told not in rigid:
            raise UnknownNameError("sensor frame", told, [*rigid, *([BASE] if base else [])])
        return SensorFrame(told, rigid[told], _against(names, told, topic))
    if len(names) > 1:
        raise FileFormatError(
            f"{topic} changes its frame: {', '.join(repr(name) for name in names)}. Say which it is",
            argument=argument,
        )
    stated = names[0].lstrip("/")
    if not stated:
        said = remark("frame-unnamed", topic=topic, tool_frame=robot.tool_frame)
        return SensorFrame(robot.tool_frame, rigid[robot.tool_frame], said)
    for name in (stated, stated.removeprefix(prefix)):
        if name in rigid:
            return SensorFrame(name, rigid[name])
    placed = _in_tree(stated, robot, prefix, tree)
    if placed is not None:
        distance, angle = 1e3 * float(np.linalg.norm(placed[:3, 3])), np.degrees(rotation_angle(placed))
        place = f"{distance:.4g} mm and {angle:.4g} deg"
        said = remark("frame-placed", topic=topic, frame=stated, place=place, tool_frame=robot.tool_frame)
        return SensorFrame(stated, placed, said)
    known = ", ".join(rigid)
    others = {stated.removesuffix(name) for name in rigid if stated.endswith(name)} - {""}
    if prefix and others:
        other = min(others, key=len)
        raise FileFormatError(
            f"{topic} is in the frame {stated!r}, which is of an arm with the prefix {other!r}, and the joints are "
            f"those of {prefix!r}: choose the topic of that arm's own sensor, or the joints of the other",
            fix={"joint_prefix": other},
        )
    if stated.removeprefix(prefix) in (*FIXED_FRAMES, robot.base_frame):
        raise FileFormatError(
            f"{topic} is in the frame {stated!r}, which does not move with the tool. "
            + (f"If it is the wrench at the tool in the axes of the robot's base, say {BASE!r}; " if base else "")
            + f"if it is in truth in one of {known}, say which",
            argument=argument,
        )
    if stated in robot.frames:
        raise FileFormatError(
            f"{topic} is in the frame {stated!r}, which moves against {robot.tool_frame}: a sensor there does not "
            f"carry the load alone. If it is in truth in one of {known}, say which",
            argument=argument,
        )
    raise FileFormatError(
        f"{topic} is in the frame {stated!r}, which {robot.name} does not have. If it is one of {known}, say "
        "which; or give a URDF that has it, with the load behind it, as the robot",
        argument=argument,
    )


def _in_tree(frame: str, robot: Robot, prefix: str, tree: FrameTree | None) -> FloatArray | None:
    """(4, 4) T_tool_frame of a frame that is fixed to one of the arm's behind its last joint; None if it is to none."""
    if tree is None:
        return None
    rigid = rigid_frames(robot)
    known = {before + name: pose for before in ("", prefix) for name, pose in rigid.items()}
    moving = {before + name for before in ("", prefix) for name in robot.frames if name not in rigid}
    return tree.locate(frame, known, moving)


def rigid_frames(robot: Robot) -> dict[str, FloatArray]:
    """The frames behind the last joint, the tool's first: name -> (4, 4) T_tool_frame [m]."""
    poses = frame_poses(robot, np.zeros(robot.num_joints))
    tool = inverse_transform(poses[robot.tool_frame])
    found = {robot.tool_frame: np.eye(4)}
    for name, body in zip(robot.frames, robot.chain.frame_bodies, strict=True):
        if body == robot.num_joints and name != robot.tool_frame:
            found[name] = tool @ poses[name]
    return found


def same_place(frame: str, robot: Robot) -> bool:
    """Whether a frame is the robot's tool frame, by its name or because the two coincide; so is one without a name."""
    if frame in ("", robot.tool_frame):
        return True
    pose = rigid_frames(robot).get(frame)
    return pose is not None and bool(np.abs(pose - np.eye(4)).max() <= NEAR)


def stated_frame(recording: Recording, signal: str) -> tuple[str, str]:
    """The frame that a recording says a signal of the tool is in, and where it says so; "" if it does not.

    What is said of the signal itself comes before the tool frame of the whole recording. A wrench in base axes has a
    source of its own, and its frame here is "".
    """
    label = recording.signal(signal).frame if recording.has(signal) else ""
    if label == CHANNELS["tcp_force"].frame:
        return "", ""
    found = {f"the metadata ({key})": frame for key, frame in stated_frames(recording.metadata).items()}
    whole = found.pop(_WHOLE, "")
    if signal != "wrench":
        found = {}
    if label not in ("", TOOL):
        found["its signal"] = label
    if len(set(found.values())) > 1:
        said = " and ".join(f"{frame!r} by {where}" for where, frame in found.items())
        raise ContradictionError(f"{signal} is in the frame {said}: leave one of them in the recording")
    if not found and whole:
        found = {_WHOLE: whole}
    return next(((frame, where) for where, frame in found.items()), ("", ""))


def in_tool_frame(recording: Recording, robot: Robot) -> tuple[Recording, list[Remark]]:
    """The recording with all that it measures at the tool in the robot's tool frame, and a remark about each change.

    Frames behind the last joint can be exchanged: forces, torques and rates are turned, and torques are taken about the
    other origin. An accelerometer feels another acceleration there, and is left out unless the origins coincide.

    Raises:
        ContradictionError: a signal is in a frame that does not move with the tool, or that the robot does not have.
    """
    changed: dict[str, Signal] = {}
    remarks: list[Remark] = []
    dropped: list[str] = []
    for name in [name for name in recording.signals if default_frame(name) == TOOL]:
        frame, where = stated_frame(recording, name)
        if same_place(frame, robot):
            continue
        pose = rigid_frames(robot).get(frame)
        if pose is None:
            if name == "wrench":
                raise ContradictionError(_not_rigid(frame, where, robot))
            continue
        sensor, signal = SensorFrame(frame, pose), recording.signal(name)
        if name == "accelerometer" and sensor.distance > NEAR:
            dropped.append(name)
            remarks.append(
                remark(
                    "accelerometer-elsewhere",
                    frame=frame,
                    millimetres=1e3 * sensor.distance,
                    tool_frame=robot.tool_frame,
                )
            )
            continue
        turned = sensor.wrench_in_tool if signal.width == 6 else sensor.vectors_in_tool
        changed[name] = Signal(signal.time, turned(signal.values), signal.unit, robot.tool_frame)
        if name == "wrench":
            remarks.append(
                remark(
                    "wrench-transformed",
                    frame=frame,
                    millimetres=1e3 * sensor.distance,
                    degrees=float(np.degrees(rotation_angle(pose))),
                    tool_frame=robot.tool_frame,
                )
            )
    if not changed and not dropped:
        return recording, remarks
    kept = {name: changed.get(name, signal) for name, signal in recording.signals.items() if name not in dropped}
    stated = {key: value for key, value in recording.metadata.items() if key not in FRAME_KEYS}
    metadata = {**stated, "tool_frame": robot.tool_frame}
    return dataclasses.replace(recording, signals=kept, metadata=metadata), remarks


def _not_rigid(frame: str, where: str, robot: Robot) -> str:
    """Why a wrench cannot be turned into the tool frame, and the way out."""
    sentence = f"the wrench is in the frame {frame!r} by {where}, and is needed in the tool frame, {robot.tool_frame!r}"
    if frame in robot.frames or frame in FIXED_FRAMES:
        return (
            f"{sentence}: {frame!r} does not move with the tool. Turn the wrench into the tool's axes (see "
            f"BaseFrameWrench); if it is in {robot.tool_frame}, correct the recording"
        )
    sentence = (
        f"{sentence}: {robot.name} has no frame {frame!r}. Give a URDF that has it behind the last joint as the robot, "
        f"and {frame!r} as its tip"
    )
    if where == _WHOLE:
        return f"{sentence}; if it is another name for {robot.tool_frame!r}, say that {robot.tool_frame!r} is the tip"
    return f"{sentence}; if it is in {robot.tool_frame}, correct the recording"


def rotation_angle(pose: FloatArray) -> float:
    """Of a pose (4, 4) [rad]."""
    return float(np.linalg.norm(log_so3(pose[:3, :3])))


def _is_identity(pose: FloatArray) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() < _ROUNDING)


def _against(names: list[str], told: str, topic: str) -> Remark | None:
    others = [repr(name) for name in names if name.lstrip("/") != told and name]
    return remark("frame-contradicted", topic=topic, frame=", ".join(others), stated=told) if others else None

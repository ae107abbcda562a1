"""`JointReader` and `WrenchReader`: the robot's joints out of a joint state, which names them in any order, and a
measured wrench in the tool frame, from the frame that its message names, and back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import InputError, UnknownNameError
from iparam.robot.model import Robot
from iparam.sensing.frame_tree import FrameTree
from iparam.sensing.sensor_frame import SensorFrame, rigid_frames
from iparam.sensing.wrench_source import Measures
from iparam.spatial.transforms import inverse_transform, rotation_from_rpy, transform_from


class JointReader:
    """Finds the joints of a robot in messages.

    Args:
        robot: the arm.
        prefix: before the names of its joints in the messages, e.g. "left_".

    Attributes:
        names: of all joints, in the messages.
        driven: of those that follow no other: all that a driver need tell of, and can be told.
    """

    def __init__(self, robot: Robot, prefix: str = "") -> None:
        self.names = tuple(prefix + name for name in robot.joint_names)
        self.driven = tuple(self.names[joint] for joint in robot.free_joints)
        self._robot = robot
        self._known: dict[tuple[str, ...], NDArray[np.int64] | None] = {}

    def positions_and_velocities(
        self, names: Sequence[str], position: Sequence[float] | FloatArray, velocity: Sequence[float] | FloatArray
    ) -> tuple[FloatArray, FloatArray | None] | None:
        """Angles q (n,) and velocities dq (n,), None where there are none; None if the message is about other joints.

        A message without names counts if it has as many positions as the robot has joints, in the robot's order. Joints
        that follow others, and are not in it, are where those take them.
        """
        count = len(names) or len(self.names)
        columns = self._columns(tuple(names))
        if columns is None or len(position) != count:
            return None
        q = np.asarray(position, dtype=np.float64)[columns]
        dq = np.asarray(velocity, dtype=np.float64)[columns] if len(velocity) == count else None
        if len(columns) == len(self.names):
            return q, dq
        robot = self._robot
        return robot.with_followers(q), None if dq is None else robot.with_followers(dq, rates=True)

    def _columns(self, names: tuple[str, ...]) -> NDArray[np.int64] | None:
        if names not in self._known:
            if len(self._known) > 100:  # a publisher that invents names must not fill the memory
                self._known.clear()
            self._known[names] = self._find(names)
        return self._known[names]

    def _find(self, names: tuple[str, ...]) -> NDArray[np.int64] | None:
        if not names:
            return np.arange(len(self.names))
        wanted = self.names if set(self.names) <= set(names) else self.driven
        if len(set(names)) < len(names) or not set(wanted) <= set(names):
            return None
        return np.array([names.index(name) for name in wanted])


class UnknownFrameError(InputError):
    """A wrench is in a frame that the description of the robot does not have.

    Args:
        message: why it cannot be used.
        frame: its name in the message.
    """

    def __init__(self, message: str, frame: str) -> None:
        super().__init__(message)
        self.frame = frame


class WrenchReader:
    """Turns what a sensor reports into what the robot exerts on the payload, in tool axes about the tool's origin.

    The first message decides on the frame; the others have to name the same one.

    Args:
        robot: the arm.
        frame: in which the sensor is whatever its messages say; "" to believe them, and an empty name means the tool.
        measures: see `iparam.sensing.SensorWrench`.
        prefix: before the names of the robot's frames in the messages.
        rotation: (3,) roll, pitch and yaw of the sensor in the frame that it is in [deg].
        offset: (3,) its origin in that frame [m].
    """

    def __init__(
        self,
        robot: Robot,
        frame: str = "",
        measures: Measures = "action",
        prefix: str = "",
        *,
        rotation: Sequence[float] = (0.0, 0.0, 0.0),
        offset: Sequence[float] = (0.0, 0.0, 0.0),
    ) -> None:
        self._mounted = transform_from(rotation_from_rpy(np.radians(rotation)), np.asarray(offset))
        self._frames, self._prefix = rigid_frames(robot), prefix
        self._moving = [prefix + name for name in robot.frames if name not in self._frames]
        if frame and frame not in self._frames:
            raise UnknownNameError(
                "wrench_frame", frame, self._frames, hint="These move with the load.", argument="wrench_frame"
            )
        if measures not in ("action", "reaction"):
            raise UnknownNameError("measures", measures, ("action", "reaction"), argument="measures")
        self._tool, self._told = robot.tool_frame, frame
        self._sign = 1.0 if measures == "action" else -1.0
        self._named: str | None = None
        self._same = False  # as the messages have it already
        self._there = self._back = SensorFrame(self._tool, np.eye(4))

    @classmethod
    def from_parameters(cls, robot: Robot, values: Mapping[str, Any]) -> WrenchReader:
        """The reader that a node's parameters ask for; see `iparam.bridges.ros2.parameters`."""
        return cls(
            robot,
            values["wrench_frame"],
            values["measures"],
            values["joint_prefix"],
            rotation=values["sensor_rotation"],
            offset=values["sensor_offset"],
        )

    def to_tool(self, frame: str, wrench: FloatArray) -> FloatArray:
        """What the robot exerts on the payload (6,) [force, torque], in the tool frame.

        Args:
            frame: that the message names.
            wrench: (6,) that it has [N, N m].

        Raises:
            UnknownFrameError: if the description does not have the frame.
            InputError: if the frame is not one that moves with the load, or not that of the first message.
        """
        if frame != self._named:
            self._settle(frame)
        return wrench if self._same else np.asarray(self._sign * self._there.wrench_in_tool(wrench[None])[0])

    @property
    def in_tool(self) -> bool:
        """Whether the sensor's frame is taken to be the tool's own, as far as messages have told it."""
        pose = self._there.pose
        return self._named is not None and pose is not None and np.array_equal(pose, np.eye(4))

    def find(self, frame: str, tree: FrameTree) -> bool:
        """Look for a frame that the description does not have among transforms; whether it is known now."""
        known = {self._prefix + name: pose for name, pose in self._frames.items()}
        pose = tree.locate(frame, known, self._moving)
        if pose is None:
            return False
        self._frames[frame.lstrip("/")] = pose
        return True

    def from_tool(self, wrench: FloatArray) -> FloatArray:
        """The opposite of `to_tool`, in the frame of the messages."""
        return np.asarray(self._sign * self._back.wrench_in_tool(wrench[None])[0])

    def _settle(self, frame: str) -> None:
        if self._named is not None:
            raise InputError(
                f"the wrench changes its frame from {self._named!r} to {frame!r}: only the first one counts"
            )
        stated = frame.lstrip("/")
        name = self._told or next((n for n in (stated, stated.removeprefix(self._prefix)) if n in self._frames), "")
        if not name and stated:
            known = ", ".join(self._frames)
            way_out = "if it is one of them in truth, set the parameter wrench_frame to it"
            if {stated, self._prefix + stated} & set(self._moving):
                raise InputError(f"the wrench is in the frame {frame!r}, which moves against {known}; {way_out}")
            raise UnknownFrameError(f"the wrench is in the frame {frame!r}, which is none of {known}; {way_out}", frame)
        pose = self._frames[name or self._tool] @ self._mounted
        self._there, self._back = SensorFrame(name, pose), SensorFrame(name, inverse_transform(pose))
        self._named = frame
        self._same = self._sign == 1.0 and np.array_equal(pose, np.eye(4))

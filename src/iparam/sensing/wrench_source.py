"""`WrenchSource`: where the measured wrench comes from, always given as the estimators expect it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError, UnknownNameError
from iparam.motion.orientation import upwards
from iparam.recording.alignment import align
from iparam.recording.channels import CHANNELS, TOOL
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot

Measures = Literal["action", "reaction"]
"""What a sensor reports: "action" is what the robot exerts on the payload, "reaction" what the payload exerts on it."""


SIGN_DOUBTED = ("sign-follows-gravity", "sign-pushes-down")
"""Codes of remarks that doubt the sign of a recorded wrench: of the opposite sign they would be untrue."""

OF_EFFORTS = ("efforts-taken-for-torques", "efforts-zero")
"""Codes of remarks about joint torques, which change nothing about a wrench."""


def wrench_remarks(recording: Recording) -> tuple[Remark, ...]:
    """The remarks of a recording that matter for a load that is identified from its wrench."""
    return tuple(one for one in recording.remarks if one.code not in OF_EFFORTS)


@runtime_checkable
class WrenchSource(Protocol):
    """Anything that finds a wrench in a recording.

    A new sensor, simulator or driver needs this one method; estimation never asks where a wrench comes from.
    """

    def read(self, recording: Recording) -> Signal:
        """[force, torque] (T, 6) that the robot exerts on the payload, in the tool frame about its origin [N, N m]."""
        ...


@dataclass(frozen=True)
class SensorWrench:
    """A wrist sensor in the tool frame.

    Attributes:
        signal: name of the signal in the recording.
        measures: "action" if it already is what the robot exerts on the payload, "reaction" for the opposite.
    """

    signal: str = "wrench"
    measures: Measures = "action"

    def __post_init__(self) -> None:
        _sign(self.measures)

    def read(self, recording: Recording) -> Signal:
        """See `WrenchSource.read`."""
        measured = _six_columns(recording, self.signal)
        if measured.frame == CHANNELS["tcp_force"].frame:
            raise InputError(f"{self.signal} is in base axes, not in those of the tool; see BaseFrameWrench")
        frame = measured.frame or CHANNELS["wrench"].frame
        values = measured.values if _sign(self.measures) > 0 else -measured.values
        return Signal(measured.time, values, CHANNELS["wrench"].unit, frame)


def weighed_wrench(recording: Recording, gravity: FloatArray) -> tuple[SensorWrench, list[Remark]]:
    """The sensor of a recording without an arm, with the sign that the weight on it shows; and a remark about it.

    Nobody said which sign a stranger's sensor has, and no load has a negative mass: what it exerts on the load pushes
    upwards, what the load exerts on it pulls down.

    Args:
        recording: that tells how the sensor stood.
        gravity: (3,) in the world [m/s^2].
    """
    force = _six_columns(recording, "wrench")
    pulls = force.values[:, :3] - force.values[:, :3].mean(axis=0)
    likeness = _likeness(upwards(recording, gravity, force.time), pulls)
    if likeness >= 0.0:
        return SensorWrench(), []
    return SensorWrench(measures="reaction"), [remark("sign-reversed", fix={"measures": "reaction"})]


def _likeness(up: FloatArray, pulls: FloatArray) -> float:
    """Correlation of the changes of gravity in the sensor's axes (T, 3) with those of the force (T, 3)."""
    changes = up - up.mean(axis=0)
    size = float(np.linalg.norm(changes) * np.linalg.norm(pulls))
    return float(np.sum(changes * pulls)) / size if size > 0.0 else 0.0


@dataclass(frozen=True)
class BaseFrameWrench:
    """A wrench at the tool's origin in base axes, as a UR controller's actual_TCP_force, turned into the tool's by q.

    The TCP of the controller has to be the tool frame of ``robot``. Samples that q does not cover are left out.

    Attributes:
        robot: the arm.
        signal: name of the signal in the recording.
        measures: "action" if it already is what the robot exerts on the payload, "reaction" for the opposite.
    """

    robot: Robot
    signal: str = "wrench"
    measures: Measures = "action"

    def __post_init__(self) -> None:
        _sign(self.measures)

    def read(self, recording: Recording) -> Signal:
        """See `WrenchSource.read`."""
        from iparam.robot.kinematics import forward_kinematics

        frame = _six_columns(recording, self.signal).frame
        if frame not in ("", TOOL, CHANNELS["tcp_force"].frame):
            raise InputError(f"{self.signal} is in the axes of {frame!r}, not in those of the base; see SensorWrench")
        samples = align(recording, [self.signal, "q"])
        rotation = forward_kinematics(self.robot, samples["q"])[:, :3, :3]
        force, torque = (
            np.einsum("tji,tj->ti", rotation, samples[self.signal][:, part]) for part in (slice(3), slice(3, 6))
        )
        values = _sign(self.measures) * np.concatenate([force, torque], axis=1)
        return Signal(samples.time, values, CHANNELS["wrench"].unit, self.robot.tool_frame)


def _six_columns(recording: Recording, name: str) -> Signal:
    signal = recording.signal(name)
    if signal.width != 6:
        raise InputError(f"a wrench has 6 columns, force and torque; {name} has {signal.width}")
    return signal


def _sign(measures: str) -> float:
    if measures not in ("action", "reaction"):
        raise UnknownNameError("kind of wrench", measures, ("action", "reaction"), argument="measures")
    return 1.0 if measures == "action" else -1.0

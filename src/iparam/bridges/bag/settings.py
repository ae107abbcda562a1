"""`ImportSettings`: how the topics of a bag become the signals of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from iparam.bridges.bag.units import check_units
from iparam.errors import InputError, UnknownNameError
from iparam.recording.recording import AngleUnit
from iparam.sensing.wrench_source import Measures

Effort = Literal["torque", "current", "ignore"]
"""What the efforts of joint states are: torques [N m], motor currents [A], or nothing of use."""

Stamps = Literal["header", "log"]
"""Which time counts: that of measurement, in the messages' headers, or that of recording."""


@dataclass(frozen=True)
class ImportSettings:
    """How a bag is read. Everything has a default that fits a bag of one arm that follows ROS's conventions.

    Attributes:
        joint_topic, wrench_topic, imu_topic: names of topics; None takes the only one of the type.
        joint_names: the arm's joints as the bag calls them, from the base on; () finds them by the robot's names.
        joint_prefix: before the robot's joint names in the bag, e.g. "left_"; None finds it if there is only one.
        wrench_frame: what the wrench refers to, against its header: a frame behind the robot's last joint, or "base"
            for the tool's origin in base axes, as UR controllers give it; None takes the header's.
        measures: "action" if the wrench is what the robot exerts on the payload, "reaction" for the opposite.
        imu_frame: as ``wrench_frame``, of the IMU.
        effort: what the efforts of joint states are.
        angles: "degrees" converts; "radians" takes the angles as they are; None refuses what looks like degrees.
        units: of "force", "torque", "acceleration" and "gyro", e.g. ``{"force": "mN"}``; what is not given is taken
            for SI, and refused if it cannot be.
        stamps: which time counts; headers without a stamp are replaced by the time of recording in any case.
    """

    joint_topic: str | None = None
    wrench_topic: str | None = None
    imu_topic: str | None = None
    joint_names: tuple[str, ...] = ()
    joint_prefix: str | None = None
    wrench_frame: str | None = None
    measures: Measures = "action"
    imu_frame: str | None = None
    effort: Effort = "torque"
    angles: AngleUnit | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    stamps: Stamps = "header"

    def __post_init__(self) -> None:
        for what, value, known in (
            ("kind of wrench", self.measures, ("action", "reaction")),
            ("kind of effort", self.effort, ("torque", "current", "ignore")),
            ("angle unit", self.angles or "radians", ("radians", "degrees")),
            ("kind of stamps", self.stamps, ("header", "log")),
        ):
            if value not in known:
                raise UnknownNameError(what, value, known)
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        if self.joint_names and self.joint_prefix is not None:
            raise InputError("give the joints' names or their prefix, not both")
        if len(set(self.joint_names)) < len(self.joint_names):
            raise InputError(f"the joints' names repeat themselves: {', '.join(self.joint_names)}")
        object.__setattr__(self, "units", MappingProxyType(check_units(self.units)))

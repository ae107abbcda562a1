"""`ImportSettings`: which topics of a bag are read, and how they become the signals of a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from iparam.bridges.bag.contents import BagContents, Topic
from iparam.bridges.bag.units import check_units
from iparam.errors import FileFormatError, InputError, UnknownNameError
from iparam.recording.recording import AngleUnit
from iparam.remarks import Remark, messages, remark
from iparam.sensing.correction import Correction
from iparam.sensing.wrench_source import Measures

Effort = Literal["torque", "current", "ignore"]
"""What the efforts of joint states are: torques [N m], motor currents [A], or nothing of use."""

Stamps = Literal["header", "log"]
"""Which time counts: that of measurement, in the messages' headers, or that of recording."""


@dataclass(frozen=True)
class ImportSettings:
    """How a bag is read. Everything has a default that fits a bag of one arm that follows ROS's conventions.

    Attributes:
        joint_topic, wrench_topic, imu_topic: names of topics; None takes the only one of the type, or that of a common
            driver.
        joint_names: the arm's joints as the bag calls them, from the base on; () finds them by the robot's names.
        joint_prefix: before the robot's joint names in the bag, e.g. ``"left_"``; None finds it if there is only one.
        wrench_frame: what the wrench refers to, against its header: a frame behind the robot's last joint, or "base"
            for the tool's origin in base axes, as UR controllers give it; None takes the header's.
        measures: "action" if the wrench is what the robot exerts on the payload, "reaction" for the opposite; None
            takes it for the action, which nobody has said.
        place: how the sensor sits in the tool frame, where the frame that its messages name does not tell.
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
    measures: Measures | None = None
    place: Correction = field(default_factory=Correction)
    imu_frame: str | None = None
    effort: Effort = "torque"
    angles: AngleUnit | None = None
    units: Mapping[str, str] = field(default_factory=dict)
    stamps: Stamps = "header"

    def __post_init__(self) -> None:
        for what, value, known in (
            ("kind of wrench", self.measures or "action", ("action", "reaction")),
            ("kind of effort", self.effort, ("torque", "current", "ignore")),
            ("angle unit", self.angles or "radians", ("radians", "degrees")),
            ("kind of stamps", self.stamps, ("header", "log")),
        ):
            if value not in known:
                raise UnknownNameError(what, value, known)
        object.__setattr__(self, "joint_names", tuple(self.joint_names))
        if self.joint_names and self.joint_prefix is not None:
            raise InputError("give the joints' names or their prefix, not both", argument="joint_prefix")
        if len(set(self.joint_names)) < len(self.joint_names):
            raise InputError(
                argument="joint_names", problem=f"must name each joint once, got {', '.join(self.joint_names)}"
            )
        object.__setattr__(self, "units", MappingProxyType(check_units(self.units)))


DRIVER_TOPICS = {
    "JointState": (("/joint_states", "drivers have the arm's own joints there"),),
    "WrenchStamped": (
        ("/force_torque_sensor_broadcaster/wrench", "ros2_control has the sensor there"),
        ("/uf_ftsensor_raw_states", "xArm's driver has the sensor there, before it takes a load out"),
        ("/wrench", "drivers have the sensor there"),
        ("/external_wrench_in_stiffness_frame", "franka_ros2 has its estimate at the end effector there"),
    ),
}
"""Ends of the names of topics by which the common drivers publish what is wanted, the best first, and why; by type."""


def choose_topic(
    contents: BagContents,
    kind: str,
    name: str | None,
    argument: str,
    required: bool,
    notes: list[Remark] | None = None,
    fits: Callable[[Topic], bool] | None = None,
) -> Topic | None:
    """The topic to read messages of a type from: the one that is named, the only one, or that of a common driver.

    Args:
        contents: of the bag.
        kind: the type.
        name: of the topic, None for the only one of the type.
        argument: that names it.
        required: whether there has to be one.
        notes: that a choice among several is added to.
        fits: whether a topic can be the right one; asked where there are several.
    """
    if name is not None:
        return _named(contents, kind, name, argument)
    candidates = [topic for topic in contents.topics if topic.type == kind and topic.count]
    if len(candidates) > 1 and fits is not None:
        candidates = [topic for topic in candidates if fits(topic)] or candidates
    if len(candidates) == 1:
        return candidates[0]
    for ending, reason in DRIVER_TOPICS.get(kind.rpartition("/")[2], ()):
        usual = [topic for topic in candidates if topic.name == ending] or [
            topic for topic in candidates if f"/{topic.name.lstrip('/')}".endswith(ending)
        ]
        if len(usual) == 1:
            if notes is not None:
                others = ", ".join(sorted(topic.name for topic in candidates if topic is not usual[0]))
                notes.append(remark("topic-chosen", topic=usual[0].name, reason=reason, others=others))
            return usual[0]
    if candidates:
        raise InputError(
            f"{contents.source} has {len(candidates)} topics of type {kind}, choose one: {topic_list(candidates)}",
            argument=argument,
        )
    if required:
        reasons = "".join(f" {one}" for one in messages(contents.remarks))
        raise FileFormatError(
            f"{contents.source} has no messages of type {kind}. Its topics: {topic_list(contents.topics)}.{reasons}"
        )
    return None


def topic_list(logs: Iterable[Topic]) -> str:
    """Topics for a message: name, type, number of messages."""
    parts = [f"{topic.name} ({topic.type}, {topic.count} messages)" for topic in logs]
    return "; ".join(parts) or "none"


def _named(contents: BagContents, kind: str, name: str, argument: str) -> Topic:
    same = [topic for topic in contents.topics if topic.name.lstrip("/") == name.lstrip("/")]
    if not same:
        raise InputError(
            f"{contents.source} has no topic {name}, but {topic_list(contents.topics)}", argument=argument, value=name
        )
    fitting = [topic for topic in same if topic.type == kind]
    if not fitting:
        raise InputError(f"{name} is of type {same[0].type}; it has to be {kind}", argument=argument, value=name)
    topic = max(fitting, key=lambda candidate: candidate.count)
    if not topic.count:
        raise FileFormatError(f"{name} has no messages in {contents.source}", argument=argument, value=name)
    return topic

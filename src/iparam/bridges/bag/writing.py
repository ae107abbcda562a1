"""`write_bag`: a recording as a ROS 2 bag, in a folder that appears whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.bag.bag_folder import new_bag_folder
from iparam.bridges.bag.contents import BagContents, IntArray
from iparam.bridges.bag.rosbags_backend import IMU, JOINT_STATE, WRENCH, bag_writer, typestore
from iparam.errors import FileFormatError, InputError, UnknownNameError
from iparam.files.json import json_line, parse_json
from iparam.recording.channels import TOOL
from iparam.recording.followers import joint_count
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.robot.loading import load_robot, stated_name
from iparam.robot.model import Robot
from iparam.sensing.applied_setup import APPLIED, applied_of, applied_setup
from iparam.sensing.correction import Correction
from iparam.sensing.sensor_frame import BASE, in_tool_frame, same_place

KEY = "iparam"


@dataclass(frozen=True)
class Provenance:
    """Where a bag comes from.

    Attributes:
        robot: the arm's name, "" if unknown.
        time_origin: the stamp that is time zero of the recording [ns]; None if unknown.
        applied: what has been applied to the sensor's wrench, see `iparam.sensing.applied_setup`.
    """

    robot: str = ""
    time_origin: int | None = None
    applied: Correction = field(default_factory=Correction)

    def to_custom(self) -> str:
        """As text for the bag's metadata."""
        document = {"robot": self.robot, "time_origin_ns": self.time_origin}
        return json_line({**document, **({APPLIED: self.applied.to_document()} if self.applied else {})})

    @classmethod
    def from_custom(cls, custom: Mapping[str, str]) -> Provenance:
        """From the bag's metadata; what is not there or odd is unknown."""
        try:
            document = parse_json(custom.get(KEY, "{}"), KEY)
        except FileFormatError:
            return cls()
        if not isinstance(document, dict):
            return cls()
        robot, origin = document.get("robot"), document.get("time_origin_ns")
        known = robot if isinstance(robot, str) else "", origin if type(origin) is int else None
        try:
            return cls(*known, applied_of(document.get(APPLIED)))
        except FileFormatError:
            return cls(*known)


def applied_before(contents: BagContents) -> Correction:
    """What had been applied to the sensor's wrench when iparam wrote a bag; nothing of another's."""
    return Provenance.from_custom(contents.custom).applied


Storage = Literal["mcap", "sqlite3"]

FIRST_STAMP = 1_000_000_000
"""The stamp of time zero where nothing is known [ns]; not 0, which in ROS means: no stamp."""

_LATEST_STAMP = 2**31 * 1_000_000_000
_JOINT_SIGNALS = ("q", "dq", "tau")
_IMU_SIGNALS = ("accelerometer", "gyro")
_WRITTEN = (*_JOINT_SIGNALS, "wrench", *_IMU_SIGNALS)


@dataclass(frozen=True)
class WrittenTopic:
    """A topic of a bag that was written: its name, type, signals and number of messages."""

    topic: str
    type: str
    signals: tuple[str, ...]
    messages: int


def write_bag(
    recording: Recording,
    path: str | os.PathLike[str],
    robot: Robot | str | None = None,
    storage: Storage = "mcap",
    *,
    joint_topic: str = "/joint_states",
    wrench_topic: str = "/wrench",
    imu_topic: str = "/imu",
    overwrite: bool = False,
) -> tuple[WrittenTopic, ...]:
    """Write a recording as a bag, whole or not at all.

    Joint states hold q, dq and tau under the robot's joint names, the wrench is in the tool frame, whose name the
    messages have, the IMU holds accelerometer and gyro. Each sample keeps its time to the nanosecond and its values bit
    for bit; samples of one time share a message. Other signals have no message in ROS and stay out, see `left_out`.

    Args:
        recording: what to write.
        path: of the bag's folder, which must not exist yet.
        robot: the arm or its name; None takes the recording's.
        storage: "mcap" or "sqlite3".
        joint_topic, wrench_topic, imu_topic: names of the topics.
        overwrite: whether a bag that is there is replaced; a folder that holds anything else never is.

    Returns:
        What was written.
    """
    if storage not in ("mcap", "sqlite3"):
        raise UnknownNameError("storage", storage, ("mcap", "sqlite3"), argument="storage")
    arm, name = _robot(recording, robot)
    recording, _ = in_tool_frame(recording, arm)
    recording, joints = _written_joints(recording, arm)
    _check_signals(recording, arm, len(joints))
    in_base = recording.has("wrench") and recording.signal("wrench").frame == BASE
    wrench = _wrenches(BASE if in_base else arm.tool_frame)
    origin = _time_origin(recording)
    topics = [
        topic
        for topic in (
            _topic(recording, joint_topic, JOINT_STATE, _JOINT_SIGNALS, origin, _joint_states(joints)),
            _topic(recording, wrench_topic, WRENCH, ("wrench",), origin, wrench),
            _topic(recording, imu_topic, IMU, _IMU_SIGNALS, origin, _imu_readings(arm.tool_frame)),
        )
        if topic is not None
    ]
    names = {"joint_topic": joint_topic, "wrench_topic": wrench_topic, "imu_topic": imu_topic}
    written = [topic.written.topic for topic in topics]
    _check_topics({argument: name for argument, name in names.items() if name in written}, recording)
    with new_bag_folder(path, overwrite) as folder, bag_writer(folder, storage) as writer:
        writer.set_custom_data(KEY, Provenance(name, origin, applied_setup(recording)).to_custom())
        _write_messages(writer, topics)
    return tuple(topic.written for topic in topics)


def left_out(recording: Recording) -> tuple[str, ...]:
    """The signals of a recording that `write_bag` does not write."""
    return tuple(name for name in recording.signals if name not in _WRITTEN)


Message = Callable[[int, Mapping[str, FloatArray]], bytes]
"""From a stamp [ns] and the samples (k,) of the signals that have one at that time to the serialised message."""


@dataclass(frozen=True, eq=False)
class _TopicData:
    written: WrittenTopic
    stamps: IntArray  # (T,) [ns]
    rows: dict[str, IntArray]  # signal -> (T,) its sample of each message, -1 for none
    values: dict[str, FloatArray]
    message: Message


def _robot(recording: Recording, robot: Robot | str | None) -> tuple[Robot, str]:
    if isinstance(robot, Robot):
        return robot, robot.name
    if robot is None and not recording.robot:
        raise InputError("the recording does not say which robot it belongs to: name the robot", argument="robot")
    name = robot if robot is not None else stated_name(recording.robot, "the recording")
    return load_robot(name), name


def _time_origin(recording: Recording) -> int:
    """The stamp of time zero [ns]: the bag's that the recording came from, if it came from one."""
    bag = recording.metadata.get("bag")
    stated = bag.get("time_origin_ns") if isinstance(bag, dict) else None
    origin = stated if type(stated) is int else FIRST_STAMP
    ends = np.clip([recording.start, recording.start + recording.duration], -_LATEST_STAMP, _LATEST_STAMP)
    first, last = (origin + round(float(time) * 1e9) for time in ends)
    if first <= 0 or last >= _LATEST_STAMP:
        raise InputError(
            f"the recording's times, {recording.start:.6g} s and later, lie outside what ROS can stamp: 0 to 2^31 s"
        )
    return origin


def _stamps(name: str, signal: Signal, origin: int) -> IntArray:
    stamps = np.rint(signal.time * 1e9).astype(np.int64) + origin
    close = np.flatnonzero(np.diff(stamps) <= 0)
    if close.size:
        raise InputError(
            argument=name,
            problem=(
                f"has samples less than a nanosecond apart, at {signal.time[close[0]]!r} s: ROS cannot tell them apart"
            ),
        )
    return stamps


def _topic(
    recording: Recording, topic: str, kind: str, names: tuple[str, ...], origin: int, message: Message
) -> _TopicData | None:
    present = [name for name in names if recording.has(name)]
    if not present:
        return None
    each = {name: _stamps(name, recording.signal(name), origin) for name in present}
    stamps = np.unique(np.concatenate(list(each.values())))
    rows: dict[str, IntArray] = {}
    for name, own in each.items():
        rows[name] = np.full(stamps.size, -1, dtype=np.int64)
        rows[name][np.searchsorted(stamps, own)] = np.arange(own.size)
    values = {name: recording.signal(name).values for name in present}
    return _TopicData(WrittenTopic(topic, kind, tuple(present), stamps.size), stamps, rows, values, message)


def _written_joints(recording: Recording, robot: Robot) -> tuple[Recording, tuple[str, ...]]:
    """The recording and the joints that messages have: those that follow no other where a signal is of them alone."""
    free, whole = list(robot.free_joints), robot.num_joints
    found = {name: recording.signal(name) for name in _JOINT_SIGNALS if recording.has(name)}
    if all(signal.width == whole for signal in found.values()) or not robot.couplings:
        return recording, robot.joint_names
    for name, signal in found.items():
        if signal.width == whole:
            recording = recording.with_signal(name, replace(signal, values=signal.values[:, free]))
    return recording, tuple(robot.joint_names[joint] for joint in free)


def _check_signals(recording: Recording, robot: Robot, joints: int) -> None:
    for name in _WRITTEN:
        if not recording.has(name):
            continue
        signal = recording.signal(name)
        if name in _JOINT_SIGNALS and signal.width != joints:
            raise InputError(argument=name, problem=f"has {signal.width} columns, but {joint_count(robot)}")
        if name in _JOINT_SIGNALS or signal.frame == TOOL or (name == "wrench" and signal.frame == BASE):
            continue
        if not same_place(signal.frame, robot):
            raise InputError(
                argument=name, problem=f"is in frame {signal.frame!r}; a bag wants {robot.tool_frame!r}: convert it"
            )


def _check_topics(names: Mapping[str, str], recording: Recording) -> None:
    """Refuse names (by argument) of the topics that are written."""
    if not names:
        held = ", ".join(recording.signals) or "none"
        raise InputError(f"the recording has none of the signals {', '.join(_WRITTEN)}; it has {held}")
    if len(set(names.values())) < len(names):
        raise InputError(f"the topics need different names, got {', '.join(names.values())}")
    for argument, name in names.items():
        if not name.startswith("/") or any(mark.isspace() for mark in name):
            raise InputError(argument=argument, value=name, expected="a name that begins with / and has no blanks")


def _write_messages(writer: Any, topics: list[_TopicData]) -> None:
    """All messages in the order of their stamps."""
    connections = [
        writer.add_connection(topic.written.topic, topic.written.type, typestore=typestore()) for topic in topics
    ]
    stamps = np.concatenate([topic.stamps for topic in topics])
    which = np.repeat(np.arange(len(topics)), [topic.stamps.size for topic in topics]).tolist()
    place = np.concatenate([np.arange(topic.stamps.size) for topic in topics]).tolist()
    for number in np.argsort(stamps, kind="stable").tolist():
        topic, row, stamp = topics[which[number]], place[number], int(stamps[number])
        found = {name: topic.values[name][rows[row]] for name, rows in topic.rows.items() if rows[row] >= 0}
        writer.write(connections[which[number]], stamp, topic.message(stamp, found))


def _joint_states(joint_names: tuple[str, ...]) -> Message:
    """Makes joint states of q, dq and tau; the field of one that is missing stays empty, as ROS has it."""
    store, names, nothing = typestore(), list(joint_names), np.zeros(0)
    kind = store.types[JOINT_STATE]

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        position, velocity, effort = (found.get(name, nothing) for name in ("q", "dq", "tau"))
        return bytes(store.serialize_cdr(kind(_header(stamp, ""), names, position, velocity, effort), JOINT_STATE))

    return message


def _wrenches(frame: str) -> Message:
    """Makes wrenches in the frame of that name."""
    store = typestore()
    kind, pair = store.types[WRENCH], store.types["geometry_msgs/msg/Wrench"]
    vector = store.types["geometry_msgs/msg/Vector3"]

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        values = found["wrench"].tolist()
        filled = kind(_header(stamp, frame), pair(vector(*values[:3]), vector(*values[3:])))
        return bytes(store.serialize_cdr(filled, WRENCH))

    return message


def _imu_readings(frame: str) -> Message:
    """Makes IMU readings in the frame of that name of accelerometer and gyro; what is missing is marked so."""
    store = typestore()
    kind, vector = store.types[IMU], store.types["geometry_msgs/msg/Vector3"]
    unknown = np.zeros(9)
    missing = np.array([-1.0, *[0.0] * 8])  # what ROS agreed on for a quantity that is not measured
    level = store.types["geometry_msgs/msg/Quaternion"](0.0, 0.0, 0.0, 1.0)

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        parts: list[Any] = []
        for name in ("gyro", "accelerometer"):
            values = found[name].tolist() if name in found else [0.0, 0.0, 0.0]
            parts += [vector(*values), unknown if name in found else missing]
        return bytes(store.serialize_cdr(kind(_header(stamp, frame), level, missing, *parts), IMU))

    return message


def _header(stamp: int, frame: str) -> Any:
    types = typestore().types
    return types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](*divmod(stamp, 1_000_000_000)), frame)

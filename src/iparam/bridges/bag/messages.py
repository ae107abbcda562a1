"""Joint states, wrenches and IMU readings: from serialised messages to arrays with their stamps, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.bridges.bag.rosbags_backend import ZSTD_MAGIC, decompress, definition_fields, ros1_typestore, typestore
from iparam.bridges.bag.topic_log import IMU, JOINT_STATE, WRENCH, TopicLog
from iparam.errors import FileFormatError

IntArray = NDArray[np.int64]

_CDR = (b"\0\0", b"\0\1")
"""How a message serialised in plain CDR begins: big or little endian."""

_LARGEST_MESSAGE = 1 << 24  # unpacked; those of an arm have some hundred bytes, its description up to megabytes
_MISSING = -1.0
"""First entry of a covariance in an IMU's message that says: this quantity is not measured."""


@dataclass(frozen=True, eq=False)
class Samples:
    """The readable messages of a topic.

    Attributes:
        stamps: (T,) of the headers [ns]; 0 where a header has none.
        log_times: (T,) of recording [ns].
        frames: frame_id -> how many messages have it.
        unreadable: how many messages could not be read.
    """

    stamps: IntArray
    log_times: IntArray
    frames: dict[str, int]
    unreadable: int


@dataclass(frozen=True, eq=False)
class JointSamples(Samples):
    """Joint states, as the messages have them.

    Attributes:
        names: the joints of each message.
        position, velocity, effort: of each message, in its order of joints; empty where it has none.
    """

    names: list[tuple[str, ...]]
    position: list[FloatArray]
    velocity: list[FloatArray]
    effort: list[FloatArray]

    def only(self, rows: Sequence[int]) -> JointSamples:
        """Some of the messages."""
        chosen = np.array(rows, dtype=np.int64)
        position, velocity, effort = (
            [values[row] for row in rows] for values in (self.position, self.velocity, self.effort)
        )
        return replace(
            self,
            stamps=self.stamps[chosen],
            log_times=self.log_times[chosen],
            names=[self.names[row] for row in rows],
            position=position,
            velocity=velocity,
            effort=effort,
        )


@dataclass(frozen=True, eq=False)
class VectorSamples(Samples):
    """Messages of fixed size.

    Attributes:
        values: (T, 6): force and torque, or acceleration and angular velocity; NaN where a message says that it does
            not measure something.
    """

    values: FloatArray


def decode_joints(log: TopicLog) -> JointSamples:
    """The joint states of a topic."""
    heads = _Heads(log)
    names, position, velocity, effort = [], [], [], []
    known: dict[tuple[str, ...], tuple[str, ...]] = {}  # one tuple for all messages with the same names
    for message in heads.messages():
        joints = tuple(message.name)
        names.append(known.setdefault(joints, joints))
        position.append(message.position)
        velocity.append(message.velocity)
        effort.append(message.effort)
    return JointSamples(*heads.fields(), names, position, velocity, effort)


def decode_wrenches(log: TopicLog) -> VectorSamples:
    """Forces and torques of a topic."""
    heads, rows = _Heads(log), []
    for message in heads.messages():
        force, torque = message.wrench.force, message.wrench.torque
        rows.append((force.x, force.y, force.z, torque.x, torque.y, torque.z))
    return VectorSamples(*heads.fields(), np.array(rows, dtype=np.float64).reshape(-1, 6))


def decode_imus(log: TopicLog) -> VectorSamples:
    """Accelerations and angular velocities of a topic."""
    heads, rows = _Heads(log), []
    nothing = (np.nan, np.nan, np.nan)
    for message in heads.messages():
        a, w = message.linear_acceleration, message.angular_velocity
        acceleration = nothing if message.linear_acceleration_covariance[0] == _MISSING else (a.x, a.y, a.z)
        turning = nothing if message.angular_velocity_covariance[0] == _MISSING else (w.x, w.y, w.z)
        rows.append((*acceleration, *turning))
    return VectorSamples(*heads.fields(), np.array(rows, dtype=np.float64).reshape(-1, 6))


class _Heads:
    """Reads messages one by one and collects what all types have in common."""

    def __init__(self, log: TopicLog) -> None:
        check_definition(log)
        self._log = log
        self._stamps: list[int] = []
        self._times: list[int] = []
        self._frames: dict[str, int] = {}

    def messages(self) -> Iterator[Any]:
        """The messages that can be read."""
        for time, message in _timed_messages(self._log):
            head = message.header
            self._stamps.append(head.stamp.sec * 1_000_000_000 + head.stamp.nanosec)
            self._times.append(time)
            self._frames[head.frame_id] = self._frames.get(head.frame_id, 0) + 1
            yield message

    def fields(self) -> tuple[IntArray, IntArray, dict[str, int], int]:
        """The fields of `Samples`, after all messages."""
        stamps, times = (np.array(values, dtype=np.int64) for values in (self._stamps, self._times))
        if stamps.size == 0:
            raise FileFormatError(
                f"none of the {self._log.count} messages of {self._log.topic.name} can be read as "
                f"{self._log.topic.type}"
            )
        return stamps, times, self._frames, self._log.count - stamps.size


def readable_messages(log: TopicLog) -> Iterator[Any]:
    """The messages of any topic that can be read, without a header or with one."""
    check_definition(log)
    for _, message in _timed_messages(log):
        yield message


def _timed_messages(log: TopicLog) -> Iterator[tuple[int, Any]]:
    ros1, kind = log.topic.encoding == "ros1", log.topic.type
    deserialize = ros1_typestore().deserialize_ros1 if ros1 else typestore().deserialize_cdr
    for time, payload in zip(log.times, log.payloads, strict=True):
        data = payload
        if data.startswith(ZSTD_MAGIC):  # a bag can be compressed message by message
            data = decompress(data, "zstd", _LARGEST_MESSAGE) or b""
        if not ros1 and data[:2] not in _CDR:
            continue
        try:
            message = deserialize(data, kind)
        except Exception:  # whatever damaged bytes lead to; the message is counted
            continue
        yield time, message


def check_definition(log: TopicLog) -> None:
    """Refuse a topic whose messages are not laid out as ROS 2, or ROS 1 in its bags, lays out its type today."""
    topic = log.topic
    if topic.encoding not in ("cdr", "ros1"):
        raise FileFormatError(
            f"the messages of {topic.name} are encoded as {topic.encoding!r}; iparam reads 'cdr', which ROS 2 writes, "
            "and 'ros1'"
        )
    ros, known = (2, typestore().fielddefs) if topic.encoding == "cdr" else (1, ros1_typestore().fielddefs)
    if not topic.definition or topic.definition_language != f"ros{ros}msg":
        return
    try:
        found = definition_fields(topic.definition, topic.type)
    except ValueError:
        return  # no statement about the layout; the standard one is tried, and every message is checked
    for name, fields in found.items():
        if name in known and known[name][1] != fields:
            raise FileFormatError(
                f"the bag's definition of {name}, for {topic.name}, differs from ROS {ros}'s: its messages cannot be "
                "read"
            )


Message = Callable[[int, Mapping[str, FloatArray]], bytes]
"""From a stamp [ns] and the samples (k,) of the signals that have one at that time to the serialised message."""


def joint_state(joint_names: tuple[str, ...]) -> Message:
    """Makes joint states of q, dq and tau; the field of one that is missing stays empty, as ROS has it."""
    store, names, nothing = typestore(), list(joint_names), np.zeros(0)
    kind = store.types[JOINT_STATE]

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        position, velocity, effort = (found.get(name, nothing) for name in ("q", "dq", "tau"))
        return bytes(store.serialize_cdr(kind(_header(stamp, ""), names, position, velocity, effort), JOINT_STATE))

    return message


def wrench(frame: str) -> Message:
    """Makes wrenches in the frame of that name."""
    store = typestore()
    kind, pair = store.types[WRENCH], store.types["geometry_msgs/msg/Wrench"]
    vector = store.types["geometry_msgs/msg/Vector3"]

    def message(stamp: int, found: Mapping[str, FloatArray]) -> bytes:
        values = found["wrench"].tolist()
        filled = kind(_header(stamp, frame), pair(vector(*values[:3]), vector(*values[3:])))
        return bytes(store.serialize_cdr(filled, WRENCH))

    return message


def imu(frame: str) -> Message:
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

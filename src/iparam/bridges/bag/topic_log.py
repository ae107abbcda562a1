"""The messages of a bag by topic, as they lie in its files: serialised, with the time at which they were recorded."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from iparam.files.reading_limit import check_size, reading_limit

JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
IMU = "sensor_msgs/msg/Imu"

DESCRIPTION = "std_msgs/msg/String"
TRANSFORMS = "tf2_msgs/msg/TFMessage"

READABLE_TYPES = (JOINT_STATE, WRENCH, IMU, DESCRIPTION, TRANSFORMS)
"""The message types that a recording, and what there is to know of its robot, can be made of."""

_ONLY = {DESCRIPTION: "robot_description", TRANSFORMS: "tf_static"}
"""Of these types only topics whose name ends so are kept: others have them for anything, and by the thousands."""

LATEST = 2**63 - 1
"""The latest time of recording that can be [ns]: ROS counts in 64 bits with a sign."""

_BYTES_A_TIME, _BYTES_A_PAYLOAD = 8, 41  # in memory, beside the contents
_DDS_NAME = re.compile(r"(\w+)::msg::dds_::(\w+)_")


def standard_type(name: str) -> str:
    """A message type as ROS 2 writes it, package/msg/Name, from that, ROS 1's package/Name or the name in DDS."""
    match = _DDS_NAME.fullmatch(name)
    if match:
        return f"{match[1]}/msg/{match[2]}"
    parts = name.split("/")
    return f"{parts[0]}/msg/{parts[1]}" if len(parts) == 2 else name


@dataclass(frozen=True)
class Topic:
    """A topic of a bag.

    Attributes:
        name: e.g. "/joint_states".
        type: of its messages, package/msg/Name.
        encoding: of its messages; "cdr" is what ROS 2 uses, "ros1" what ROS 1 does.
        definition: of the type, as the bag has it; "" if it has none.
        definition_language: that the definition is written in, e.g. "ros2msg", "ros1msg".
    """

    name: str
    type: str
    encoding: str = "cdr"
    definition: str = field(default="", repr=False)
    definition_language: str = ""


@dataclass(eq=False)
class TopicLog:
    """The messages of a topic, in the order of the files.

    Attributes:
        topic: it.
        kept: whether the messages themselves are kept, or only counted.
        times: when each was recorded [ns since 1970].
        payloads: the serialised messages; empty if they are only counted.
    """

    topic: Topic
    kept: bool
    times: array[int] = field(default_factory=lambda: array("q"))
    payloads: list[bytes] = field(default_factory=list)

    @property
    def count(self) -> int:
        """The number of messages."""
        return len(self.times)

    @property
    def span(self) -> float:
        """From the first to the last message by the time of recording [s]."""
        return (max(self.times) - min(self.times)) * 1e-9 if self.times else 0.0

    @property
    def rate(self) -> float:
        """Median rate by the time of recording [Hz]; 0 if it cannot be told."""
        if self.count < 2:
            return 0.0
        step = float(np.median(np.diff(np.sort(np.array(self.times, dtype=np.int64)))))
        return 1e9 / step if step > 0 else 0.0


class Mark(NamedTuple):
    """How far `TopicLogs` were: the bytes in memory, and the messages of each."""

    size: int
    counts: dict[tuple[str, str, str], int]


class TopicLogs:
    """All topics of a bag.

    Args:
        kept_types: the message types whose messages are kept; the others are counted.
        source: the bag, for messages.
    """

    def __init__(self, kept_types: Iterable[str] = READABLE_TYPES, source: str = "the bag") -> None:
        self._kept = frozenset(kept_types)
        self._source = source
        self._logs: dict[tuple[str, str, str], TopicLog] = {}
        self._size, self._limit = 0, reading_limit()

    def keeps(self, topic: Topic) -> bool:
        """Whether the messages of a topic are kept."""
        if topic.type in _ONLY and topic.name.rpartition("/")[2] != _ONLY[topic.type]:
            return False
        return topic.type in self._kept

    def open(self, topic: Topic) -> TopicLog:
        """The log of a topic, a new one if it has none; a bag in several files has one for all of them."""
        key = (topic.name, topic.type, topic.encoding)
        if key not in self._logs:
            self._logs[key] = TopicLog(topic, self.keeps(topic))
        return self._logs[key]

    def mark(self) -> Mark:
        """How far the logs are, for `rewind`."""
        return Mark(self._size, {key: log.count for key, log in self._logs.items()})

    def rewind(self, mark: Mark) -> None:
        """Forget all that was opened and added since ``mark``."""
        self._size = mark.size
        for key in list(self._logs):
            if key not in mark.counts:
                del self._logs[key]
                continue
            log, count = self._logs[key], mark.counts[key]
            del log.times[count:], log.payloads[count:]

    def add(self, log: TopicLog, time: int, payload: bytes) -> None:
        """Add a message, recorded at ``time`` [ns], to one of the logs; refuses more than the memory is meant for."""
        log.times.append(time)
        self._size += _BYTES_A_TIME
        if log.kept:
            log.payloads.append(payload)
            self._size += len(payload) + _BYTES_A_PAYLOAD
        if self._size > self._limit:
            check_size(self._size, self._source, f"at least {self.count} messages")

    @property
    def logs(self) -> tuple[TopicLog, ...]:
        """The logs, by the name of the topic."""
        return tuple(self._logs[key] for key in sorted(self._logs))

    @property
    def count(self) -> int:
        """The number of messages in all topics."""
        return sum(log.count for log in self._logs.values())


def damage_notes(source: str, chunks: list[int], fault: str, compressions: set[str], records: int) -> list[str]:
    """What was left out of a bag for its damage, one sentence each.

    Args:
        source: the bag's name.
        chunks: where damaged chunks begin [byte].
        fault: what is wrong with them.
        compressions: names of those that cannot be unpacked.
        records: how many are damaged.
    """
    notes = []
    if chunks:
        places = ", ".join(str(start) for start in chunks[:5])
        notes.append(
            f"{source} has {len(chunks)} chunks {fault}; they were left out, or read up to the damage: byte {places}"
        )
    if compressions:
        names = ", ".join(repr(name) for name in sorted(compressions))
        notes.append(f"{source} has chunks compressed by {names}, which iparam cannot unpack: left out")
    if records:
        notes.append(f"{source} has {records} damaged records, which were left out")
    return notes

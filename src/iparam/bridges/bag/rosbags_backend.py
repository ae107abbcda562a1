"""The one place that imports rosbags, when it is first needed: reads the files of bags, and writes new ones."""

from __future__ import annotations

import functools
import math
import os
import shlex
import sys
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from iparam.errors import FileFormatError, IparamError, MissingExtraError
from iparam.files.limited_process import Arrays, Outcome
from iparam.files.reading_limit import check_size
from iparam.remarks import Remark, remark

JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
IMU = "sensor_msgs/msg/Imu"
DESCRIPTION = "std_msgs/msg/String"
TRANSFORMS = "tf2_msgs/msg/TFMessage"

READABLE_TYPES = (JOINT_STATE, WRENCH, IMU, DESCRIPTION, TRANSFORMS)
"""The message types that a recording, and what there is to know of its robot, can be made of."""

_ONLY = {DESCRIPTION: "robot_description", TRANSFORMS: "tf_static"}
"""Of these types only topics whose name ends so are read: others have them for anything, and by the thousands."""

_REPAIR = {
    ".mcap": "mcap recover {file} -o repaired.mcap",
    ".db3": "sqlite3 {file} .recover | sqlite3 repaired.db3",
    ".bag": "rosbag reindex {file}",
}
_FIELDS = ("position", "velocity", "effort")
_CDR = (b"\0\0", b"\0\1")
"""How a message serialised in plain CDR begins: big or little endian."""

_ZSTD = b"\x28\xb5\x2f\xfd"
_MISSING = -1.0
"""First entry of a covariance in an IMU's message that says: this quantity is not measured."""


@functools.cache
def typestore(ros: int = 2) -> Any:
    """The store of the standard message types of ROS 2 or ROS 1 in rosbags, with their (de)serialisers.

    Raises:
        MissingExtraError: rosbags is not installed.
    """
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError:
        raise MissingExtraError("rosbags", "bag") from None
    if ros == 2:
        return get_typestore(Stores.LATEST)
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", TRANSFORMS))
    return store


def bag_writer(folder: Path, storage: str) -> Any:
    """A writer of a new bag at ``folder``: "mcap" or "sqlite3"."""
    typestore()
    from rosbags.rosbag2 import StoragePlugin, Writer

    # Version 8 of the metadata: the readers of ROS 2 Humble fail on the nested quality of service of version 9.
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    return Writer(folder, version=8, storage_plugin=plugin)


def read_files(files: list[str], metadata: str, folder: str, kept: list[str]) -> Outcome:
    """Read the files of one bag. For a process of bounded memory and time: nothing in them is believed.

    The definitions of types that a bag holds are compared with the standard ones and never compiled, which rosbags'
    AnyReader would do.

    Args:
        files: paths, in the order of the recording.
        metadata: path of the description of a bag in a folder, which may not be there; "" of a single file.
        folder: for files that have to be unpacked.
        kept: types whose messages are read; none only notes the times of all.
    """
    typestore()
    topics: dict[tuple[str, str], _Collector] = {}
    for number, file in enumerate(files):
        path = Path(file)
        try:
            _read_file(path, Path(folder) / str(number), frozenset(kept), topics)
        except (IparamError, MemoryError):
            raise
        except Exception as error:  # whatever rosbags, SQLite and the decompressors meet
            tool = _REPAIR[_suffix(path)].format(file=shlex.quote(path.name.removesuffix(".zstd")))
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise FileFormatError(
                f"{file} cannot be read: {reason}. If it was cut, or its recording never finished, repair it with: "
                f"{tool}"
            ) from None
    custom, said = _described(Path(metadata), sum(topic.count for topic in topics.values())) if metadata else ({}, None)
    remarks = [] if said is None else [said.to_document()]
    found = [topics[key] for key in sorted(topics)]
    arrays = {f"{number}.{name}": value for number, topic in enumerate(found) for name, value in topic.arrays().items()}
    return {"topics": [topic.facts() for topic in found], "custom": custom, "remarks": remarks}, arrays


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".zstd")).suffix


def _read_file(path: Path, room: Path, kept: frozenset[str], topics: dict[tuple[str, str], _Collector]) -> None:
    from rosbags import rosbag1, rosbag2

    plain = room.with_suffix(_suffix(path))
    if path.suffix == ".zstd":
        with path.open("rb") as packed, _zstd().open(packed, "rb") as source, plain.open("wb") as target:
            while part := source.read(1 << 22):
                check_size(target.tell() + len(part), str(path), "packed contents of at least this size")
                target.write(part)
    elif sys.platform == "win32":
        plain = path
    else:  # SQLite takes its path for an address, in which ? and % are not part of the name
        plain.symlink_to(path.absolute())
    ros = 1 if plain.suffix == ".bag" else 2
    with rosbag1.Reader(plain) if ros == 1 else rosbag2.Reader(plain) as reader:
        collectors: dict[int, _Collector] = {}
        for connection in reader.connections:
            key = (connection.topic, connection.msgtype)
            if key not in topics:
                topics[key] = _Collector(connection, ros, _is_read(connection, kept))
            topics[key].count += connection.msgcount
            collectors[connection.id] = topics[key]
        wanted = [one for one in reader.connections if not kept or collectors[one.id].read]
        for connection, time, data in reader.messages(connections=wanted) if wanted else ():
            collectors[connection.id].add(time, data)


def _is_read(connection: Any, kept: frozenset[str]) -> bool:
    name, kind = connection.topic.rpartition("/")[2], connection.msgtype
    return kind in kept and _ONLY.get(kind, name) == name


def _zstd() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from backports import zstd
    return zstd


def _described(path: Path, count: int) -> tuple[dict[str, str], Remark | None]:
    """What the writer of a bag added to its metadata.yaml, and what is wrong with that file."""
    if not path.is_file():
        return {}, remark("bag-unfinished", folder=str(path.parent), file=path.name)
    try:
        from ruamel.yaml import YAML

        check_size(os.path.getsize(path), str(path), "a description")
        facts = YAML(typ="safe").load(path.read_text(encoding="utf-8"))["rosbag2_bagfile_information"]
        stated, custom = facts["message_count"], facts.get("custom_data")
        held = custom if isinstance(custom, dict) else {}
        texts = {key: value for key, value in held.items() if isinstance(key, str) and isinstance(value, str)}
    except Exception as error:  # whatever YAML's parser meets; the files speak for themselves
        reason = " ".join(str(error).split())[:100]
        return {}, remark("bag-metadata-damaged", path=str(path), reason=reason)
    if stated == count:
        return texts, None
    return texts, remark("bag-counts-differ", file=path.name, stated=str(stated)[:20], count=count)


class _Group:
    """The messages of a topic that have their numbers in the same order: all, or joint states with the same names."""

    def __init__(self) -> None:
        self.stamps, self.times, self.values, self.present = array("q"), array("q"), array("d"), array("b")
        self.uneven = [0] * len(_FIELDS)


class _Collector:
    """The messages of a topic, read one by one."""

    def __init__(self, connection: Any, ros: int, read: bool) -> None:
        self.name, self.type, self.read = connection.topic, connection.msgtype, read
        self.count, self.unreadable = 0, 0
        self.fault = _fault(connection, ros) if read else ""
        self.times = array("q")
        self.groups: dict[tuple[tuple[str, ...], int], _Group] = {}
        self.frames: dict[str, int] = {}
        self.texts: dict[str, None] = {}
        self.transforms: list[tuple[str, str, list[float], list[float]]] = []
        self._ros = ros

    def add(self, time: int, data: bytes) -> None:
        """Take in a message that was recorded at ``time`` [ns]."""
        if self.read and not self.fault:
            try:
                self._take(time, self._message(bytes(data)))
            except MemoryError:
                raise
            except Exception:  # whatever damaged bytes lead to; the message is counted
                self.unreadable += 1
                return
        self.times.append(time)

    def _message(self, data: bytes) -> Any:
        if data.startswith(_ZSTD):  # a bag can be compressed message by message
            data = _zstd().decompress(data)
        if self._ros == 1:
            return typestore(1).deserialize_ros1(data, self.type)
        if data[:2] not in _CDR:
            raise ValueError("no CDR")
        return typestore().deserialize_cdr(data, self.type)

    def _take(self, time: int, message: Any) -> None:
        if self.type == DESCRIPTION:
            self.texts[message.data] = None
        elif self.type == TRANSFORMS:
            for one in message.transforms:
                place, turn = one.transform.translation, one.transform.rotation
                numbers = [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w]
                if all(math.isfinite(number) for number in numbers):
                    self.transforms.append((one.header.frame_id, one.child_frame_id, numbers[:3], numbers[3:]))
        else:
            group = self._take_joints(message) if self.type == JOINT_STATE else self._take_vectors(message)
            stamp, frame = message.header.stamp, message.header.frame_id
            group.stamps.append(stamp.sec * 1_000_000_000 + stamp.nanosec)
            group.times.append(time)
            self.frames[frame] = self.frames.get(frame, 0) + 1

    def _take_vectors(self, message: Any) -> _Group:
        group = self.groups.setdefault(((), 6), _Group())
        if self.type == WRENCH:
            group.values.extend([*_xyz(message.wrench.force), *_xyz(message.wrench.torque)])
        else:
            group.values.extend(_measured(message.linear_acceleration, message.linear_acceleration_covariance))
            group.values.extend(_measured(message.angular_velocity, message.angular_velocity_covariance))
        return group

    def _take_joints(self, message: Any) -> _Group:
        fields, names = [getattr(message, name) for name in _FIELDS], tuple(message.name)
        count = len(names) or fields[0].size
        group = self.groups.setdefault((names, count), _Group())
        for place, numbers in enumerate(fields):
            whole = numbers.size == count > 0
            group.values.extend(numbers.tolist() if whole else [math.nan] * count)
            group.present.append(whole)
            group.uneven[place] += not whole and numbers.size > 0
        return group

    def facts(self) -> dict[str, Any]:
        """What is no array."""
        fault = self.fault
        if self.read and self.count and not fault and not self.times:
            fault = f"none of the {self.count} messages of {self.name} can be read as {self.type}"
        plain = {name: getattr(self, name) for name in ("name", "type", "count", "unreadable", "frames", "transforms")}
        groups = [{"names": list(key[0]), "uneven": group.uneven} for key, group in self.groups.items()]
        return {**plain, "fault": fault, "texts": list(self.texts), "groups": groups}

    def arrays(self) -> Arrays:
        """What is."""
        found: dict[str, Iterable[int] | Iterable[float]] = {"times": self.times}
        for number, group in enumerate(self.groups.values()):
            found |= {f"{number}.{name}": getattr(group, name) for name in ("stamps", "times", "values", "present")}
        return {name: np.array(values) for name, values in found.items()}


def _xyz(vector: Any) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _measured(vector: Any, covariance: Any) -> tuple[float, float, float]:
    return (math.nan, math.nan, math.nan) if covariance[0] == _MISSING else _xyz(vector)


def _fault(connection: Any, ros: int) -> str:
    """Why the messages of a topic are not laid out as ROS lays out their type today; "" if they are."""
    encoding = getattr(connection.ext, "serialization_format", "ros1")
    if encoding not in ("cdr", "ros1"):
        return (
            f"the messages of {connection.topic} are encoded as {encoding!r}; iparam reads 'cdr', which ROS 2 writes, "
            "and 'ros1'"
        )
    from rosbags.interfaces import MessageDefinitionFormat
    from rosbags.typesys import get_types_from_msg

    if connection.msgdef.format != MessageDefinitionFormat.MSG:
        return ""
    try:
        found = get_types_from_msg(connection.msgdef.data, connection.msgtype)
    except Exception:  # no statement about the layout; the standard one is tried, and every message is checked
        return ""
    known = typestore(ros).fielddefs
    for name, (_, fields) in found.items():
        if name in known and known[name][1] != fields:
            return (
                f"the bag's definition of {name}, for {connection.topic}, differs from ROS {ros}'s: its messages "
                "cannot be read"
            )
    return ""

"""Reads ROS 1 bags from the front, record by record: whole ones, and those whose recording never finished.

The index at the end, which other readers start from, is what an unfinished bag lacks; so it is not used. See
https://wiki.ros.org/Bags/Format/2.0: after its magic line every record is a header of named fields, and data, each with
its length before it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import BinaryIO

from iparam.bridges.bag.rosbags_backend import decompress
from iparam.bridges.bag.storage.mcap_file import LARGEST_CHUNK, LARGEST_MESSAGE, MOST_PACKED
from iparam.bridges.bag.topic_log import Topic, TopicLog, TopicLogs, damage_notes, standard_type
from iparam.errors import FileFormatError
from iparam.files.reading_limit import check_size

MAGIC = b"#ROSBAG V2.0\n"

LARGEST_HEADER = 1 << 20
"""Bytes of the fields of a record beyond which they are taken for damage."""

_MESSAGE, _BAG, _INDEX, _CHUNK, _CHUNK_INFO, _CONNECTION = 0x02, 0x03, 0x04, 0x05, 0x06, 0x07
_LENGTH = struct.Struct("<I")
_TIME = struct.Struct("<II")
_COMPRESSIONS = {"none": "", "bz2": "bz2", "lz4": "lz4"}

Fields = dict[str, bytes]


def read_ros1(stream: BinaryIO, size: int, source: str, logs: TopicLogs) -> list[str]:
    """Read the messages of a ROS 1 bag as far as it goes.

    Args:
        stream: the file, at its beginning.
        size: of the file in bytes.
        source: its name, for messages.
        logs: where the messages go.

    Returns:
        What was wrong with it, one sentence each.
    """
    if stream.read(len(MAGIC)) != MAGIC:
        raise FileFormatError(f"{source} is a ROS 1 bag of another version than 2.0: convert it with rosbag fix")
    return _Ros1Scan(stream, size, source, logs).run()


@dataclass(eq=False)
class _Ros1Scan:
    stream: BinaryIO
    size: int
    source: str
    logs: TopicLogs
    connections: dict[bytes, TopicLog] = field(default_factory=dict)
    unpacked: int = 0  # bytes of the chunks so far
    damaged: int = 0  # records that cannot be understood
    damaged_chunks: list[int] = field(default_factory=list)  # where they begin
    unknown_compressions: set[str] = field(default_factory=set)
    indexed: bool = False

    def run(self) -> list[str]:
        before = self.logs.count
        place = self._file()
        read = self.logs.count - before
        notes = []
        if place < self.size:
            notes.append(
                f"{self.source} breaks off in the record that begins at byte {place} of {self.size}: it was cut, or "
                f"its recording never finished. {read} messages were read, as far as it goes"
            )
        elif not self.indexed:
            notes.append(f"{self.source} has no index: its recording never finished. {read} messages were read")
        fault = "that cannot be unpacked"
        notes += damage_notes(self.source, self.damaged_chunks, fault, self.unknown_compressions, self.damaged)
        return notes

    def _file(self) -> int:
        """Read record by record; where the last whole one ends."""
        place = len(MAGIC)
        while place + 2 * _LENGTH.size <= self.size:
            self.stream.seek(place)
            length = int.from_bytes(self.stream.read(_LENGTH.size), "little")
            if length > LARGEST_HEADER:
                return place
            fields = _fields(self.stream.read(length))
            size = self.stream.read(_LENGTH.size)
            if fields is None or len(size) < _LENGTH.size:
                return place
            start, count = place + 2 * _LENGTH.size + length, int.from_bytes(size, "little")
            whole = start + count <= self.size
            kind = fields.get("op", b"")
            if kind == bytes([_CHUNK]) and count <= LARGEST_CHUNK:
                self._chunk(fields, self.stream.read(min(count, self.size - start)), place, whole)
            elif whole and kind == bytes([_CHUNK]):
                self.damaged_chunks.append(place)
            elif whole and kind == bytes([_BAG]):
                self.indexed = int.from_bytes(fields.get("index_pos", b""), "little") > 0
            elif whole and kind in (bytes([_MESSAGE]), bytes([_CONNECTION])):
                self._record(fields, self.stream.read(min(count, LARGEST_MESSAGE)), count)
            if not whole:
                return place
            place = start + count
        return place

    def _chunk(self, fields: Fields, contents: bytes, place: int, whole: bool) -> None:
        name = fields.get("compression", b"").decode("utf-8", "replace")
        size = int.from_bytes(fields.get("size", b""), "little")
        if name not in _COMPRESSIONS:
            self.unknown_compressions.add(name)
            return
        data = decompress(contents, _COMPRESSIONS[name], size) if size <= LARGEST_CHUNK else None
        if data is None or (whole and len(data) < size):
            self.damaged_chunks.append(place)
        if data is None:
            return
        self.unpacked += len(data)
        if self.unpacked > MOST_PACKED * self.size:
            check_size(self.unpacked, self.source, f"chunks that are packed more than {MOST_PACKED} times")
        self._records(data)

    def _records(self, data: bytes) -> None:
        """The records of an unpacked chunk; one that is cut off at its end is left out."""
        position, end = 0, len(data)
        while position + 2 * _LENGTH.size <= end:
            (length,) = _LENGTH.unpack_from(data, position)
            middle = position + _LENGTH.size + length
            if middle + _LENGTH.size > end:
                return
            (count,) = _LENGTH.unpack_from(data, middle)
            start = middle + _LENGTH.size
            fields = _fields(data[position + _LENGTH.size : middle])
            position = start + count
            if fields is None or position > end:
                return
            self._record(fields, data[start:position], count)

    def _record(self, fields: Fields, contents: bytes, count: int) -> None:
        """A connection or a message; connections come before the messages that need them."""
        kind = fields.get("op", b"")
        if kind == bytes([_CONNECTION]):
            self._connect(fields, contents)
        elif kind == bytes([_MESSAGE]):
            log, stamp = self.connections.get(fields.get("conn", b"")), fields.get("time", b"")
            if log is None or len(stamp) != _TIME.size or (log.kept and len(contents) < count):
                self.damaged += 1
                return
            seconds, nanoseconds = _TIME.unpack(stamp)
            self.logs.add(log, seconds * 1_000_000_000 + nanoseconds, contents if log.kept else b"")

    def _connect(self, fields: Fields, contents: bytes) -> None:
        described, number, topic = _fields(contents), fields.get("conn"), fields.get("topic")
        if described is None or number is None or topic is None or "type" not in described:
            self.damaged += 1
            return
        kind, definition = (
            described.get(key, b"").decode("utf-8", "replace") for key in ("type", "message_definition")
        )
        found = Topic(topic.decode("utf-8", "replace"), standard_type(kind), "ros1", definition, "ros1msg")
        self.connections[number] = self.logs.open(found)


def _fields(contents: bytes) -> Fields | None:
    """The named fields of a record's header; None if they are damaged."""
    fields: Fields = {}
    position = 0
    while position < len(contents):
        start = position + _LENGTH.size
        position = start + int.from_bytes(contents[position:start], "little")
        name, equals, value = contents[start:position].partition(b"=")
        if not equals or position > len(contents):
            return None
        fields[name.decode("utf-8", "replace")] = value
    return fields

"""Reads MCAP files from the front, record by record: whole ones, and those that end where the power went.

The index at the end of a file, which other readers start from, is what an unfinished file lacks; so it is not used. See
https://mcap.dev/spec for the format: after eight magic bytes every record is an opcode, a length and its contents.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from typing import BinaryIO

from iparam.bridges.bag.rosbags_backend import decompress
from iparam.bridges.bag.topic_log import LATEST, Topic, TopicLog, TopicLogs, damage_notes, standard_type
from iparam.errors import FileFormatError
from iparam.files.reading_limit import check_size

MAGIC = b"\x89MCAP0\r\n"

LARGEST_CHUNK = 1 << 28
"""Bytes of a chunk, packed or not, beyond which its stated size is taken for damage; writers fill them with one MB."""

LARGEST_MESSAGE = 1 << 24
"""Bytes of a message that is kept, and of the description of a topic; those of an arm have some hundred."""

MOST_PACKED = 100
"""How much larger than its file the contents of a large bag may be; messages of an arm pack about twofold."""

_FOOTER, _SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END = 0x02, 0x03, 0x04, 0x05, 0x06, 0x0F
_RECORD = struct.Struct("<BQ")
_MESSAGE_HEAD = struct.Struct("<HIQQ")
_CHUNK_HEAD = struct.Struct("<QQQI")


def read_mcap(stream: BinaryIO, size: int, source: str, logs: TopicLogs) -> list[str]:
    """Read the messages of an MCAP file as far as it goes.

    Args:
        stream: the file, at its beginning.
        size: of the file in bytes.
        source: its name, for messages.
        logs: where the messages go.

    Returns:
        What was wrong with it, one sentence each.
    """
    if stream.read(len(MAGIC)) != MAGIC:
        raise FileFormatError(f"{source} is no MCAP file: it does not begin with MCAP's magic bytes")
    return _McapScan(stream, size, source, logs).run()


@dataclass(eq=False)
class _McapScan:
    stream: BinaryIO
    size: int
    source: str
    logs: TopicLogs
    schemas: dict[int, tuple[str, str, bytes]] = field(default_factory=dict)  # id -> name, language, definition
    channels: dict[int, TopicLog] = field(default_factory=dict)
    unpacked: int = 0  # bytes of the chunks so far
    damaged: int = 0  # records that cannot be understood
    damaged_chunks: list[int] = field(default_factory=list)  # where they begin
    unknown_compressions: set[str] = field(default_factory=set)

    def run(self) -> list[str]:
        before = self.logs.count
        place, finished = self._data_section()
        read = self.logs.count - before
        notes = []
        if not finished:
            notes.append(
                f"{self.source} breaks off in the record that begins at byte {place} of {self.size}: it was cut, or "
                f"its recording never finished. {read} messages were read, as far as it goes"
            )
        elif not self._has_end():
            notes.append(f"{self.source} is cut behind its messages, in its index: all {read} messages were read")
        fault = "whose contents do not match their checksum or cannot be unpacked"
        notes += damage_notes(self.source, self.damaged_chunks, fault, self.unknown_compressions, self.damaged)
        return notes

    def _data_section(self) -> tuple[int, bool]:
        """Read up to the end of the data section; where reading stopped, and whether it is the end."""
        place = len(MAGIC)
        while True:
            head = self.stream.read(_RECORD.size)
            if len(head) < _RECORD.size:
                return place, False
            opcode, length = _RECORD.unpack(head)
            if opcode in (_DATA_END, _FOOTER):
                return place, True
            if opcode == 0:  # no record begins so: space that the file system had reserved
                return place, False
            start = place + _RECORD.size
            whole = start + length <= self.size
            if opcode == _CHUNK and length <= LARGEST_CHUNK:
                self._chunk(self.stream.read(min(length, self.size - start)), place, whole)
            elif not whole:
                return place, False
            elif opcode == _CHUNK:
                self.damaged_chunks.append(place)
            elif opcode == _MESSAGE:
                self._large_message(length)
            elif opcode in (_SCHEMA, _CHANNEL):
                self._describe(opcode, self.stream.read(min(length, LARGEST_MESSAGE)))
            if not whole:
                return place, False
            place = start + length
            self.stream.seek(place)

    def _has_end(self) -> bool:
        self.stream.seek(max(0, self.size - len(MAGIC)))
        return self.stream.read(len(MAGIC)) == MAGIC

    def _large_message(self, length: int) -> None:
        """A message outside of chunks; one of a topic that is only counted, such as an image, is not read."""
        head = self.stream.read(min(_MESSAGE_HEAD.size, length))
        if len(head) < _MESSAGE_HEAD.size:
            self.damaged += 1
            return
        channel, _, log_time, _ = _MESSAGE_HEAD.unpack(head)
        log = self.channels.get(channel)
        if log is None or log_time > LATEST or (log.kept and length > LARGEST_MESSAGE):
            self.damaged += 1
            return
        self.logs.add(log, log_time, self.stream.read(length - _MESSAGE_HEAD.size) if log.kept else b"")

    def _chunk(self, contents: bytes, place: int, whole: bool) -> None:
        unpacked = self._unpacked(contents)
        if unpacked is None:
            if whole:
                self.damaged_chunks.append(place)
            return
        records, size, checksum = unpacked
        if whole and len(records) == size and checksum and zlib.crc32(records) != checksum:
            self.damaged_chunks.append(place)  # nothing tells which of its bytes are wrong
            return
        if whole and len(records) < size:
            self.damaged_chunks.append(place)
        self.unpacked += len(records)
        if self.unpacked > MOST_PACKED * self.size:
            check_size(self.unpacked, self.source, f"chunks that are packed more than {MOST_PACKED} times")
        self._records(records)

    def _unpacked(self, contents: bytes) -> tuple[bytes, int, int] | None:
        """The records of a chunk as far as there are, their stated size and checksum; None if nothing is there."""
        name_start = _CHUNK_HEAD.size + 4
        if len(contents) < name_start:
            return None
        _, _, size, checksum = _CHUNK_HEAD.unpack_from(contents)
        data_start = name_start + int.from_bytes(contents[_CHUNK_HEAD.size : name_start], "little") + 8
        if len(contents) < data_start or size > LARGEST_CHUNK:
            return None
        compression = contents[name_start : data_start - 8].decode("utf-8", "replace")
        length = int.from_bytes(contents[data_start - 8 : data_start], "little")
        records = decompress(contents[data_start : data_start + length], compression, size)
        if records is None:
            self.unknown_compressions.add(compression)
            return None
        return records, size, checksum

    def _records(self, data: bytes) -> None:
        """The records of an unpacked chunk; one that is cut off at its end is left out."""
        position, end = 0, len(data)
        while position + _RECORD.size <= end:
            opcode, length = _RECORD.unpack_from(data, position)
            start = position + _RECORD.size
            position = start + length
            if position > end or opcode == 0:  # zeros are no record
                return
            if opcode == _MESSAGE:
                if length < _MESSAGE_HEAD.size:
                    self.damaged += 1
                    continue
                channel, _, log_time, _ = _MESSAGE_HEAD.unpack_from(data, start)
                log = self.channels.get(channel)
                if log is None or log_time > LATEST:
                    self.damaged += 1
                    continue
                self.logs.add(log, log_time, data[start + _MESSAGE_HEAD.size : position] if log.kept else b"")
            elif opcode in (_SCHEMA, _CHANNEL):
                self._describe(opcode, data[start:position])

    def _describe(self, opcode: int, contents: bytes) -> None:
        """A schema or a channel; they come before the messages that need them."""
        try:
            if opcode == _SCHEMA:
                number = int.from_bytes(contents[:2], "little")
                name, position = _text(contents, 2)
                language, position = _text(contents, position)
                definition, _ = _block(contents, position)
                self.schemas[number] = (name, language, definition)
                return
            number, schema = struct.unpack_from("<HH", contents)
            topic, position = _text(contents, 4)
            encoding, _ = _text(contents, position)
        except (ValueError, struct.error):
            self.damaged += 1
            return
        type_name, language, definition = self.schemas.get(schema, ("", "", b""))
        described = Topic(topic, standard_type(type_name), encoding, definition.decode("utf-8", "replace"), language)
        self.channels[number] = self.logs.open(described)


def _block(contents: bytes, position: int) -> tuple[bytes, int]:
    """Bytes with their length before them, and where they end."""
    start = position + 4
    stop = start + int.from_bytes(contents[position:start], "little")
    if start > len(contents) or stop > len(contents):
        raise ValueError("a text is longer than its record")
    return contents[start:stop], stop


def _text(contents: bytes, position: int) -> tuple[str, int]:
    block, stop = _block(contents, position)
    return block.decode("utf-8"), stop

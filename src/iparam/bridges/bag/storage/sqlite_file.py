"""Reads bags in SQLite files (.db3): through SQLite if it can, page by page where the file is damaged."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from iparam.bridges.bag.topic_log import Topic, TopicLogs, standard_type
from iparam.errors import FileFormatError
from iparam.files.reading_limit import check_size, reading_limit

MAGIC = b"SQLite format 3\0"

Value = None | int | float | bytes | str

_TABLE_LEAF = 0x0D
_FIXED_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


def rows_of_pages(stream: BinaryIO) -> Iterator[tuple[int, list[Value]]]:
    """Every row on a whole page of the file, as its row number and its values, page by page.

    Rows of all tables come mixed; rows that do not fit their page and continue on one that is missing are left out.
    """
    size, page_size, usable = _sizes(stream)
    if not page_size:
        return
    used: set[int] = set()  # pages that rows continue on: each belongs to one row, so that a damaged file has no loops
    for number in range(size // page_size):
        page = _page(stream, number, page_size)
        start = 100 if number == 0 else 0
        if page[start] != _TABLE_LEAF:
            continue
        (count,) = struct.unpack_from(">H", page, start + 3)
        for cell in range(min(count, (page_size - start - 8) // 2)):
            (place,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
            try:
                yield _row(stream, page, place, page_size, usable, used)
            except (IndexError, ValueError, struct.error):
                continue


def ends_inside_page(stream: BinaryIO) -> bool:
    """Whether a database was cut inside a page, the rest of which SQLite would take for zeros without a word."""
    size, page_size, _ = _sizes(stream)
    return not page_size or size % page_size != 0


def _sizes(stream: BinaryIO) -> tuple[int, int, int]:
    """Of the file, of a page and of the part of it that is used [bytes]; the latter 0 if it is no database."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(100)
    if len(head) < 100 or head[:16] != MAGIC:
        return size, 0, 0
    page_size = int.from_bytes(head[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    usable = page_size - head[20]
    if page_size < 512 or page_size & (page_size - 1) or usable < 480:
        return size, 0, 0
    return size, page_size, usable


def _page(stream: BinaryIO, number: int, page_size: int) -> bytes:
    stream.seek(number * page_size)
    page = stream.read(page_size)
    if len(page) < page_size:
        raise ValueError("the page is missing")
    return page


def _row(
    stream: BinaryIO, page: bytes, place: int, page_size: int, usable: int, used: set[int]
) -> tuple[int, list[Value]]:
    length, place = _varint(page, place)
    number, place = _varint(page, place)
    largest = usable - 35
    if length <= largest:
        record = page[place : place + length]
    else:
        least = (usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (usable - 4)
        here = here if here <= largest else least
        parts = [page[place : place + here]]
        missing = length - here
        (following,) = struct.unpack_from(">I", page, place + here)
        while missing > 0 and following:
            if following in used:
                raise ValueError("two rows continue on one page")
            used.add(following)
            overflow = _page(stream, following - 1, page_size)
            parts.append(overflow[4 : 4 + min(missing, usable - 4)])
            missing -= len(parts[-1])
            following = int.from_bytes(overflow[:4], "big")
        record = b"".join(parts)
    if len(record) < length:
        raise ValueError("the row is cut")
    return number, _values(record)


def _values(record: bytes) -> list[Value]:
    """The values of a record: the types of all first, then the contents."""
    body, place = _varint(record, 0)
    values: list[Value] = []
    content = body
    while place < body:
        kind, place = _varint(record, place)
        size = _FIXED_SIZES.get(kind, (kind - 12) // 2 if kind >= 12 else -1)
        piece = record[content : content + size]
        if size < 0 or len(piece) < size:
            raise ValueError("a value is cut")
        content += size
        if kind == 0:
            values.append(None)
        elif kind == 7:
            values.append(float(struct.unpack(">d", piece)[0]))
        elif kind in (8, 9):
            values.append(kind - 8)
        elif kind < 12:
            values.append(int.from_bytes(piece, "big", signed=True))
        else:
            values.append(piece.decode("utf-8") if kind % 2 else piece)
    return values


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for count in range(9):
        byte = data[place + count]
        if count == 8:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + count + 1
    raise ValueError("no number")


_TABLES = ("topics", "messages", "message_definitions")
_LEFT_BEHIND = ("-wal", "-journal")
"""Suffixes of files beside a database whose writer did not close it; they belong to its contents."""


def read_sqlite(path: Path, source: str, logs: TopicLogs) -> list[str]:
    """Read the messages of a SQLite bag as far as it goes; the file is not changed.

    Args:
        path: of the file.
        source: its name, for messages.
        logs: where the messages go.

    Returns:
        What was wrong with it, one sentence each.
    """
    notes: list[str] = []
    before, mark = logs.count, logs.mark()
    try:
        with _openable(path) as (address, unclosed), contextlib.closing(sqlite3.connect(address, uri=True)) as base:
            if unclosed:
                notes.append(f"{source} was not closed by its writer: {unclosed} beside it was used to complete it")
            _check_end(path)
            topics = _topics(base)
            lost = _take(topics, _messages(base, topics, logs), logs)
    except sqlite3.DatabaseError as error:
        logs.rewind(mark)
        topics, rows = _recovered(path, source)
        lost = _take(topics, rows, logs)
        notes.append(f"{source} is damaged ({error}): it was read page by page, {len(rows)} messages were found")
    if not topics:
        reason = f" ({'; '.join(notes)})" if notes else ""
        raise FileFormatError(f"{source} holds no topics of a ROS 2 bag{reason}")
    if lost:
        notes.append(f"{source} has {lost} damaged messages, or of topics that it does not describe: left out")
    if logs.count == before and not notes:
        notes.append(f"{source} has no messages")
    return notes


Row = tuple[object, object, object]  # number of the topic, time of recording [ns], message


def _take(topics: Mapping[int, Topic], rows: Iterable[Row], logs: TopicLogs) -> int:
    """Put messages into the logs of their topics; how many have none, or are damaged."""
    opened = {number: logs.open(topic) for number, topic in topics.items()}
    lost = 0
    for number, time, payload in rows:
        log = opened.get(number) if isinstance(number, int) else None
        if log is None or not isinstance(time, int) or not isinstance(payload, bytes):
            lost += 1
        else:
            logs.add(log, time, payload)
    return lost


@contextlib.contextmanager
def _openable(path: Path) -> Iterator[tuple[str, str]]:
    """An address for SQLite, and the name of a file that its writer left behind ("" if there is none).

    With such a file SQLite has to change the database before it can read it, so it gets a copy of both.
    """
    remains = [Path(f"{path}{suffix}") for suffix in _LEFT_BEHIND]
    remains = [extra for extra in remains if extra.is_file() and extra.stat().st_size > 0]
    if not remains:
        yield f"{path.absolute().as_uri()}?mode=ro&immutable=1", ""
        return
    with tempfile.TemporaryDirectory(prefix="iparam-bag-") as folder:
        for original in (path, *remains):
            shutil.copyfile(original, Path(folder) / original.name)
        yield (Path(folder) / path.name).as_uri(), remains[0].name


def _check_end(path: Path) -> None:
    with path.open("rb") as stream:
        if ends_inside_page(stream):
            raise sqlite3.DatabaseError("it ends inside a page")


def _topics(base: sqlite3.Connection) -> dict[int, Topic]:
    _require_tables(base)
    definitions: dict[str, tuple[str, str]] = {}
    with contextlib.suppress(sqlite3.OperationalError):  # bags older than ROS 2 Iron have no such table
        for name, language, text in base.execute(
            "SELECT topic_type, encoding, encoded_message_definition FROM message_definitions"
        ):
            definitions[str(name)] = (str(text), str(language))
    return {
        number: Topic(name, standard_type(kind), str(encoding), *definitions.get(kind, ("", "")))
        for number, name, kind, encoding in base.execute("SELECT id, name, type, serialization_format FROM topics")
        if isinstance(number, int) and isinstance(name, str) and isinstance(kind, str)
    }


def _messages(base: sqlite3.Connection, topics: Mapping[int, Topic], logs: TopicLogs) -> Iterable[Row]:
    # The contents of the others, images perhaps, are not even read.
    wanted = [number for number, topic in topics.items() if logs.keeps(topic)]
    data = f"CASE WHEN topic_id IN ({', '.join('?' * len(wanted))}) THEN data ELSE x'' END"
    return base.execute(f"SELECT topic_id, timestamp, {data} FROM messages ORDER BY id", wanted)


def _require_tables(base: sqlite3.Connection) -> None:
    """Refuse views, virtual tables and computed columns in place of a bag's tables: reading them runs programs."""
    for name, kind, text in base.execute("SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view')"):
        if str(name).lower() in _TABLES and (kind != "table" or not str(text).upper().startswith("CREATE TABLE")):
            raise sqlite3.DatabaseError(f"{name} is no table")
    for name in _TABLES:
        if any(hidden for *_, hidden in base.execute("SELECT * FROM pragma_table_xinfo(?)", (name,))):
            raise sqlite3.DatabaseError(f"{name} has computed columns")


def _recovered(path: Path, source: str) -> tuple[dict[int, Topic], list[Row]]:
    """Topics and messages by the shape of their rows."""
    found: dict[int, Topic] = {}
    definitions: dict[str, tuple[str, str]] = {}
    messages: dict[int, Row] = {}
    size, limit = 0, reading_limit()
    with path.open("rb") as stream:
        for number, values in rows_of_pages(stream):
            match values:
                case [None, int(topic), int(time), bytes(payload), *_]:
                    messages.setdefault(number, (topic, time, payload))
                    size += len(payload)
                    if size > limit:
                        check_size(size, source, f"at least {len(messages)} messages")
                case [None, str(kind), "ros2msg" | "ros2idl" as language, str(text), str()]:
                    definitions[kind] = (text, language)
                case [None, str(name), str(kind), str(encoding), *rest] if _is_topic(name, kind, rest):
                    found.setdefault(number, Topic(name, standard_type(kind), encoding))
    topics = {
        number: Topic(topic.name, topic.type, topic.encoding, *definitions.get(topic.type, ("", "")))
        for number, topic in found.items()
    }
    return topics, [messages[number] for number in sorted(messages)]


def _is_topic(name: str, kind: str, rest: list[Value]) -> bool:
    return name.startswith("/") and "/" in kind and all(isinstance(value, str) for value in rest)

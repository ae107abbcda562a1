"""Reads bags in SQLite files (.db3): through SQLite if it can, page by page where the file is damaged."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from iparam.bridges.bag.sqlite_pages import MAGIC, Value, ends_inside_page, rows_of_pages
from iparam.bridges.bag.topic_log import Topic, TopicLogs, standard_type
from iparam.errors import FileFormatError
from iparam.recording.reading_limit import check_size, reading_limit

__all__ = ["MAGIC", "read_sqlite"]

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
    left = [Path(f"{path}{suffix}") for suffix in _LEFT_BEHIND]
    left = [extra for extra in left if extra.is_file() and extra.stat().st_size > 0]
    if not left:
        yield f"{path.absolute().as_uri()}?mode=ro&immutable=1", ""
        return
    with tempfile.TemporaryDirectory(prefix="iparam-bag-") as folder:
        for original in (path, *left):
            shutil.copyfile(original, Path(folder) / original.name)
        yield (Path(folder) / path.name).as_uri(), left[0].name


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

"""Which files a bag consists of, and reading them all."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from iparam.bridges.bag.rosbags_backend import ZSTD_MAGIC, load_yaml, unpack_file
from iparam.bridges.bag.storage import mcap_file, ros1_file, sqlite_file
from iparam.bridges.bag.topic_log import READABLE_TYPES, TopicLog, TopicLogs
from iparam.errors import FileFormatError, InputError
from iparam.files.reading_limit import TooLargeError

METADATA = "metadata.yaml"
_LARGEST_METADATA = 1 << 20
_STORAGE = re.compile(r".*\.(mcap|db3)(\.zstd)?")
_ROS1 = b"#ROSBAG"


@dataclass(frozen=True, eq=False)
class BagContents:
    """What was read of a bag.

    Attributes:
        source: the bag's path, for messages.
        storages: the kinds of its files: "mcap", "sqlite3", "ros1".
        logs: its topics with their messages.
        custom: what the writer of the bag added to its metadata.
        notes: what was wrong with it, one sentence each.
    """

    source: str
    storages: tuple[str, ...]
    logs: tuple[TopicLog, ...]
    custom: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Metadata:
    names: tuple[str, ...] = ()
    count: int | None = None
    custom: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def open_bag(path: str | os.PathLike[str], kept_types: Iterable[str] = READABLE_TYPES) -> BagContents:
    """Read a bag: a folder with metadata.yaml, one that lost it, or a single .mcap, .db3 or .bag (ROS 1) file.

    Args:
        path: of the folder or file.
        kept_types: message types whose messages are kept; those of other types are only counted.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a bag is read from a path, got {type(path).__name__}")
    source, place = os.fspath(path), Path(path)
    try:
        if place.name == METADATA and place.is_file():
            place = place.parent
        if not place.exists():
            raise FileFormatError(f"cannot read {source}: there is no such file or folder")
        metadata, files = _folder_files(place) if place.is_dir() else (_Metadata(), [place])
        logs = TopicLogs(kept_types, source)
        notes = list(metadata.notes)
        storages: list[str] = []
        failures: list[FileFormatError] = []
        for file in files:
            try:
                storage, found = _read_file(file, logs, str(file))
            except TooLargeError:
                raise
            except FileFormatError as error:
                failures.append(error)
                continue
            storages.append(storage)
            notes += found
    except (OSError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileFormatError(f"cannot read {source}: {reason}") from None
    if not storages:
        raise failures[0]
    notes += [f"{error}; the bag's other files were read" for error in failures]
    if metadata.count is not None and metadata.count != logs.count:
        notes.append(f"{METADATA} counts {metadata.count} messages, {logs.count} were found")
    return BagContents(source, tuple(dict.fromkeys(storages)), logs.logs, metadata.custom, tuple(notes))


def _folder_files(folder: Path) -> tuple[_Metadata, list[Path]]:
    present = sorted((file for file in folder.iterdir() if _STORAGE.fullmatch(file.name)), key=_natural_order)
    description = folder / METADATA
    if description.is_file():
        metadata = _read_metadata(description)
    else:
        metadata = _Metadata(notes=(f"{folder} has no {METADATA}: its recording was not finished",))
    if not present:
        raise FileFormatError(f"{folder} is no bag: it holds no .mcap and no .db3 file")
    named = [folder / name for name in metadata.names]
    missing = [file.name for file in named if file not in present]
    notes = list(metadata.notes)
    if missing:
        notes.append(f"{METADATA} names files that are not there: {', '.join(missing)}")
    files = [file for file in named if file in present]
    extra = [file for file in present if file not in files]
    if extra and metadata.names:
        notes.append(f"{METADATA} does not name {', '.join(file.name for file in extra)}; read nevertheless")
    return _Metadata(metadata.names, metadata.count, metadata.custom, tuple(notes)), [*files, *extra]


def _natural_order(path: Path) -> list[str | int]:
    """Numbers in names by their value: bag_2 before bag_10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path.name)]


def _read_metadata(path: Path) -> _Metadata:
    """The parts of metadata.yaml that are of use; what is missing or odd is passed over, the files speak for it."""
    try:
        if path.stat().st_size > _LARGEST_METADATA:
            raise ValueError(f"{path.stat().st_size} bytes")
        document = load_yaml(path.read_text(encoding="utf-8"))
        information = document.get("rosbag2_bagfile_information") if isinstance(document, dict) else None
        if not isinstance(information, dict):
            raise ValueError("it is no description of a bag")
        names = information.get("relative_file_paths")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError("relative_file_paths is no list of names")
        # Names only: a bag's files lie beside its metadata, wherever a path may point.
        files = tuple(PurePosixPath(name.replace("\\", "/")).name for name in names)
    except (OSError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:100]
        return _Metadata(notes=(f"{path} is damaged and was not used: {reason}",))
    count, custom = information.get("message_count"), information.get("custom_data")
    stated = isinstance(count, str) and count.isascii() and count.isdecimal() and len(count) < 20
    kept = {key: value for key, value in custom.items() if isinstance(value, str)} if isinstance(custom, dict) else {}
    return _Metadata(files, int(str(count)) if stated else None, kept)


def _read_file(path: Path, logs: TopicLogs, source: str) -> tuple[str, list[str]]:
    """Read one file, whatever its suffix; its kind of storage, and what was wrong with it."""
    if path.is_dir():
        raise FileFormatError(f"{source} is a folder, not a file of a bag")
    size = path.stat().st_size
    if size == 0:
        raise FileFormatError(f"{source} is empty")
    with path.open("rb") as stream:
        head = stream.read(16)
        stream.seek(0)
        if head.startswith(mcap_file.MAGIC):
            return "mcap", mcap_file.read_mcap(stream, size, source, logs)
        if head.startswith(_ROS1):
            return "ros1", ros1_file.read_ros1(stream, size, source, logs)
    if head == sqlite_file.MAGIC:
        return "sqlite3", sqlite_file.read_sqlite(path, source, logs)
    if head.startswith(ZSTD_MAGIC):
        with _unpacked(path) as (inner, notes):
            storage, found = _read_file(inner, logs, source)
            return storage, [*notes, *found]
    if any(magic.startswith(head) for magic in (mcap_file.MAGIC, _ROS1, sqlite_file.MAGIC)):
        raise FileFormatError(f"{source} was cut off after {size} bytes, before its first message: copy it again")
    raise FileFormatError(
        f"{source} is neither an MCAP file, nor a SQLite database, nor a ROS 1 bag: it begins with {head[:8]!r}"
    )


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[tuple[Path, list[str]]]:
    """The contents of a bag file that was compressed as a whole, in a file of their own for a while."""
    with tempfile.TemporaryDirectory(prefix="iparam-bag-") as folder:
        inner = Path(folder) / path.name.removesuffix(".zstd")
        with path.open("rb") as packed, inner.open("wb") as unpacked:
            whole = unpack_file(packed, unpacked, str(path))
        if inner.stat().st_size == 0:
            raise FileFormatError(f"{path} cannot be unpacked: its first bytes are damaged")
        yield inner, [] if whole else [f"{path} is cut or damaged; what could be unpacked was read"]

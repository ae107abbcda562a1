"""`open_bag`: the topics of a bag, with what their messages say."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.bridges.bag.rosbags_backend import JOINT_STATE, READABLE_TYPES, read_files
from iparam.errors import FileFormatError, InputError
from iparam.files.limited_process import Arrays, in_limited_process
from iparam.remarks import Remark, read_remark

IntArray = NDArray[np.int64]

METADATA = "metadata.yaml"
_STORAGES = {".mcap": "mcap", ".db3": "sqlite3", ".bag": "ros1"}
_STORAGE = re.compile(r".*\.(mcap|db3)(\.zstd)?")


@dataclass(frozen=True, eq=False)
class Samples:
    """Messages with headers that have their numbers in the same order.

    Attributes:
        stamps: (T,) of the headers [ns]; 0 where a header has none.
        log_times: (T,) of recording [ns].
        values: (T, 6) force and torque, or acceleration and angular velocity; (T, 3, k) position, velocity and effort
            of joint states. NaN where a message says that it does not measure something.
        names: (k,) of the joints; () where they are not named, or there are none.
        present: (T, 3) whether a joint state has the field for all its joints.
        uneven: (3,) how many have another number of values than of names, by field.
    """

    stamps: IntArray
    log_times: IntArray
    values: FloatArray
    names: tuple[str, ...] = ()
    present: NDArray[np.bool_] = field(default_factory=lambda: np.empty((0, 3), dtype=bool))
    uneven: tuple[int, ...] = (0, 0, 0)


@dataclass(frozen=True, eq=False)
class Topic:
    """A topic of a bag.

    Attributes:
        name: e.g. "/joint_states".
        type: of its messages, package/msg/Name.
        count: of its messages.
        times: when the messages that were read were recorded [ns since 1970].
        fault: why none of its messages can be read; "" if they can.
        groups: of joint states, those with the same names each; one of wrenches and IMU readings.
        frames: frame_id -> how many messages have it.
        unreadable: how many messages could not be read.
        texts: of messages that are one.
        transforms: parent, child, position [m] and quaternion (x, y, z, w) of fixed frames.
    """

    name: str
    type: str
    count: int
    times: IntArray
    fault: str = ""
    groups: tuple[Samples, ...] = ()
    frames: Mapping[str, int] = field(default_factory=dict)
    unreadable: int = 0
    texts: tuple[str, ...] = ()
    transforms: tuple[tuple[str, str, list[float], list[float]], ...] = ()

    def readable(self) -> tuple[Samples, ...]:
        """Its messages, if they can be read."""
        if self.fault or not self.groups:
            raise FileFormatError(self.fault or f"the messages of {self.name} are no {self.type}")
        return self.groups

    @property
    def span(self) -> float:
        """From the first to the last message by the time of recording [s]."""
        return float(self.times.max() - self.times.min()) * 1e-9 if self.times.size else 0.0

    @property
    def rate(self) -> float:
        """Median rate by the time of recording [Hz]; 0 if it cannot be told."""
        step = float(np.median(np.diff(np.sort(self.times)))) if self.times.size > 1 else 0.0
        return 1e9 / step if step > 0 else 0.0


@dataclass(frozen=True, eq=False)
class BagContents:
    """What was read of a bag.

    Attributes:
        source: the bag's path, for messages.
        storages: the kinds of its files: "mcap", "sqlite3", "ros1".
        topics: by their names.
        custom: what the writer of the bag added to its metadata.
        remarks: what was wrong with it.
    """

    source: str
    storages: tuple[str, ...]
    topics: tuple[Topic, ...]
    custom: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()


def open_bag(path: str | os.PathLike[str], kept_types: Iterable[str] = READABLE_TYPES) -> BagContents:
    """Read a bag: a folder, with metadata.yaml or without, or a single .mcap, .db3 or .bag (ROS 1) file.

    rosbags reads it in a process of bounded memory and time, as its contents are a stranger's.

    Args:
        path: of the folder or file.
        kept_types: types whose messages are read; () only notes when the messages of all topics were recorded.

    Raises:
        FileFormatError: it is no bag, or damaged; the message names the tool that repairs it.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a bag is read from a path, got {type(path).__name__}")
    source, place = os.fspath(path), Path(path)
    try:
        if place.name == METADATA and place.is_file():
            place = place.parent
        files = _storage_files(place, source)
        size = sum(file.stat().st_size for file in files)
        with tempfile.TemporaryDirectory(prefix="iparam-bag-") as folder:
            found, arrays = in_limited_process(
                read_files,
                source,
                {
                    "files": [str(file) for file in files],
                    "metadata": str(place / METADATA) if place.is_dir() else "",
                    "folder": folder,
                    "kept": list(kept_types),
                },
                size=size,
            )
    except (OSError, ValueError) as error:
        if isinstance(error, FileFormatError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileFormatError(f"cannot read {source}: {reason}") from None
    topics = tuple(_topic(known, number, arrays) for number, known in enumerate(found["topics"]))
    storages = dict.fromkeys(_STORAGES[Path(file.name.removesuffix(".zstd")).suffix] for file in files)
    return BagContents(
        source,
        tuple(storages),
        topics,
        found["custom"],
        tuple(read_remark(one, str(source)) for one in found["remarks"]),
    )


def _storage_files(place: Path, source: str) -> list[Path]:
    if not place.exists():
        raise FileFormatError(f"cannot read {source}: there is no such file or folder")
    files = [place]
    if place.is_dir():
        files = sorted((file for file in place.iterdir() if _STORAGE.fullmatch(file.name)), key=_natural_order)
        if not files:
            raise FileFormatError(f"{source} is no bag: it holds no .mcap and no .db3 file")
    for file in files:
        if not file.is_file():
            raise FileFormatError(f"{file} is no file of a bag")
        if not (_STORAGE.fullmatch(file.name) or file.suffix == ".bag"):
            raise FileFormatError(f"{file} is no bag: its name has to end in .mcap, .db3, .bag or .zstd")
        if file.stat().st_size == 0:
            raise FileFormatError(f"{file} is empty")
        for left in (Path(f"{file}-wal"), Path(f"{file}-journal")):
            if left.is_file() and left.stat().st_size > 0:
                raise FileFormatError(
                    f"{file} was not closed by its writer: {left.name} beside it completes it. Close it with "
                    f"sqlite3 {file} 'PRAGMA journal_mode=DELETE'"
                )
    return files


def _natural_order(path: Path) -> list[str | int]:
    """Numbers in names by their value: bag_2 before bag_10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", path.name)]


def _topic(known: dict[str, Any], number: int, arrays: Arrays) -> Topic:
    """A topic of what `read_files` returned."""
    held = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith(f"{number}.")}
    base: dict[str, Any] = {name: known[name] for name in ("name", "type", "count", "fault", "frames", "unreadable")}
    groups = []
    for place, group in enumerate(known["groups"]):
        stamps, times, values, present = (held[f"{place}.{name}"] for name in ("stamps", "times", "values", "present"))
        shape = (stamps.size, 3, -1) if known["type"] == JOINT_STATE else (stamps.size, -1)
        facts = tuple(group["names"]), present.reshape(-1, 3).astype(bool), tuple(group["uneven"])
        groups.append(Samples(stamps, times, values.reshape(shape), *facts))
    return Topic(
        **base,
        times=held["times"],
        groups=tuple(groups),
        texts=tuple(known["texts"]),
        transforms=tuple(known["transforms"]),
    )

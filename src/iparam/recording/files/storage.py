"""Reads and writes recordings; what a file holds is told from its contents, what to write from its suffix."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import select
import stat
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from iparam.errors import ContradictionError, FileFormatError, InputError, UnknownNameError
from iparam.files.atomic import write_atomically
from iparam.files.reading_limit import check_size, reading_limit
from iparam.recording.channels import ANGLES, NANOSECONDS, signal_of_column
from iparam.recording.files.array_table import MAGICS as ARRAYS
from iparam.recording.files.array_table import read_array_table
from iparam.recording.files.data_frame import FRAME, arrow_of_frame
from iparam.recording.files.headers import column_size
from iparam.recording.files.parquet_table import MAGIC, parquet_of_recording, read_arrow_table, read_parquet_table
from iparam.recording.files.reading import Reading
from iparam.recording.files.table import Table, signals_of_table
from iparam.recording.files.text_table import read_text_table, text_of_recording
from iparam.recording.followers import check_widths, filled_signals, with_followers
from iparam.recording.recording import Recording
from iparam.recording.screening import (
    angles_from_degrees,
    angles_in_one_unit,
    check_angles,
    check_clocks,
    find_faults,
    some_angles_from_degrees,
    turns_taken_out,
    without_dropouts,
)
from iparam.recording.signal import Signal
from iparam.recording.statements import POSES, ROWS, UNMEASURED, stated_rate, unmeasured_columns
from iparam.recording.units import UNITS, check_time, dates_in_seconds, in_channel_unit
from iparam.remarks import Remark, read_remark, remark
from iparam.robot.same_arm import check_same_arm

if TYPE_CHECKING:
    from iparam.robot.model import Robot

SUFFIXES = (".parquet", ".csv")
"""Of the files that are written."""

BAG_MAGICS = (b"#ROSBAG", b"\x89MCAP0", b"SQLite format 3\0")
"""How the files of ROS's bags begin."""

PACKED_MAGICS = {b"\x1f\x8b": "gunzip", b"BZh": "bunzip2", b"\xfd7zXZ\0": "unxz", b"\x28\xb5\x2f\xfd": "unzstd"}
"""How packed files begin, and what unpacks them."""

_HEAD = 64

LONGEST_SILENCE = 50.0
"""How long a pipe that is to be read may stay empty [s]."""


def save_recording(recording: Recording, path: str | os.PathLike[str]) -> None:
    """See `Recording.save`."""
    source = os.fspath(path)
    suffix = Path(source).suffix.lower()
    if suffix not in SUFFIXES:
        raise UnknownNameError("suffix", suffix, SUFFIXES, hint=f"A recording cannot be written to {source!r}.")
    if not recording.signals:
        raise InputError(f"cannot write {source}: the recording has no signals")
    check_clocks(recording.signals, source)
    if suffix == ".csv":
        write_atomically(path, text_of_recording(recording, source))
    else:
        write_atomically(path, parquet_of_recording(recording))


def load_recording(
    path: str | os.PathLike[str],
    reading: Reading,
    robot: Robot | str | None,
    angles: str | None,
    tip: str | None,
) -> Recording:
    """See `Recording.load`."""
    _check_angle_unit(angles)
    document: dict[str, Any] | None = None
    with _opened(path) as (stream, source):
        head = stream.read(_HEAD)
        stream.seek(0)
        if head.startswith(MAGIC):
            if reading.columns is not None:
                raise InputError(
                    f"{source} is a Parquet file, which names its columns; leave them out", argument="columns"
                )
            table, document = read_parquet_table(stream, source, reading)
            arm = _robot(robot, tip, document["metadata"] if document is not None else None)
        else:
            _refuse_bags(head, source)
            _refuse_packed(head, source)
            arm = _robot(robot, tip)
            read = read_array_table if head.startswith(ARRAYS) else read_text_table
            # Of joints that follow others there may be columns, or none: the file tells.
            joints = None if arm is None or arm.couplings else arm.num_joints
            table = read(stream, source, reading, joints)
    return _checked(table, document, source, reading, robot, arm, angles)


def recording_from_frame(
    frame: Any, reading: Reading, robot: Robot | str | None, angles: str | None, tip: str | None
) -> Recording:
    """See `Recording.from_pandas`."""
    _check_angle_unit(angles)
    table, document = read_arrow_table(arrow_of_frame(frame), FRAME, reading)
    arm = _robot(robot, tip, document["metadata"] if document is not None else None)
    return _checked(table, document, FRAME, reading, robot, arm, angles)


def _check_angle_unit(angles: str | None) -> None:
    if angles not in (None, "radians", "degrees"):
        raise UnknownNameError("angle unit", angles, ("radians", "degrees"), argument="angles")


def _checked(
    table: Table,
    document: dict[str, Any] | None,
    source: str,
    reading: Reading,
    robot: Robot | str | None,
    arm: Robot | None,
    angles: str | None,
) -> Recording:
    """The recording in a table, in SI units, as far as it can be used; its remarks say what was found.

    Args:
        table: what was read; its values are taken out of it.
        document: what goes with it, see `recording_document`; None for nothing.
        source: where it comes from, for messages.
        reading: what its reader says about it.
        robot: the arm, or its name, by its reader.
        arm: the same as a model, None if it is not known.
        angles: "degrees", "radians" or None, by its reader.
    """
    if table.poses:
        _refuse_times(reading, source)
    else:
        _to_seconds(table, reading, table.units.get("time", (document or {}).get("time_unit", "s")), source)
    labels = None if document is None else {k: (v["unit"], v["frame"]) for k, v in document["signals"].items()}
    by_header = _to_si(table, labels or {})
    signals, notes, unmeasured = signals_of_table(table, source, labels)
    notes += by_header
    if reading.time_unit is None:
        signals, dated = dates_in_seconds(signals)
        notes += dated
    if not table.poses and "format" not in (document or {}):  # what iparam wrote comes back bit for bit
        signals, dropouts = without_dropouts(signals)
        notes += dropouts
    if reading.time_range is not None:
        signals, lost = _within(signals, reading.time_range, source)
        notes += lost
    try:
        signals = {name: in_channel_unit(name, signal) for name, signal in signals.items()}
    except ContradictionError as error:
        raise ContradictionError(f"{source}: {error}") from None
    stated = (document or {}).get("robot", "")
    name = (robot if isinstance(robot, str) else robot.name) if robot is not None else stated
    if arm is None:
        arm = _known_robot(name)
    else:
        notes += check_same_arm(stated, arm, robot if isinstance(robot, str) else "", source)
    signals, filled = filled_signals(signals, arm)
    check_widths(signals, arm, source)
    stated_angles = {place[0] for column in table.units if (place := signal_of_column(column)) and place[0] in ANGLES}
    if angles is not None:
        _check_angle_units(table.units, angles, source)
    if angles == "degrees":
        signals, turned_notes = angles_from_degrees(signals, arm, stated_angles)
        notes += turned_notes
    elif angles is None:
        for put_right in (angles_in_one_unit, partial(some_angles_from_degrees, stated=stated_angles)):
            signals, turned_notes = put_right(signals, arm)
            notes += turned_notes
    if not table.poses:
        signals, turned_notes = turns_taken_out(signals, arm)
        notes += turned_notes
    if angles is None:
        notes += check_angles(signals, arm, source, stated_angles)
    check_clocks(signals, source)
    metadata = dict(table.stated) if document is None else document["metadata"]
    if unmeasured:
        metadata = {**metadata, UNMEASURED: list(dict.fromkeys((*unmeasured_columns(metadata), *unmeasured)))}
    if table.poses:
        metadata = {**metadata, ROWS: POSES}
    if metadata.get(ROWS) != POSES:
        notes += check_time(
            signals,
            arm if angles is None else None,
            source,
            rate=stated_rate(metadata),
            sure_of_time=reading.time_unit is not None,
            sure_of_angles=angles is not None,
        )
        notes += find_faults(signals)
    earlier = () if document is None else tuple(read_remark(one, source) for one in document["remarks"])
    # Computed once more, where the angles may have been in degrees.
    return with_followers(Recording(name, signals, metadata, (*earlier, *notes)), arm, filled)


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[BinaryIO, str]]:
    """The file, which can be sought in, and its name for messages."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a recording is read from a path, got {type(path).__name__}")
    source = os.fspath(path)
    try:
        stream = open(source, "rb", opener=_open_within)  # noqa: SIM115
    except IsADirectoryError:
        if Path(source, "metadata.yaml").is_file():
            _refuse_bags(BAG_MAGICS[0], source)
        raise FileFormatError(f"{source} is a directory, not a recording") from None
    except (OSError, ValueError) as error:
        raise _unreadable(source, error) from None
    try:
        with stream:
            kind = os.fstat(stream.fileno()).st_mode
            if stat.S_ISREG(kind):
                if not stream.read(1):
                    raise FileFormatError(f"{source} is empty")
                stream.seek(0)
                yield stream, source
            elif stat.S_ISFIFO(kind):
                contents = stream.read(reading_limit() + 1)
                check_size(len(contents), source, "what came out of a pipe")
                yield io.BytesIO(contents), source
            else:
                raise FileFormatError(f"{source} is a device, not a recording")
    except OSError as error:
        raise _unreadable(source, error) from None


def _open_within(path: str, flags: int) -> int:
    """Open a file; a pipe only if something comes out of it in time: one that nobody writes to would block for ever."""
    if not Path(path).is_fifo():
        return os.open(path, flags)
    pipe = os.open(path, flags | os.O_NONBLOCK)
    if not select.select([pipe], [], [], LONGEST_SILENCE)[0]:
        os.close(pipe)
        raise TimeoutError(
            errno.ETIMEDOUT, f"nothing came out of the pipe for {LONGEST_SILENCE:g} s: who writes to it?"
        )
    os.set_blocking(pipe, True)
    return pipe


def _refuse_bags(head: bytes, source: str) -> None:
    for magic in BAG_MAGICS:
        if head.startswith(magic):
            raise FileFormatError(f"{source} is a ROS bag: 'iparam bag import' makes a recording of it")


def _refuse_packed(head: bytes, source: str) -> None:
    for magic, program in PACKED_MAGICS.items():
        if head.startswith(magic):
            raise FileFormatError(f"{source} is packed: unpack it first, by: {program} {source}")


def _to_seconds(table: Table, reading: Reading, stated: str, source: str) -> None:
    """Convert the time of a table, in place, by the unit that its reader, its header or its own metadata give."""
    if NANOSECONDS in table.values:
        table.values["time"] += 1e-9 * table.values.pop(NANOSECONDS)
    where = "header" if "time" in table.units else "metadata"
    if reading.time_unit not in (None, stated) and (stated != "s" or "time" in table.units):
        raise ContradictionError(
            f"{source}: the time is in {stated} by the file's {where} and in {reading.time_unit} as stated: leave "
            f"that out, or correct the {where}",
            argument="time_unit",
        )
    seconds = UNITS["time"][reading.time_unit or stated]
    if seconds < 1.0:
        table.values["time"] /= round(1.0 / seconds)  # a whole number: the quotient is rounded once
    elif seconds > 1.0:
        table.values["time"] *= seconds


def _to_si(table: Table, labels: Mapping[str, tuple[str, str]]) -> list[Remark]:
    """Convert the columns of a table, in place, by the units that its header states; and a remark about it.

    Args:
        table: whose time is in seconds already.
        labels: of signals whose unit its metadata state, which counts.
    """
    told: dict[str, list[str]] = {}
    for column, unit in table.units.items():
        place = signal_of_column(column)
        size = column_size(column, unit)
        if size == 1.0 or (place is not None and place[0] in labels):
            continue
        units = told.setdefault(column if place is None else place[0], [])
        if unit not in units:
            units.append(unit)
        if place is not None and column in table.values:
            table.values[column] *= size
    if not told:
        return []
    listed = ", ".join(f"{name} from {' and '.join(units)}" for name, units in told.items())
    return [remark("units-converted", signals=listed)]


def _check_angle_units(units: Mapping[str, str], angles: str, source: str) -> None:
    """Refuse a unit of angles that the header of a file contradicts."""
    expected = {"degrees": "deg", "radians": "rad"}[angles]
    for column, unit in units.items():
        place = signal_of_column(column)
        if place is not None and place[0] in ANGLES and unit[:3] in ("deg", "rad", "rpm") and unit[:3] != expected:
            raise ContradictionError(
                f"{source}: {column} is in {unit} by the header and in {angles} as stated: leave that out, or "
                "correct the header",
                argument="angles",
            )


def _refuse_times(reading: Reading, source: str) -> None:
    """Refuse a unit or a range of times where rows are poses and have none."""
    for name, given in (("time_unit", reading.time_unit), ("time_range", reading.time_range)):
        if given is not None:
            raise InputError(
                argument=name,
                problem=(
                    f"is about the time, and {source} has none, each row being a pose at rest: leave it out; rows "
                    "such as 'A:B' are a part of the file"
                ),
            )


def _within(
    signals: Mapping[str, Signal], span: tuple[float, float], source: str
) -> tuple[dict[str, Signal], list[Remark]]:
    """The samples in a range of time [s], and which signals have none there."""
    parts = {name: signal.slice(*span) for name, signal in signals.items()}
    kept = {name: part for name, part in parts.items() if part is not None}
    if not kept:
        first, last = min(s.time[0] for s in signals.values()), max(s.time[-1] for s in signals.values())
        raise InputError(
            argument="time_range",
            problem=(
                f"{span[0]:g} {span[1]:g} has no sample of {source}, whose time runs from {first:.6g} to {last:.6g} s"
            ),
        )
    return kept, [
        remark("signal-outside-range", signal=name, start=span[0], stop=span[1]) for name in parts if name not in kept
    ]


def _unreadable(source: str, error: OSError | ValueError) -> FileFormatError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return FileFormatError(f"cannot read {source}: {reason}")


def _robot(robot: Robot | str | None, tip: str | None, stated: Mapping[str, Any] | None = None) -> Robot | None:
    if robot is None or not isinstance(robot, str):
        return robot
    from iparam.robot.loading import StatedArm, load_stated_robot

    return load_stated_robot(robot, StatedArm.from_document(stated or {}), tip)


def _known_robot(name: str) -> Robot | None:
    """The catalogue robot of that name, if there is one; a path that a file names is not followed."""
    from iparam.robot.catalog import catalog_robot, robot_names

    return catalog_robot(name) if name.lower() in robot_names() else None

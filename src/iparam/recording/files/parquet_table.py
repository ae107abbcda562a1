"""Recordings in Parquet: one table of all signals, and everything else as JSON in its metadata; or somebody else's
table with what it says about its columns.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from iparam.errors import ContradictionError, FileFormatError, InputError, IparamError
from iparam.files.json import json_line, parse_json
from iparam.recording.channels import CHANNELS, TOOL, default_frame, signal_of_column
from iparam.recording.files.arrow_columns import Numbers, arrow_of_numbers, numbers_of_arrow
from iparam.recording.files.reading import Reading
from iparam.recording.files.table import Table, TableBuilder, check_names, numbered_poses, table_columns
from iparam.recording.statements import FRAME_KEYS, unmeasured_columns
from iparam.recording.units import QUANTITIES, RATE_KEYS, UNITS, plain_unit, unit_size
from iparam.remarks import remark

if TYPE_CHECKING:
    from iparam.recording.recording import Recording

PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
"""Units of the dates of Arrow in a second."""

_UNIT_KEYS = ("unit", "units")
_TABLE_KEYS = ("robot", "gravity", *_UNIT_KEYS, *FRAME_KEYS, *RATE_KEYS)


def foreign_document(schema: Any, source: str, names: Sequence[str]) -> dict[str, Any] | None:
    """The same document that iparam writes, as far as a table states it; None if it states nothing.

    Args:
        schema: of the table, a ``pyarrow.Schema``.
        source: its file, for messages.
        names: that its columns have in a recording.
    """
    stated = _stated(schema.metadata or {})
    name_of = dict(zip(schema.names, names, strict=True))
    units = {name_of[field.name]: unit for field in schema if (unit := _unit_of(field.metadata or {}))}
    of_table = stated.get("units", stated.get("unit"))
    if isinstance(of_table, dict):
        units |= {name_of[name]: unit for name, unit in of_table.items() if name in name_of and isinstance(unit, str)}
        of_table = {name: unit for name, unit in of_table.items() if name not in name_of}
    time_unit = units.get("time", "s")
    if unit_size("time", time_unit) is None:
        raise ContradictionError(
            f"{source}: the column time is in {time_unit!r} by its metadata; units that can be read: "
            f"{', '.join(UNITS['time'])}"
        )
    robot = stated.get("robot")
    metadata = {key: value for key, value in stated.items() if key not in ("robot", *_UNIT_KEYS)}
    if of_table:
        metadata["units"] = of_table
    signals = _labels(units)
    if not (robot or metadata or signals or time_unit != "s"):
        return None
    return {
        "robot": robot if isinstance(robot, str) else "",
        "signals": signals,
        "metadata": metadata,
        "remarks": [],
        "time_unit": plain_unit(time_unit),
    }


def _stated(metadata: dict[bytes, bytes]) -> dict[str, Any]:
    """The table's own entries, and the attributes of a pandas DataFrame, that mean something here."""
    entries: dict[str, Any] = {}
    for key, value in metadata.items():
        name, content = key.decode("utf-8", "replace"), _plain(value)
        if name == "PANDAS_ATTRS" and isinstance(content, dict):
            entries |= content
        else:
            entries[name] = content
    return {name: value for name, value in entries.items() if name in _TABLE_KEYS}


def _plain(value: bytes) -> Any:
    text = value.decode("utf-8", "replace")
    try:
        return parse_json(text, "a table's metadata")
    except FileFormatError:
        return text


def _unit_of(metadata: dict[bytes, bytes]) -> str:
    return next(
        (metadata[key.encode()].decode("utf-8", "replace") for key in _UNIT_KEYS if key.encode() in metadata), ""
    )


def _labels(units: dict[str, str]) -> dict[str, dict[str, str]]:
    """Signal -> unit and frame, from the units of its columns: one for all, or one for forces and one for torques."""
    found: dict[str, dict[int, str]] = {}
    for column, unit in units.items():
        place = signal_of_column(column)
        if place is not None and place[0] in CHANNELS:
            found.setdefault(place[0], {})[place[1]] = unit
    labels = {}
    for name, by_component in found.items():
        width = max(len(CHANNELS[name].columns), max(by_component) + 1)
        half = width // len(QUANTITIES[name])
        parts = [{unit for i, unit in by_component.items() if i // half == k} for k in range(len(QUANTITIES[name]))]
        unit = ", ".join(" or ".join(sorted(part)) for part in parts if part)
        labels[name] = {"unit": unit, "frame": default_frame(name)}
    return labels


FORMAT = "iparam-recording/1"
MAGIC = b"PAR1"
BATCH_ROWS = 1 << 16
"""Rows that are decoded at once."""

KEY = b"iparam"
"""Of the entry of a table's metadata that has the document of a recording."""

_FORMER_TOOL = "tool0"
"""What the tool frame of any arm was called in files that do not say what they call it."""

_BUFFER = 1 << 20  # bytes of a column that are read at once, instead of all of them


def load_pyarrow() -> Any:
    """The module `pyarrow`, which takes a moment to load: when it is first used, and not before."""
    import pyarrow.parquet

    return pyarrow


def recording_document(recording: Recording) -> dict[str, Any]:
    """What a table of a recording does not hold in its columns: robot, units and frames, metadata and remarks."""
    return {
        "format": FORMAT,
        "robot": recording.robot,
        "tool_label": TOOL,
        "signals": {
            name: {"unit": signal.unit, "frame": signal.frame, "width": signal.width}
            for name, signal in recording.signals.items()
        },
        "metadata": dict(recording.metadata),
        "remarks": [one.to_document() for one in recording.remarks],
    }


def arrow_of_recording(recording: Recording) -> Any:
    """The recording as a ``pyarrow.Table``. A column has nulls where its signal has no sample."""
    pyarrow = load_pyarrow()
    if not recording.signals:
        raise InputError("a table has a row for each sample, and this recording has no signals")
    times, columns = table_columns(recording.signals, unmeasured_columns(recording.metadata))
    arrays = [arrow_of_numbers(times), *(arrow_of_numbers(v, present) for v, present in columns.values())]
    fields = [pyarrow.field(name, pyarrow.float64(), nullable=name != "time") for name in ("time", *columns)]
    schema = pyarrow.schema(fields, metadata={KEY: json_line(recording_document(recording))})
    return pyarrow.table(arrays, schema=schema)


def parquet_of_recording(recording: Recording) -> bytes:
    """The recording as a Parquet file."""
    pyarrow = load_pyarrow()
    table = arrow_of_recording(recording)
    stream = io.BytesIO()
    pyarrow.parquet.write_table(
        table,
        stream,
        compression="zstd",
        use_dictionary=False,
        column_encoding=dict.fromkeys(table.schema.names, "BYTE_STREAM_SPLIT"),
    )
    return stream.getvalue()


def read_parquet_table(stream: BinaryIO, source: str, reading: Reading) -> tuple[Table, dict[str, Any] | None]:
    """The table, and the JSON document of a file that iparam wrote, or what a table of somebody else's states.

    Args:
        stream: the file; it can be sought in.
        source: its name, for messages.
        reading: what its columns mean, and the rows that are wanted.
    """
    with open_parquet(stream, source) as file:
        with _errors(source):
            schema, rows = file.schema_arrow, max(0, file.metadata.num_rows)
        return _read(schema, rows, lambda names: number_batches(file, names, source), source, reading)


def read_arrow_table(table: Any, source: str, reading: Reading) -> tuple[Table, dict[str, Any] | None]:
    """The same of a ``pyarrow.Table``."""

    def batches(names: Sequence[str]) -> Iterator[tuple[int, list[Numbers]]]:
        for batch in table.select(list(names)).to_batches(max_chunksize=BATCH_ROWS):
            yield batch.num_rows, [_numbers(batch.column(name), name, source) for name in names]

    return _read(table.schema, table.num_rows, batches, source, reading)


def _read(
    schema: Any,
    rows: int,
    batches: Callable[[Sequence[str]], Iterator[tuple[int, list[Numbers]]]],
    source: str,
    reading: Reading,
) -> tuple[Table, dict[str, Any] | None]:
    with _errors(source):
        headers = list(schema.names)
        understood = reading.headers(headers, source)
        names = list(understood.names)
        document = _document(schema.metadata or {}, source) or foreign_document(schema, source, names)
        numeric = [
            i for i, field in enumerate(schema) if _holds_numbers(field.type) or _are_dates(names[i], field.type)
        ]
        others = [f"{field.name} ({field.type})" for i, field in enumerate(schema) if i not in numeric]
    check_names(names, source)
    if "time" in names and (time := names.index("time")) not in numeric:
        raise FileFormatError(
            f"{source}: {headers[time]} holds {schema.field(time).type}; it must be numbers, in seconds or in "
            "the unit that is stated",
            argument="time_unit",
        )
    builder = TableBuilder([names[i] for i in numeric], rows, source, "row", reading.rows)
    header_of = {names[i]: headers[i] for i in numeric}
    row = 1
    for count, columns in batches([header_of[name] for name in builder.wanted]):
        values, empty = zip(*columns, strict=True)
        builder.add(np.arange(row, row + count), values, empty)
        row += count
    notes = (remark("columns-without-numbers", columns=", ".join(others)),) if others else ()
    notes = (*understood.notes, *notes)
    dates = any(_are_dates(names[i], schema.field(i).type) for i in numeric)
    units = {**understood.units, "time": "s"} if dates else understood.units  # an option that says otherwise is refused
    table = replace(builder.table(notes), units=units)
    return table if "time" in names else numbered_poses(table), document


@contextlib.contextmanager
def open_parquet(stream: BinaryIO, source: str) -> Iterator[Any]:
    """A ``pyarrow.parquet.ParquetFile``; what is no Parquet is refused."""
    pyarrow = load_pyarrow()
    stream.seek(-min(len(MAGIC), stream.seek(0, os.SEEK_END)), os.SEEK_END)
    if stream.read(len(MAGIC)) != MAGIC:  # a device may have no end
        raise FileFormatError(
            f"{source} is cut off: a Parquet file has its index at the end, and without it nothing can be read"
        )
    with _errors(source):
        file = pyarrow.parquet.ParquetFile(stream, buffer_size=_BUFFER)
        file.schema_arrow.names  # noqa: B018  decoded here, where a fault in them is caught
    with file:
        yield file


def number_batches(file: Any, names: Sequence[str], source: str) -> Iterator[tuple[int, list[Numbers]]]:
    """Some columns of a ``pyarrow.parquet.ParquetFile`` in batches of rows.

    Numbers beyond 2^53 are rounded to the nearest float64, as those of a text are.

    Args:
        file: it.
        names: of the columns; each holds numbers.
        source: the file's name, for messages.

    Yields:
        The number of rows, and for each column its numbers (R,) and where it has none (R,), None for nowhere.
    """
    with _errors(source):
        batches = file.iter_batches(batch_size=BATCH_ROWS, columns=list(names), use_threads=False)
    while True:
        with _errors(source):
            batch = next(batches, None)
            if batch is None:
                return
            found = [_numbers(batch.column(name), name, source) for name in names]
        yield batch.num_rows, found


def _numbers(array: Any, name: str, source: str) -> Numbers:
    pyarrow = load_pyarrow()
    if pyarrow.types.is_timestamp(array.type):
        numbers, empty = numbers_of_arrow(array.cast(pyarrow.int64()))
        return numbers / PER_SECOND[array.type.unit], empty
    if not _holds_numbers(array.type):
        raise FileFormatError(f"{source}: column {name} holds {array.type}, not numbers")
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pyarrow.types.is_decimal(array.type):
        array = array.cast(pyarrow.float64())
    return numbers_of_arrow(array)


def _are_dates(name: str, kind: Any) -> bool:
    """Whether a column is the time, in dates."""
    return name == "time" and bool(load_pyarrow().types.is_timestamp(kind))


def _holds_numbers(kind: Any) -> bool:
    types = load_pyarrow().types
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind))


@contextlib.contextmanager
def _errors(source: str) -> Iterator[None]:
    """Around calls of pyarrow: what damaged contents lead to is told as such, whatever its type."""
    try:
        yield
    except (IparamError, MemoryError):
        raise
    except UnicodeDecodeError:
        raise FileFormatError(f"{source} cannot be read as Parquet: the names of its columns are not UTF-8") from None
    except Exception as error:
        raise FileFormatError(f"{source} cannot be read as Parquet: {error}") from None


def _document(metadata: Mapping[bytes, bytes], source: str) -> dict[str, Any] | None:
    if KEY not in metadata:
        return None
    try:
        document = parse_json(metadata[KEY], "it")
    except FileFormatError as error:
        raise FileFormatError(f"{source}: its metadata is damaged: {error}") from None
    form = document.get("format") if isinstance(document, dict) else None
    if form != FORMAT:
        family = FORMAT.rpartition("/")[0]
        newer = isinstance(form, str) and form.startswith(f"{family}/")
        reason = "another version of iparam wrote it" if newer else "it is no recording"
        raise FileFormatError(f"{source} has the format {form!r}, and this iparam reads {FORMAT!r}: {reason}")
    shapes = {"robot": str, "signals": dict, "metadata": dict, "remarks": list}
    for key, kind in shapes.items():
        if not isinstance(document.get(key), kind):
            raise FileFormatError(f"{source}: its metadata is damaged: {key!r} is not a {kind.__name__}")
    before = "tool_label" not in document
    for name, entry in document["signals"].items():
        if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("unit", "frame")):
            raise FileFormatError(f"{source}: its metadata is damaged: signal {name!r} lacks unit or frame")
        if before and entry["frame"] == _FORMER_TOOL and default_frame(name) == TOOL:
            entry["frame"] = TOOL
    return dict(document)

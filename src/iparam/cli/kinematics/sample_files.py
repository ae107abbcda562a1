"""Reads joint motions for `iparam kinematics batch`: trajectory files, and tables with a row a sample.

A table has the columns time, q0.., dq0.., ddq0..; nothing is differentiated. CSV and Parquet are read in blocks, so
that a long recording does not have to fit into memory.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import iparam
from iparam.arrays import FloatArray, as_float_array
from iparam.errors import FileFormatError, InputError
from iparam.files.json import read_json
from iparam.recording.files.arrow_columns import numbers_of_arrow

BLOCK_SAMPLES = 65536
TABLE_SUFFIXES = (".json", ".csv", ".parquet")
_GROUPS = ("q", "dq", "ddq")
_LONGEST_HEADER = 1 << 20
_LARGEST_JSON = 200_000_000


@dataclass(frozen=True, eq=False)
class SampleBlock:
    """Consecutive samples: time (N,) [s], and q, dq, ddq (N, n) [rad or m, per s, per s^2]."""

    time: FloatArray
    q: FloatArray
    dq: FloatArray
    ddq: FloatArray

    def split(self) -> Iterator[SampleBlock]:
        """The same samples in blocks of BLOCK_SAMPLES."""
        for start in range(0, self.time.size, BLOCK_SAMPLES):
            part = slice(start, start + BLOCK_SAMPLES)
            yield SampleBlock(self.time[part], self.q[part], self.dq[part], self.ddq[part])


def is_trajectory_file(path: Path) -> bool:
    """Whether the file is a trajectory, i.e. a JSON object that says so or has coefficients, and not a table."""
    if path.suffix.lower() != ".json":
        return False
    content = _json_object(path)
    return str(content.get("format", "")).startswith("iparam-trajectory") or "coefficients" in content


def read_table(path: Path, num_joints: int) -> Iterator[SampleBlock]:
    """The samples of a CSV, Parquet or JSON table for an arm of ``num_joints`` joints, in blocks."""
    readers = {".json": _json_blocks, ".csv": _csv_blocks, ".parquet": _parquet_blocks}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{path}: unknown suffix {path.suffix!r} of --input; known: {', '.join(TABLE_SUFFIXES)}")
    row = 0
    for columns in reader(path, _column_names(num_joints)):
        yield _block(path, columns, num_joints, row)
        row += len(columns[0])
    if row == 0:
        raise FileFormatError(f"{path} holds no samples")


def _column_names(num_joints: int) -> list[str]:
    return ["time", *(f"{group}{joint}" for group in _GROUPS for joint in range(num_joints))]


def _block(path: Path, columns: Sequence[Any], num_joints: int, first_row: int) -> SampleBlock:
    names = _column_names(num_joints)
    table = np.empty((len(columns[0]), len(names)))
    for index, (name, column) in enumerate(zip(names, columns, strict=True)):
        values = np.asarray(column)
        if values.dtype.kind not in "fiu" or values.shape != table.shape[:1]:
            raise FileFormatError(f"{path}: column {name} must hold {table.shape[0]} numbers, one in each row")
        table[:, index] = values
    if not np.isfinite(table).all():
        row, index = np.argwhere(~np.isfinite(table))[0]
        raise FileFormatError(f"{path}: {names[index]} of sample {first_row + row} is missing or not a finite number")
    time, q, dq, ddq = np.split(table, [1, 1 + num_joints, 1 + 2 * num_joints], axis=1)
    return SampleBlock(
        time[:, 0], *(as_float_array(part, name) for name, part in zip(_GROUPS, (q, dq, ddq), strict=True))
    )


def _check_columns(path: Path, found: Sequence[str], wanted: Sequence[str]) -> None:
    num_joints = (len(wanted) - 1) // len(_GROUPS)
    repeated = [name for name in wanted if found.count(name) > 1]
    if repeated:
        raise FileFormatError(f"{path} has the column {repeated[0]} more than once")
    if f"q{num_joints}" in found:
        raise FileFormatError(
            f"{path} has a column q{num_joints}: it belongs to an arm of more than {num_joints} joints"
        )
    missing = [name for name in wanted if name not in found]
    if missing:
        last = num_joints - 1
        for group in _GROUPS:
            whole = [f"{group}{joint}" for joint in range(num_joints)]
            if set(whole) <= set(missing):
                missing = [name for name in missing if name not in whole] + [f"{whole[0]}..{whole[-1]}"]
        raise FileFormatError(
            f"{path} lacks {', '.join(missing)}. A table needs the columns time, q0..q{last}, dq0..dq{last} and "
            f"ddq0..ddq{last}: iparam does not differentiate positions on its own."
        )


def _csv_blocks(path: Path, names: Sequence[str]) -> Iterator[list[Any]]:
    import pyarrow
    import pyarrow.csv

    pyarrow.enable_signal_handlers(False)  # they lose Ctrl-C: now and then the command went on
    if path.is_fifo():  # the file is read twice
        raise FileFormatError(f"{path} is no regular file")
    try:
        with path.open("rb") as file:
            line = file.readline(_LONGEST_HEADER).decode("utf-8-sig").rstrip("\r\n")
            header = [name.strip() for name in next(csv.reader([line]), [])]
            _check_columns(path, header, names)
        with pyarrow.OSFile(os.fsencode(path)) as stream:  # not Python's: Ctrl-C would end one of its reads
            reader = pyarrow.csv.open_csv(
                stream,
                read_options=pyarrow.csv.ReadOptions(column_names=header, skip_rows=1, use_threads=False),
                convert_options=pyarrow.csv.ConvertOptions(
                    include_columns=list(names), column_types=dict.fromkeys(names, pyarrow.float64())
                ),
            )
            for batch in reader:
                yield [numbers_of_arrow(column)[0] for column in batch.columns]
    except OSError as error:
        raise _unreadable(path, error) from None
    except (UnicodeDecodeError, csv.Error, pyarrow.ArrowException) as error:
        raise FileFormatError(f"{path} is not a table of numbers: {error}") from None


def _parquet_blocks(path: Path, names: Sequence[str]) -> Iterator[list[Any]]:
    try:
        with path.open("rb") as stream, iparam.recording.open_parquet(stream, str(path)) as file:
            _check_columns(path, file.schema_arrow.names, names)
            for _, columns in iparam.recording.number_batches(file, names, str(path)):
                yield [values for values, _ in columns]
    except OSError as error:
        raise _unreadable(path, error) from None


def _json_blocks(path: Path, names: Sequence[str]) -> Iterator[list[Any]]:
    """Columns as lists, {"time": [...], "q0": [...], ...}, or in groups, {"time": [...], "q": [[...], ...], ...}."""
    content = _json_object(path)
    try:
        for group in _GROUPS:
            if group in content:
                rows = np.asarray(content.pop(group))
                content.update({f"{group}{joint}": rows[:, joint] for joint in range(rows.shape[1])})
        columns = {name: np.asarray(content[name]) for name in names if name in content}
        sizes = {name: len(column) for name, column in columns.items()}
    except (ValueError, TypeError, IndexError, OverflowError):
        raise FileFormatError(f"{path}: its columns must be lists of numbers, all of the same length") from None
    _check_columns(path, list(content), names)
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise FileFormatError(f"{path}: its columns have different lengths: {found}")
    for start in range(0, sizes["time"], BLOCK_SAMPLES):
        yield [columns[name][start : start + BLOCK_SAMPLES] for name in names]


def _json_object(path: Path) -> dict[str, Any]:
    hint = "save the table as .csv or .parquet, which are read in blocks"
    return read_json(path, _LARGEST_JSON, hint, finite=False).content


def _unreadable(path: Path, error: OSError) -> FileFormatError:
    return FileFormatError(f"cannot read {path}: {error.strerror or error}")

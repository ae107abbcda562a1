"""Signals of different rates as one table: a row for every time stamp, empty cells where a signal has no sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError
from iparam.recording.channels import CHANNELS, column_names, default_frame, default_unit, signal_of_column
from iparam.recording.places import listed
from iparam.recording.row_times import usable_rows
from iparam.recording.signal import Signal

MAX_WIDTH = 1000
"""Components of a signal: more is no measurement of an arm, and not worth the memory a column name can ask for."""


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of numbers.

    Attributes:
        names: of the columns; one is "time".
        values: (R, C); NaN where there is no number.
        empty: (R, C) true where a cell is empty on purpose: no sample, as opposed to a damaged one.
        lines: (R,) where each row stands in the file: line or row numbers from 1.
        row_word: what the numbers in ``lines`` are called, "line" or "row".
        notes: what reading it found wrong.
    """

    names: tuple[str, ...]
    values: FloatArray
    empty: NDArray[np.bool_]
    lines: NDArray[np.int64]
    row_word: str = "line"
    notes: tuple[str, ...] = field(default=())


def table_columns(signals: Mapping[str, Signal]) -> tuple[FloatArray, dict[str, tuple[FloatArray, NDArray[np.bool_]]]]:
    """All time stamps (R,), and for every column its values (R,) and where it has one (R,)."""
    times = np.unique(np.concatenate([signal.time for signal in signals.values()]))
    columns: dict[str, tuple[FloatArray, NDArray[np.bool_]]] = {}
    for name, signal in signals.items():
        rows = np.searchsorted(times, signal.time)
        present = np.zeros(times.size, dtype=bool)
        present[rows] = True
        for i, column in enumerate(column_names(name, signal.width)):
            values = np.zeros(times.size)
            values[rows] = signal.values[:, i]
            columns[column] = (values, present)
    return times, columns


def signals_of_table(
    table: Table, source: str, labels: Mapping[str, tuple[str, str]] | None = None
) -> tuple[dict[str, Signal], list[str]]:
    """The signals in a table, and what was wrong with it.

    Args:
        table: what was read.
        source: the file, for messages.
        labels: unit and frame by signal; None takes those of the names.
    """
    notes = list(table.notes)
    _check_names(table, source)
    groups, unknown = _groups(table.names)
    if unknown:
        notes.append(f"columns that say nothing to iparam were left out: {', '.join(unknown)}")
    time = table.values[:, table.names.index("time")]
    kept, time_notes = usable_rows(time, table.lines, table.row_word)
    notes += time_notes
    signals: dict[str, Signal] = {}
    for name, columns in groups.items():
        missing = [f"{name}{i}" if text is None else text for i, text in _holes(name, columns)]
        if missing:
            notes.append(f"{name} was left out: {_some(missing)} missing")
            continue
        indices = np.array([columns[i] for i in range(len(columns))])
        values = table.values[np.ix_(kept, indices)]
        absent = table.empty[np.ix_(kept, indices)].all(axis=1)
        good = np.isfinite(values).all(axis=1)
        damaged = table.lines[kept][~good & ~absent]
        if damaged.size:
            notes.append(
                f"{name} lacks a finite number in {damaged.size} samples, which were left out: {table.row_word} "
                f"{listed(damaged)}"
            )
        if not good.any():
            notes.append(f"{name} was left out: it has no complete sample")
            continue
        unit, frame = (labels or {}).get(name, (default_unit(name), default_frame(name)))
        signals[name] = Signal(time[kept][good], values[good], unit, frame)
    if not signals:
        reason = "; ".join(notes) or "it has no column but time"
        raise FileFormatError(f"{source} holds no usable samples: {reason}")
    return signals, notes


def _check_names(table: Table, source: str) -> None:
    repeated = sorted({name for name in table.names if name != "_" and table.names.count(name) > 1})
    if repeated:
        raise FileFormatError(f"{source} has the column {repeated[0]!r} more than once")
    if "time" not in table.names:
        raise FileFormatError(f"{source} has no column 'time'; its columns: {_some(table.names)}")


def _groups(names: tuple[str, ...]) -> tuple[dict[str, dict[int, int]], list[str]]:
    """Signal -> component -> column, in the order of the file, and the columns that belong to none."""
    groups: dict[str, dict[int, int]] = {}
    unknown = []
    for column, name in enumerate(names):
        found = signal_of_column(name)
        if found is not None and found[1] < MAX_WIDTH:
            groups.setdefault(found[0], {})[found[1]] = column
        elif name not in ("time", "_"):
            unknown.append(name)
    return groups, unknown


def _holes(name: str, columns: Mapping[int, int]) -> list[tuple[int, str | None]]:
    fixed = CHANNELS[name].columns if name in CHANNELS else ()
    width = len(fixed) or max(columns) + 1
    return [(i, fixed[i] if fixed else None) for i in range(width) if i not in columns]


def _some(names: tuple[str, ...] | list[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

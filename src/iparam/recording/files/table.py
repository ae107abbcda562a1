"""Signals of different rates as one table: a row for every time stamp, empty cells where a signal has no sample.
Rows without a usable time stamp go, as few as possible.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, InputError
from iparam.files.reading_limit import check_size
from iparam.recording.channels import (
    CHANNELS,
    EFFORTS,
    NANOSECONDS,
    column_names,
    default_frame,
    default_unit,
    signal_of_column,
)
from iparam.recording.signal import Signal
from iparam.remarks import Remark, messages, remark

MOST_LISTED = 8
"""Places that a message names."""


def listed(numbers: NDArray[np.int64] | Sequence[int]) -> str:
    """Increasing numbers for a message: the first few, runs joined, and how many places more there are."""
    array = np.asarray(numbers, dtype=np.int64)
    starts = np.flatnonzero(np.diff(array, prepend=array[:1] - 2) != 1)
    ends = np.append(starts[1 : MOST_LISTED + 1], array.size)[:MOST_LISTED] - 1
    parts = [
        str(array[first]) if first == last else f"{array[first]}-{array[last]}"
        for first, last in zip(starts[:MOST_LISTED], ends, strict=False)
    ]
    return ", ".join(parts) + (f" and {starts.size - MOST_LISTED} more places" if starts.size > MOST_LISTED else "")


_DIGITS = re.compile(r"\d+")

FEW = 0.05
"""Share of rows out of order up to which they are strays; beyond, the clock was set back, or, if as many steps run
backwards, the rows have another order."""


def usable_rows(time: FloatArray, lines: NDArray[np.int64], row_word: str) -> tuple[NDArray[np.int64], list[Remark]]:
    """Indices of the rows to keep, and what was wrong with the others.

    Rows without a time and rows that repeat the time before them go. Of stray rows as few as possible go: one time
    stamp far ahead costs itself and not all that follow. If the clock was set back, the longest stretch stays. Rows in
    another order than that of time are sorted.

    Args:
        time: (R,) [s]; NaN where the cell is empty or damaged.
        lines: (R,) their places in the file.
        row_word: "line" or "row".
    """
    notes: list[Remark] = []
    rows = np.flatnonzero(np.isfinite(time))
    if rows.size < time.size:
        lost = lines[~np.isfinite(time)]
        notes.append(remark("rows-without-time", count=lost.size, word=row_word, lines=listed(lost)))
    repeats = np.flatnonzero(np.diff(time[rows]) == 0.0) + 1
    if repeats.size:
        at = rows[repeats]
        notes.append(remark("time-repeated", count=at.size, word=row_word, lines=listed(lines[at]), first=time[at[0]]))
        rows = np.delete(rows, repeats)
    stamps = time[rows]
    back = np.flatnonzero(np.diff(stamps) <= 0.0) + 1
    if back.size == 0:
        return rows, notes
    first = f"{row_word} {lines[rows[back[0]]]}, from {stamps[back[0] - 1]:g} to {stamps[back[0]]:g} s"
    order = _longest_increasing(stamps)
    if order.size >= (1.0 - FEW) * stamps.size:
        lost = np.delete(lines[rows], order)
        notes.append(remark("rows-out-of-order", place=first, count=lost.size, word=row_word, lines=listed(lost)))
        return rows[order], notes
    if back.size > FEW * stamps.size:
        ordered, first_of = np.unique(stamps, return_index=True)
        notes.append(remark("rows-sorted", steps=back.size, place=first, count=stamps.size - ordered.size))
        return rows[first_of], notes
    stretches = np.split(np.arange(stamps.size), back)
    longest = max(stretches, key=len)
    notes.append(
        remark(
            "clock-set-back",
            place=first,
            steps=back.size,
            word=row_word,
            first=lines[rows[longest[0]]],
            last=lines[rows[longest[-1]]],
            count=stamps.size - longest.size,
        )
    )
    return rows[longest], notes


def _longest_increasing(values: FloatArray) -> NDArray[np.int64]:
    """Indices of a longest strictly increasing subsequence (patience sorting, n log n)."""
    tops: list[float] = []
    top_rows: list[int] = []
    before = np.full(values.size, -1, dtype=np.int64)
    for row, value in enumerate(values.tolist()):
        if not tops or value > tops[-1]:
            pile = len(tops)
            tops.append(value)
            top_rows.append(row)
        else:
            pile = bisect_left(tops, value)
            tops[pile], top_rows[pile] = value, row
        before[row] = top_rows[pile - 1] if pile else -1
    found = np.empty(len(tops), dtype=np.int64)
    row = top_rows[-1]
    for place in range(len(tops) - 1, -1, -1):
        found[place] = row
        row = int(before[row])
    return found


MAX_WIDTH = 1000
"""Components of a signal: more is no measurement of an arm, and not worth the memory a column name can ask for."""

MAX_COLUMNS = 2000
"""Columns of a table; a UR arm sends 70."""

_BESIDE = 4
"""Columns that the memory would hold in place of what is made beside them: the place of each row, and of its time which
rows are usable, their times and steps. Much of a table with two columns."""


@dataclass(frozen=True, eq=False)
class Table:
    """Named columns of numbers, as a file has them.

    Attributes:
        names: of all columns of the file, in its order; one is "time".
        values: of the columns that have a meaning, (R,) each; NaN where there is no number. `signals_of_table` takes
            them out one after the other, so that they are not in memory twice.
        empty: of those that have any, (R,) each: true where a cell is empty on purpose: no sample, as opposed to a
            damaged one.
        lines: (R,) where each row stands in the file: line or row numbers from 1.
        row_word: what the numbers in ``lines`` are called, "line" or "row".
        notes: what reading it found wrong.
        poses: whether each row is a pose at rest, and its time the number of the row.
        units: that the headers state, by column; the values are in them.
        stated: metadata that a comment states.
    """

    names: tuple[str, ...]
    values: dict[str, FloatArray]
    empty: Mapping[str, NDArray[np.bool_]]
    lines: NDArray[np.int64]
    row_word: str = "line"
    notes: tuple[Remark, ...] = field(default=())
    poses: bool = False
    units: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, Any] = field(default_factory=dict)

    def only(self, kept: NDArray[np.bool_]) -> Table:
        """The rows for which ``kept`` (R,) is true; the values are taken out of this table one by one."""
        values = {name: self.values.pop(name)[kept] for name in list(self.values)}
        empty = {name: nothing[kept] for name, nothing in self.empty.items()}
        return replace(self, values=values, empty=empty, lines=self.lines[kept])


class TableBuilder:
    """Puts a table together from blocks of rows, in arrays that are made once.

    Args:
        names: of all columns of the file.
        most_rows: that there can be.
        source: the file, for messages.
        row_word: "line" or "row".
        rows: of the file that are wanted, None for all.
        first: the place of row 0.
    """

    def __init__(
        self,
        names: Sequence[str],
        most_rows: int,
        source: str,
        row_word: str,
        rows: slice | None = None,
        first: int = 1,
    ) -> None:
        self.names, self.wanted = tuple(names), [name for name in names if has_meaning(name)]
        count, self._first = len(self.wanted), first
        self._range: range | None = None
        if rows is not None:
            self._range = range(*rows.indices(most_rows))
            if not self._range:
                raise InputError(
                    f"{_row_text(rows)!r} has none of the {most_rows} rows of {source}",
                    argument="rows",
                    value=_row_text(rows),
                )
            most_rows = len(self._range)
        check_size(8 * most_rows * (count + _BESIDE), source, f"{most_rows} rows of {count} numbers")
        self._source, self._row_word, self._size = source, row_word, 0
        self._values = {name: np.empty(most_rows) for name in self.wanted}
        self._empty: dict[str, NDArray[np.bool_]] = {}
        self._lines = np.empty(most_rows, dtype=np.int64)

    def add(
        self, lines: NDArray[np.int64], values: Sequence[NDArray[Any]], empty: Sequence[NDArray[np.bool_] | None]
    ) -> None:
        """Add rows: their places, and of each wanted column (R,) its numbers and where it is empty (None: nowhere)."""
        wanted = self._wants(lines)
        if wanted is not None:
            lines, values = lines[wanted], [numbers[wanted] for numbers in values]
            empty = [None if nothing is None else nothing[wanted] for nothing in empty]
        start, stop = self._size, self._size + lines.size
        if stop > self._lines.size:
            raise FileFormatError(f"{self._source} is damaged: it has more rows than it says")
        self._lines[start:stop] = lines
        for name, numbers, nothing in zip(self.wanted, values, empty, strict=True):
            self._values[name][start:stop] = numbers
            if nothing is not None and nothing.any():
                mask = self._empty.setdefault(name, np.zeros(self._lines.size, dtype=bool))
                mask[start:stop] = nothing
        self._size = stop

    def wanted_lines(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of these places those in the range that is wanted."""
        wanted = self._wants(lines)
        return lines if wanted is None else lines[wanted]

    def _wants(self, lines: NDArray[np.int64]) -> NDArray[np.bool_] | None:
        if self._range is None:
            return None
        offset = lines - self._first - self._range.start
        inside = (offset >= 0) & (lines - self._first < self._range.stop)
        wanted: NDArray[np.bool_] = inside & (offset % self._range.step == 0)
        return wanted

    def table(self, notes: Sequence[Remark] = ()) -> Table:
        """What was added."""
        return Table(
            self.names,
            {name: column[: self._size] for name, column in self._values.items()},
            {name: column[: self._size] for name, column in self._empty.items()},
            self._lines[: self._size],
            self._row_word,
            tuple(notes),
        )


def _row_text(rows: slice) -> str:
    parts = ["" if part is None else str(part) for part in (rows.start, rows.stop, rows.step)]
    return ":".join(parts if rows.step is not None else parts[:2])


def has_meaning(name: str) -> bool:
    """Whether a column of that name is read: the time, or a component of a signal."""
    found = signal_of_column(name)
    return name in ("time", NANOSECONDS) or (found is not None and found[1] < MAX_WIDTH)


def check_names(names: Sequence[str], source: str) -> None:
    """Refuse columns that cannot be told apart, or are too many, or have no time."""
    if len(names) > MAX_COLUMNS:
        raise FileFormatError(
            f"{source} has more than the {MAX_COLUMNS} columns that are read: is it a table with a column a signal?"
        )
    repeated = sorted(name for name, count in Counter(names).items() if count > 1 and name != "_")
    if repeated:
        raise FileFormatError(f"{source} has the column {repeated[0]!r} more than once")
    if names and names[0].lstrip().startswith("<"):
        raise FileFormatError(f"{source} is a page or another XML file, and no table with a column a signal")
    if "time" not in names and not tells_poses(names):
        poses = (
            ". If its rows are poses at rest, it needs columns that say how the sensor stood: qw qx qy qz, r11 .. r33 "
            "or gx gy gz (a map says which they are)"
            if set(names).issuperset(CHANNELS["wrench"].columns)
            else ""
        )
        raise FileFormatError(
            f"{source} has no column 'time'; its columns: {_some(names)}. If one of them is the time, say so{poses}",
            fix={"map": f"time={_likely_time(names)}"},
        )


def _likely_time(names: Sequence[str]) -> str:
    """The column that a message proposes as the time."""
    named = (name for name in names if any(word in name.lower() for word in ("time", "stamp", "clock")))
    return next(named, names[0] if names else "stamp")


def tells_poses(names: Sequence[str]) -> bool:
    """Whether columns without a time are those of poses at rest: a wrench, and how the sensor stands."""
    known = set(names)
    stands = ("orientation", "rotation", "gravity_in_sensor")
    return known.issuperset(CHANNELS["wrench"].columns) and any(known.issuperset(CHANNELS[s].columns) for s in stands)


def numbered_poses(table: Table) -> Table:
    """A table of poses with the number of the row in place of the time."""
    count = table.lines.size
    note = remark("rows-are-poses", count=count)
    return replace(
        table,
        names=(*table.names, "time"),
        values={**table.values, "time": np.arange(float(count))},
        notes=(*table.notes, note),
        poses=True,
    )


def table_columns(
    signals: Mapping[str, Signal], unmeasured: Sequence[str] = ()
) -> tuple[FloatArray, dict[str, tuple[FloatArray, NDArray[np.bool_]]]]:
    """All time stamps (R,), and for every column its values (R,) and where it has one (R,): nowhere if unmeasured."""
    times = np.unique(np.concatenate([signal.time for signal in signals.values()]))
    columns: dict[str, tuple[FloatArray, NDArray[np.bool_]]] = {}
    for name, signal in signals.items():
        rows = np.searchsorted(times, signal.time)
        present = np.zeros(times.size, dtype=bool)
        present[rows] = True
        for i, column in enumerate(column_names(name, signal.width)):
            values = np.zeros(times.size)
            values[rows] = signal.values[:, i]
            columns[column] = (values, present & (column not in unmeasured))
    return times, columns


def signals_of_table(
    table: Table, source: str, labels: Mapping[str, tuple[str, str]] | None = None
) -> tuple[dict[str, Signal], list[Remark], tuple[str, ...]]:
    """The signals in a table, what was wrong with it, and the columns of joints whose effort it does not have: zeros.

    Args:
        table: what was read.
        source: the file, for messages.
        labels: unit and frame by signal; None takes those of the names.
    """
    notes = list(table.notes)
    groups, unknown = _groups(table.names)
    if unknown:
        notes.append(remark("columns-unknown", columns=_some(unknown, 100)))
    every = table.values.pop("time")
    usable, time_notes = usable_rows(every, table.lines, table.row_word)
    as_it_is = np.array_equal(usable, np.arange(every.size))
    kept = slice(None) if as_it_is else usable  # a slice makes no copies
    time, lines = every[kept], table.lines[kept]
    notes += time_notes
    signals: dict[str, Signal] = {}
    unmeasured: list[str] = []
    for name, columns in groups.items():
        if lacking := _without_sensor(name, groups, table):
            unmeasured += lacking
            some = ", ".join(str(int(column.removeprefix(name)) + 1) for column in lacking)
            notes.append(remark("effort-unmeasured", signal=name, joints=some))
            for column in lacking:
                columns[int(column.removeprefix(name))] = column
                table.values[column] = np.zeros(every.size)
        missing = [f"{name}{i}" if text is None else text for i, text in _holes(name, columns)]
        if missing:
            notes.append(remark("signal-incomplete", signal=name, columns=_some(missing)))
            continue
        values, absent = np.empty((time.size, len(columns))), np.ones(time.size, dtype=bool)
        for i in range(len(columns)):
            values[:, i] = table.values.pop(columns[i])[kept]
            if columns[i] not in unmeasured:
                absent &= table.empty[columns[i]][kept] if columns[i] in table.empty else False
        good = np.isfinite(values).all(axis=1)
        damaged = lines[~good & ~absent]
        if damaged.size:
            notes.append(
                remark(
                    "samples-not-finite",
                    signal=name,
                    count=damaged.size,
                    word=table.row_word,
                    lines=listed(damaged),
                )
            )
        if not good.any():
            notes.append(remark("signal-without-sample", signal=name))
            continue
        unit, frame = (labels or {}).get(name, (default_unit(name), default_frame(name)))
        if good.all():
            signals[name] = Signal(time, values, unit, frame)
        else:
            signals[name] = Signal(time[good], values[good], unit, frame)
    if not signals:
        reason = " ".join(messages(notes)) or "it has no column but time"
        example = next((pattern for name in table.names if (pattern := _DIGITS.sub("*", name)) != name), "NAME*")
        raise FileFormatError(
            f"{source} holds no usable samples: {reason}. Say which columns are which, e.g. that 'q={example}' are "
            "joint angles",
            argument="map",
        )
    return signals, notes, tuple(unmeasured)


def _groups(names: tuple[str, ...]) -> tuple[dict[str, dict[int, str]], list[str]]:
    """Signal -> component -> column, in the order of the file, and the columns that belong to none."""
    groups: dict[str, dict[int, str]] = {}
    unknown = []
    for name in names:
        found = signal_of_column(name)
        if found is not None and has_meaning(name):
            groups.setdefault(found[0], {})[found[1]] = name
        elif name not in ("time", NANOSECONDS, "_"):
            unknown.append(name)
    return groups, unknown


def _without_sensor(name: str, groups: Mapping[str, Mapping[int, str]], table: Table) -> list[str]:
    """The columns that a signal of the drives has no number in, where all joints have angles and some a number."""
    angles, columns = groups.get("q", {}), groups[name]
    joints = range(len(angles))
    if name not in EFFORTS or angles.keys() != set(joints) or not columns.keys() <= angles.keys():
        return []
    told = {joint for joint, column in columns.items() if np.isfinite(table.values[column]).any()}
    # The first ones alone may be as well those of joints that have other numbers.
    if not told or (told == set(range(len(told))) and columns.keys() == told):
        return []
    return [f"{name}{joint}" for joint in joints if joint not in told]


def _holes(name: str, columns: Mapping[int, str]) -> list[tuple[int, str | None]]:
    fixed = CHANNELS[name].columns if name in CHANNELS else ()
    width = len(fixed) or max(columns) + 1
    return [(i, fixed[i] if fixed else None) for i in range(width) if i not in columns]


def _some(names: Sequence[str], most: int = 12) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")

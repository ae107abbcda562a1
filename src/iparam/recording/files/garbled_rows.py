"""Rows that were garbled while they were written: too few cells, two numbers in one, values that cannot be. A few are
left out; a file with more of them is not what it was taken for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError
from iparam.recording.channels import signal_of_column
from iparam.recording.files.number_rows import NumberRows
from iparam.recording.files.table import Table, listed
from iparam.remarks import Remark, messages, remark

GARBLED_SHARE = 0.01
"""Share of the rows of a file that may be garbled; one row always may."""

LONGEST_RUN = 3
"""Rows one after the other that can be garbled: what lasts longer was measured."""

FAR_POSITION = 3.0
"""Distance of a position from the rest of its channel that is absurd, in ranges of that channel."""

FAR_VALUE = 100.0
"""Size of any other value that is absurd, in sizes of its channel: impacts are large, too."""

SMALLEST_RANGE = 1.0
"""Least range of the positions of a channel [rad, deg or m]: an arm at rest has none, and may still twitch."""

_POSITIONS = ("q", "target_q")
_TAIL = 0.02  # share of the values at either end that does not count for the range of a channel
_SAMPLED = 4096  # values from which that range is found
_LEAST = 20  # rows that tell what is usual


@dataclass(eq=False)
class GarbledRows:
    """Collects them while a text is read.

    Attributes:
        source: the file, for messages.
        num_columns: that a row should have.
        short: line numbers of rows with another number of cells.
        text: line numbers of rows with text where a number belongs.
        sample: the first such text.
    """

    source: str
    num_columns: int
    short: list[NDArray[np.int64]] = field(default_factory=list)
    text: list[NDArray[np.int64]] = field(default_factory=list)
    sample: str = ""

    def add(self, rows: NumberRows, short: NDArray[np.int64], text: NDArray[np.int64]) -> None:
        """Of rows that were read, those lines that count."""
        self.short.append(short)
        self.text.append(text)
        self.sample = self.sample or (rows.text if text.size else "")

    def leave_out(self, table: Table) -> tuple[Table, list[Remark]]:
        """The table without rows that hold absurd values, and a remark on every kind of garbled rows.

        Raises:
            FileFormatError: there are more than `GARBLED_SHARE` of them.
        """
        short, text = (np.concatenate([_NO_LINES, *parts]) for parts in (self.short, self.text))
        absurd, example = absurd_rows(table.values)
        lost = _NO_LINES if absurd is None else table.lines[absurd]
        total = table.lines.size + short.size + text.size
        garbled = np.sort(np.concatenate([short, text, lost]))
        kinds = []
        if short.size:
            kinds.append(remark("rows-of-other-width", count=short.size, columns=self.num_columns, lines=listed(short)))
        if text.size:
            kinds.append(remark("rows-with-text", count=text.size, example=repr(self.sample[:20]), lines=listed(text)))
        if lost.size:
            kinds.append(remark("rows-absurd", count=lost.size, example=example, lines=listed(lost)))
        if garbled.size > max(1.0, GARBLED_SHARE * total):
            raise FileFormatError(
                f"{self.source}: {garbled.size} of {total} rows are garbled, and at most {100 * GARBLED_SHARE:g} % are "
                f"left out. {' '.join(messages(kinds))} Read a sound part of it",
                argument="rows",
            )
        if absurd is not None:
            table = table.only(~absurd)
        return table, kinds


def absurd_rows(values: Mapping[str, FloatArray]) -> tuple[NDArray[np.bool_] | None, str]:
    """Which rows hold a value far from all others of its channel, for a few rows only; None for none, and an example.

    A channel is all components of a signal, so that a joint that rests is not judged by its own noise. What stays far
    away is no garbled row: the arm went there.

    Args:
        values: the columns (R,) of a table, by their names.
    """
    channels: dict[str, list[str]] = {}
    for column in values:
        place = signal_of_column(column)
        if place is not None:
            channels.setdefault(place[0], []).append(column)
    absurd: NDArray[np.bool_] | None = None
    example = ""
    for channel, columns in channels.items():
        usual = {column: found for column in columns if (found := _usual(values[column])) is not None}
        if not usual:
            continue
        if channel in _POSITIONS:
            bound = FAR_POSITION * max(SMALLEST_RANGE, *(high - low for low, _, high in usual.values()))
        else:
            bound = FAR_VALUE * max(max(abs(low), abs(high)) for low, _, high in usual.values())
        for column, (_, middle, _) in usual.items():
            numbers = values[column]
            least, most = np.fmin.reduce(numbers), np.fmax.reduce(numbers)
            if bound == 0.0 or max(most - middle, middle - least) <= bound:
                continue
            runs = _short_runs((np.abs(numbers - middle) > bound) & np.isfinite(numbers))
            if runs.any():
                example = example or f"{column} = {numbers[runs][0]:.4g}"
                absurd = runs if absurd is None else absurd | runs
    return absurd, example


def _usual(numbers: FloatArray) -> tuple[float, float, float] | None:
    """Lower end, middle and upper end of what a column usually holds; None if there is too little of it."""
    sample = numbers[:: max(1, numbers.size // _SAMPLED)]
    sample = sample[np.isfinite(sample)]
    if sample.size < _LEAST:
        return None
    low, middle, high = np.quantile(sample, [_TAIL, 0.5, 1.0 - _TAIL])
    return float(low), float(middle), float(high)


def _short_runs(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The mask without its runs of more than `LONGEST_RUN`."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    short = np.zeros(mask.size, dtype=bool)
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        if stop - start <= LONGEST_RUN:
            short[start:stop] = True
    return short


_NO_LINES = np.empty(0, dtype=np.int64)

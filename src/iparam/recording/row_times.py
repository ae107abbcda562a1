"""Which rows of a table have usable time stamps: strictly increasing, with as few rows lost as possible."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.recording.places import listed

FEW = 0.05
"""Share of rows out of order up to which they are strays; beyond, the clock was set back, or, if as many steps run
backwards, the rows have another order."""


def usable_rows(time: FloatArray, lines: NDArray[np.int64], row_word: str) -> tuple[NDArray[np.int64], list[str]]:
    """Indices of the rows to keep, and what was wrong with the others.

    Rows without a time and rows that repeat the time before them go. Of stray rows as few as possible go: one time
    stamp far ahead costs itself and not all that follow. If the clock was set back, the longest stretch stays. Rows in
    another order than that of time are sorted.

    Args:
        time: (R,) [s]; NaN where the cell is empty or damaged.
        lines: (R,) their places in the file.
        row_word: "line" or "row".
    """
    notes: list[str] = []
    rows = np.flatnonzero(np.isfinite(time))
    if rows.size < time.size:
        lost = lines[~np.isfinite(time)]
        notes.append(f"{lost.size} rows without a time were left out: {row_word} {listed(lost)}")
    repeats = np.flatnonzero(np.diff(time[rows]) == 0.0) + 1
    if repeats.size:
        at = rows[repeats]
        notes.append(
            f"time repeats itself in {at.size} rows, which were left out: {row_word} {listed(lines[at])}, first at "
            f"{time[at[0]]:g} s"
        )
        rows = np.delete(rows, repeats)
    stamps = time[rows]
    back = np.flatnonzero(np.diff(stamps) <= 0.0) + 1
    if back.size == 0:
        return rows, notes
    first = f"{row_word} {lines[rows[back[0]]]}, from {stamps[back[0] - 1]:g} to {stamps[back[0]]:g} s"
    order = _longest_increasing(stamps)
    if order.size >= (1.0 - FEW) * stamps.size:
        lost = np.delete(lines[rows], order)
        notes.append(
            f"time runs backwards at {first}; {lost.size} rows out of order were left out: {row_word} {listed(lost)}"
        )
        return rows[order], notes
    if back.size > FEW * stamps.size:
        ordered, first_of = np.unique(stamps, return_index=True)
        notes.append(
            f"the rows are not in the order of time ({back.size} steps run backwards, first at {first}) and were "
            f"sorted; {stamps.size - ordered.size} with the time of another were left out"
        )
        return rows[first_of], notes
    stretches = np.split(np.arange(stamps.size), back)
    longest = max(stretches, key=len)
    notes.append(
        f"time runs backwards at {first}: the clock was set back {back.size} times. Only the longest stretch was kept, "
        f"{row_word} {lines[rows[longest[0]]]} to {lines[rows[longest[-1]]]}; {stamps.size - longest.size} rows were "
        "left out"
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

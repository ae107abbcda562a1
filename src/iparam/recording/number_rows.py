"""Reads rows of numbers from text: fast where the text is sound, line by line where it is not."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray

_LINES_A_BLOCK = 2000


@dataclass(frozen=True, eq=False)
class NumberRows:
    """The rows of a text that have the right number of cells.

    Attributes:
        values: (R, C); NaN or infinite where a cell is empty or no finite number.
        empty: (R, C) true where a cell is empty.
        lines: (R,) line numbers, from 1.
        bad_lines: line numbers of rows that were left out, having another number of cells.
    """

    values: FloatArray
    empty: NDArray[np.bool_]
    lines: NDArray[np.int64]
    bad_lines: tuple[int, ...] = ()


def parse_rows(
    text: bytes, num_columns: int, delimiter: str, first_line: int = 1, wanted: Sequence[int] | None = None
) -> NumberRows:
    """Read rows of ``num_columns`` cells.

    Args:
        text: the rows, ASCII numbers; line ends of any kind.
        num_columns: C.
        delimiter: one character.
        first_line: number of the first line in its file.
        wanted: the columns that hold numbers; the others may hold anything, and come out as NaN. None for all.
    """
    wanted = range(num_columns) if wanted is None else wanted
    sound = _parse_sound(text, num_columns, delimiter, wanted)
    if sound is not None:
        values, empty = sound
        return NumberRows(values, empty, np.arange(first_line, first_line + len(values)))
    lines = text.splitlines()
    parts: list[tuple[FloatArray, NDArray[np.bool_]]] = []
    numbers: list[int] = []
    bad_lines: list[int] = []
    for start in range(0, len(lines), _LINES_A_BLOCK):
        block = lines[start : start + _LINES_A_BLOCK]
        first = first_line + start
        sound = _parse_sound(b"\n".join(block) + b"\n", num_columns, delimiter, wanted)
        if sound is not None and len(sound[0]) == len(block):
            parts.append(sound)
            numbers += range(first, first + len(block))
            continue
        rows = [(first + i, _cells(line, delimiter)) for i, line in enumerate(block) if line.strip()]
        good = [(number, cells) for number, cells in rows if len(cells) == num_columns]
        bad_lines += [number for number, cells in rows if len(cells) != num_columns]
        if good:
            values = np.full((len(good), num_columns), np.nan)
            values[:, wanted] = [[_number(cells[i]) for i in wanted] for _, cells in good]
            empty = np.array([[not cell for cell in cells] for _, cells in good])
            parts.append((values, empty))
            numbers += [number for number, _ in good]
    if not parts:
        parts = [(np.empty((0, num_columns)), np.empty((0, num_columns), dtype=bool))]
    return NumberRows(
        np.concatenate([values for values, _ in parts]),
        np.concatenate([empty for _, empty in parts]),
        np.array(numbers, dtype=np.int64),
        tuple(bad_lines),
    )


def _parse_sound(
    text: bytes, num_columns: int, delimiter: str, wanted: Sequence[int]
) -> tuple[FloatArray, NDArray[np.bool_]] | None:
    """Values and empty cells of a text without any fault, or None if it has one."""
    import pyarrow
    import pyarrow.csv

    names = [str(i) for i in range(num_columns)]
    try:
        table = pyarrow.csv.read_csv(
            io.BytesIO(text),
            read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=max(1 << 20, len(text) // 64)),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.float64()),
                include_columns=[names[i] for i in wanted],
                null_values=[""],
            ),
        )
    except pyarrow.ArrowException:
        return None
    values = np.full((table.num_rows, num_columns), np.nan)
    empty = np.zeros((table.num_rows, num_columns), dtype=bool)
    for i, column in zip(wanted, table.columns, strict=True):
        values[:, i] = column.to_numpy()
        if column.null_count:
            empty[:, i] = column.is_null().to_numpy()
    return values, empty


def _cells(line: bytes, delimiter: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.decode("utf-8", errors="replace").split(delimiter)]


def _number(cell: str) -> float:
    try:
        return float(cell) if "_" not in cell else math.nan
    except ValueError:
        return math.nan

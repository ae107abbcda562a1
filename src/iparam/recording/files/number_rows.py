"""Rows of numbers from text, in blocks of whole lines so that a file never has to be in memory as a whole: fast
where the text is sound, line by line where it is not.
"""

from __future__ import annotations

import contextlib
import csv
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError
from iparam.recording.files.arrow_columns import numbers_of_arrow

BLOCK = 1 << 22
"""Bytes that are read at once."""

LONGEST_LINE = 1 << 20
"""Bytes of a line; a longer one is no row of a table."""

_LINE_END = re.compile(rb"\r\n|\n|\r")


class TextBlock(NamedTuple):
    """Consecutive lines.

    Attributes:
        text: them, with their ends; only the last line of the file may lack its end.
        first_line: the number of the first one in its file.
        previous: the line before them, without its end; empty for the first block.
    """

    text: bytes
    first_line: int
    previous: bytes


def first_line(text: bytes) -> tuple[bytes, int]:
    """The first line without its end, and where the next one begins; the whole text if it has no line end."""
    found = _LINE_END.search(text)
    return (text, len(text)) if found is None else (text[: found.start()], found.end())


def count_lines(stream: BinaryIO) -> int:
    """How many lines there are from here on, whether or not the last one has an end."""
    count, last = 0, b"\n"
    while piece := stream.read(BLOCK):
        count += _line_ends(piece) - (last + piece[:1] == b"\r\n")
        last = piece[-1:]
    return count + (last not in (b"\n", b"\r"))


def text_blocks(stream: BinaryIO, source: str, number: int) -> Iterator[TextBlock]:
    """The lines from here on.

    Args:
        stream: the file.
        source: its name, for messages.
        number: of the next line.
    """
    rest, previous = b"", b""
    while piece := stream.read(BLOCK):
        text = rest + piece
        end = text.rfind(b"\n") + 1 or (text.rfind(b"\r", 0, len(text) - 1) + 1)  # the last \r may be half of \r\n
        rest = text[end:]
        if len(rest) > LONGEST_LINE and len(first_line(rest)[0]) > LONGEST_LINE:
            line = number + _line_ends(text[:end])
            raise FileFormatError(f"{source} is no table: line {line} is longer than {LONGEST_LINE >> 20} MiB")
        if end:
            yield TextBlock(text[:end], number, previous)
            number += _line_ends(text[:end])
            previous = text[max(0, end - 2 * LONGEST_LINE) : end].splitlines()[-1]
    if rest:
        yield TextBlock(rest, number, previous)


def _line_ends(text: bytes) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


_NO_LINES = np.empty(0, dtype=np.int64)

_NOTHING = ("", "na", "n/a", "#n/a", "<na>", "null", "none", "nil", "-", "--")
"""What programs write into a cell that has no number, in lower case; nan is a number."""

_LINES_A_PART = 2000
"""Lines that are read one by one if there is a fault in one of them."""


@dataclass(frozen=True, eq=False)
class NumberRows:
    """The rows of a text that have the right number of cells, in columns.

    Attributes:
        lines: (R,) line numbers.
        values: of each wanted column (R,); NaN or infinite where a cell is empty or no finite number.
        empty: of each wanted column (R,), true where a cell is empty; None if none is.
        bad_lines: (B,) line numbers of rows that were left out, having another number of cells.
        text_lines: (C,) line numbers of rows that were left out, having text where a number belongs.
        text: the first such text; "" without any.
    """

    lines: NDArray[np.int64]
    values: list[FloatArray]
    empty: list[NDArray[np.bool_] | None]
    bad_lines: NDArray[np.int64]
    text_lines: NDArray[np.int64]
    text: str = ""


def parse_rows(
    text: bytes, num_columns: int, delimiter: str, first_line: int, wanted: Sequence[int]
) -> Iterator[NumberRows]:
    """Read rows of ``num_columns`` cells, in parts.

    Args:
        text: whole rows, ASCII numbers; line ends of any kind.
        num_columns: C.
        delimiter: one character.
        first_line: number of the first line in its file.
        wanted: the columns that hold numbers; the others may hold anything.
    """
    sound = _parse_sound(text, num_columns, delimiter, first_line, wanted)
    if sound is not None:
        yield sound
        return
    lines = text.splitlines()
    for start in range(0, len(lines), _LINES_A_PART):
        part, first = lines[start : start + _LINES_A_PART], first_line + start
        sound = _parse_sound(b"\n".join(part) + b"\n", num_columns, delimiter, first, wanted)
        if sound is not None and sound.lines.size == len(part):
            yield sound
        else:
            yield _parse_lines(part, num_columns, delimiter, first, wanted)


def _parse_sound(
    text: bytes, num_columns: int, delimiter: str, first_line: int, wanted: Sequence[int]
) -> NumberRows | None:
    """The rows of a text without any fault, or None if it has one."""
    import pyarrow
    import pyarrow.csv

    names = [str(i) for i in range(num_columns)]
    try:
        table = pyarrow.csv.read_csv(
            pyarrow.BufferReader(text),
            # In this thread: one of Arrow's own that still holds the text when Python ends makes the process abort.
            read_options=pyarrow.csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=pyarrow.csv.ParseOptions(delimiter=delimiter, quote_char=False, ignore_empty_lines=False),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.float64()),
                include_columns=[names[i] for i in wanted],
                null_values=[""],
            ),
        )
    except pyarrow.ArrowException:
        return None
    columns = [numbers_of_arrow(column) for column in table.columns]
    return NumberRows(
        np.arange(first_line, first_line + table.num_rows),
        [values for values, _ in columns],
        [empty for _, empty in columns],
        _NO_LINES,
        _NO_LINES,
    )


def _parse_lines(
    lines: Sequence[bytes], num_columns: int, delimiter: str, first_line: int, wanted: Sequence[int]
) -> NumberRows:
    rows = [(first_line + i, _cells(line, delimiter, num_columns)) for i, line in enumerate(lines) if line.strip()]
    whole = [(number, cells) for number, cells in rows if len(cells) == num_columns]
    good: list[tuple[int, list[float], list[bool]]] = []
    text_lines, text = [], ""
    for number, cells in whole:
        numbers = [_number(cells[i]) for i in wanted]
        found = [value for value in numbers if value is not None]
        if len(found) == len(numbers):
            good.append((number, found, [not cells[i] for i in wanted]))
        else:
            text_lines.append(number)
            text = text or cells[wanted[numbers.index(None)]]
    values = np.array([found for _, found, _ in good], dtype=np.float64).reshape(len(good), len(wanted))
    empty = np.array([nothing for _, _, nothing in good], dtype=bool).reshape(len(good), len(wanted))
    return NumberRows(
        np.array([number for number, _, _ in good], dtype=np.int64),
        list(values.T),
        list(empty.T),
        np.array([number for number, cells in rows if len(cells) != num_columns], dtype=np.int64),
        np.array(text_lines, dtype=np.int64),
        text,
    )


def _cells(line: bytes, delimiter: str, num_columns: int) -> list[str]:
    text = line.decode("utf-8", errors="replace")
    cells = text.split(delimiter)
    if '"' in text and len(cells) != num_columns:  # a text may have the delimiter in it
        with contextlib.suppress(csv.Error):
            cells = next(csv.reader([text], delimiter=delimiter, skipinitialspace=True), cells)
    return [cell.strip().strip('"') for cell in cells]


def _number(cell: str) -> float | None:
    """A number; NaN where a cell is empty or says that there is none; None for any other text."""
    try:
        if "_" not in cell:
            return float(cell)
    except ValueError:
        pass
    return math.nan if cell.lower() in _NOTHING else None

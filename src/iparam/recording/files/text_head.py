"""Where a table begins in a text: its comments, its header, the row of units below it, and what parts its cells."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.errors import FileFormatError
from iparam.files.json import json_line, parse_json
from iparam.recording.files.headers import bare_header
from iparam.recording.files.number_rows import first_line
from iparam.recording.files.table import has_meaning
from iparam.recording.files.usual_names import usual_columns
from iparam.recording.units import UNITS, plain_unit

LOOKED_AT = 200
"""Lines from which the number of columns is found."""

_BLANKS = " "
_COMMENTS = (b"#", b"%", b"//")
_DECIMAL_COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(rb"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(rb"[+-]?\d*,?\d+(?:[eE][+-]?\d+)?")
_DATE = re.compile(rb"(?:(\d{4}-\d\d-\d\d)[T ])?(\d\d:\d\d:\d\d)(?:[.,](\d{1,6})\d*)?(?:Z|[+-]\d\d:?\d\d)?")
"""A date and time of day, or a time of day: in one log the zone is the same."""

_KNOWN_UNITS = frozenset(unit for sizes in UNITS.values() for unit in sizes)


@dataclass(frozen=True)
class Layout:
    """How the cells of a text are told apart.

    Attributes:
        delimiter: between them; `_BLANKS` for any number of blanks and tabs.
        decimal_comma: whether numbers have a comma for a point.
        dates: the column whose cells are dates or times of day; None for none.
    """

    delimiter: str
    decimal_comma: bool = False
    dates: int | None = None

    @property
    def plain_delimiter(self) -> str:
        """What stands between the cells of a `plain` text."""
        return "," if self.delimiter == _BLANKS else self.delimiter

    def plain(self, text: bytes) -> bytes:
        """Lines with a single delimiter, decimal points, and seconds for dates."""
        if self.dates is not None:
            text = self._with_seconds(text, self.dates)
        if self.decimal_comma:
            text = text.replace(b",", b".")
        if self.delimiter != _BLANKS:
            return text
        lines = b"\n".join(b",".join(line.split()) for line in text.splitlines())
        return lines + b"\n" if text.endswith((b"\n", b"\r")) else lines

    def _with_seconds(self, text: bytes, column: int) -> bytes:
        """Lines whose dates in a column are replaced by seconds since 1970; what is none stays."""
        mark = self.delimiter.encode()
        rows = [line.split(mark) for line in text.splitlines()]
        for row in rows:
            found = _DATE.fullmatch(row[column].strip().strip(b'"')) if len(row) > column else None
            if found is not None:
                instant = b"%sT%s.%s" % (found[1] or b"1970-01-01", found[2], found[3] or b"0")
                try:
                    since = int(np.datetime64(instant.decode(), "us").astype(np.int64))
                except ValueError:  # the 45th of a month
                    continue
                point = b"," if self.decimal_comma else b"."
                row[column] = b"%d%s%06d" % (since // 1_000_000, point, since % 1_000_000)
        lines = b"\n".join(mark.join(row) for row in rows)
        return lines + b"\n" if text.endswith((b"\n", b"\r")) else lines

    def cells(self, line: bytes) -> list[bytes]:
        """The cells of a line that was not made plain."""
        cells = line.split() if self.delimiter == _BLANKS else line.split(self.delimiter.encode())
        return [cell.strip().strip(b'"') for cell in cells]


METADATA = b"# iparam-metadata: "
"""Before the metadata that a text has room for, as JSON in a comment above the header."""

STATED = ("applied", "setup")
"""Entries of the metadata that a text states."""


def metadata_line(metadata: Mapping[str, Any]) -> bytes:
    """The comment that states the metadata; nothing if there is nothing to state."""
    stated = {key: metadata[key] for key in STATED if key in metadata}
    return METADATA + json_line(stated).encode() + b"\n" if stated else b""


def stated_metadata(comments: bytes) -> dict[str, Any]:
    """What the comments above a table state, as `metadata_line` wrote it."""
    for line in comments.splitlines():
        if line.startswith(METADATA):
            document = parse_json(line.removeprefix(METADATA), "a comment of a table")
            if isinstance(document, dict):
                return {key: value for key, value in document.items() if key in STATED}
    return {}


def comments_before(text: bytes) -> tuple[int, bytes, int]:
    """Where the first line that is no comment and not blank begins, the last comment, and the number of that line."""
    begin, comment = 0, b""
    lines = text[: 1 << 18].splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith(_COMMENTS):
            return begin, comment, number
        comment = line.strip() or comment
        begin += len(line)
    return 0, b"", 1


@dataclass(frozen=True)
class TableStart:
    """What stands above the rows of numbers of a text.

    Attributes:
        header: number of the line that has the names of the columns, from 0; it has as many cells as the numbers below
            it, and none that is empty, as those of groups of columns are. Of several the one that says most.
        numbers: number of the line of the first numbers.
        lines: of the text, up to that.
    """

    header: int
    numbers: int
    lines: tuple[bytes, ...]

    def length(self, line: int) -> int:
        """Of the text before a line."""
        return sum(len(one) for one in self.lines[:line])

    @property
    def above(self) -> bytes:
        """The line above the header; nothing if there is none."""
        return self.lines[self.header - 1] if self.header else b""


def table_start(text: bytes) -> TableStart:
    """Where a table begins below lines of another kind, such as a title, and names of groups; at once if it is not
    clear.
    """
    lines = text[: 1 << 18].splitlines(keepends=True)[:LOOKED_AT]
    filled = [line for line in lines if line.strip()]
    rows = filled[len(filled) // 2 :]
    layout = Layout(delimiter(rows))
    widths = Counter(len(layout.cells(line)) for line in rows)
    width = widths.most_common(1)[0][0] if widths else 0
    if width < 2 or len(filled) < 3:
        return TableStart(0, 0, ())
    above: list[int] = []
    for number, line in enumerate(lines):
        cells = layout.cells(line)
        if len(cells) != width:
            continue
        if 2 * sum(_is_number(cell.decode("utf-8", "replace")) for cell in cells) >= width:
            break
        above.append(number)
    else:
        return TableStart(0, 0, ())
    whole = [row for row in above if all(layout.cells(lines[row]))]
    header = max(whole or above, key=lambda row: _understood(layout.cells(lines[row])), default=0)
    return TableStart(header, number, tuple(lines[: number + 1]))


def _understood(cells: Sequence[bytes]) -> int:
    """How many names mean something, where they can be told apart."""
    names = [bare_header(cell.decode("utf-8", "replace"))[0] for cell in cells]
    known = {place for place, name in enumerate(names) if has_meaning(name.lower())} | usual_columns(names).keys()
    return len(known) if len(set(names)) == len(names) else 0


def told_apart(header: Sequence[str], above: bytes, below: bytes, layout: Layout) -> tuple[list[str], int]:
    """A header whose names repeat themselves, with the names of their groups in the row above, or with what the row
    below adds; and how much of the text below that takes.

    Args:
        header: the names.
        above: the line above, whose empty cells belong to the group before.
        below: the text below.
        layout: of the text.
    """
    if len(set(header)) == len(header) and all(header):
        return list(header), 0
    line, end = first_line(below)
    rows = [[cell.decode("utf-8", "replace") for cell in layout.cells(one)] for one in (above, line)]
    for groups, names, taken in ((rows[0], list(header), 0), (list(header), rows[1], end)):
        if len(groups) == len(names) and (not taken or _are_names(groups, names)):
            pairs = zip(_to_the_right(groups), names, strict=True)
            joined = [f"{a}_{b}" if a and b and a != b else a or b for a, b in pairs]
            if len(set(joined)) == len(joined):
                return joined, taken
    return list(header), 0


def _to_the_right(cells: Sequence[str]) -> list[str]:
    """With the text before in empty cells, as cells are meant that were joined in a spreadsheet."""
    found: list[str] = []
    for cell in cells:
        found.append(cell or (found[-1] if found else ""))
    return found


def _are_names(groups: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether the row below names of groups tells their members apart, and is none of numbers: it has text or nothing
    somewhere, and its numbers count the members of each group.
    """
    numbers: dict[str, list[str]] = {}
    for group, cell in zip(_to_the_right(groups), cells, strict=True):
        if _is_number(cell):
            numbers.setdefault(group, []).append(cell)
    counted = [[str(first + k) for k in range(len(own))] for own in numbers.values() for first in (0, 1)]
    return sum(map(len, numbers.values())) < len(cells) and all(own in counted for own in numbers.values())


def units_below(text: bytes, header: Sequence[str], layout: Layout) -> tuple[list[str], int]:
    """A header with the units of the row below it in brackets, and how much of the text that row takes; 0 for none."""
    line, end = first_line(text)
    cells = layout.cells(line)
    if len(cells) != len(header) or not _are_units(cells):
        return list(header), 0
    units = [cell.decode("utf-8").strip("[]()") for cell in cells]
    named = [
        f"{name} [{unit}]" if plain_unit(unit) in _KNOWN_UNITS and not bare_header(name)[1] else name
        for name, unit in zip(header, units, strict=True)
    ]
    return named, end


def _are_units(cells: Sequence[bytes]) -> bool:
    """Whether cells hold units, some of which may be missing or a dash."""
    words = [cell.decode("utf-8", "replace").strip("[]() ") for cell in cells]
    known = [plain_unit(word) in _KNOWN_UNITS for word in words if word not in ("", "-", "1")]
    return bool(known) and all(known)


def column_of_dates(lines: Sequence[bytes], names: Sequence[str], layout: Layout) -> int | None:
    """The column of the time if its first cell is a date or a time of day."""
    if "time" not in names or layout.delimiter == _BLANKS:
        return None
    column = names.index("time")
    cells = next((cells for line in lines if len(cells := layout.cells(line)) == len(names)), [])
    return column if cells and _DATE.fullmatch(cells[column]) else None


def delimiter(lines: Sequence[bytes]) -> str:
    """What parts the cells: of tabs, semicolons, bars and commas the first that the first line and most others have."""
    looked_at = [re.sub(rb"([,;|])[ \t]+", rb"\1", line.strip()) for line in lines[:20]]
    if not looked_at:
        return ","
    words = [line.split() for line in looked_at]
    blanks = len(words[0]) > 1 and len({len(line) for line in words}) == 1
    decimal_commas = blanks and all(map(_COMMA_NUMBER.fullmatch, words[-1]))
    for mark in (b"\t", b";", b"|", b","):
        having = sum(mark in line for line in looked_at)
        if mark in looked_at[0] and 2 * having > len(looked_at) and not (mark == b"," and decimal_commas):
            return mark.decode()
    return _BLANKS if blanks else ","


def has_decimal_commas(lines: Sequence[bytes], names: Sequence[str], layout: Layout) -> bool:
    """Whether commas in the numbers of a table stand for points: they part no cells, and no number has a point."""
    if layout.delimiter == ",":
        return False
    wanted = [i for i, name in enumerate(names) if has_meaning(name)]
    rows = [cells for line in lines if len(cells := layout.cells(line)) == len(names)]
    numbers = [cells[i] for cells in rows for i in wanted]
    return any(map(_DECIMAL_COMMA.fullmatch, numbers)) and not any(map(_DECIMAL_POINT.fullmatch, numbers))


def header_names(text: bytes, comment: bytes, source: str, layout: Layout) -> tuple[list[str], int]:
    """The names of the columns, and how much of the text they take: the first line, or none of it where they are the
    comment before.
    """
    line, end = first_line(text)
    try:
        names = _names(line, layout)
        if names and all(_is_number(name) for name in names):
            words = comment.lstrip(b"#%/ \t")
            before = _names(words, layout)
            if len(before) == len(names):
                return before, 0
            raise FileFormatError(
                f"{source} has no header: its first line holds {len(names)} numbers. Say what its columns are; a "
                "group name, such as q, takes one column a joint. An example",
                fix={"columns": "time,q,dq,current"},
            )
    except csv.Error as error:
        raise FileFormatError(f"{source} is not a table of numbers: {error}") from None
    return names, end


def _names(line: bytes, layout: Layout) -> list[str]:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        text = line.decode("latin-1")  # a degree sign, as older spreadsheets write it
    if layout.delimiter == _BLANKS:
        return text.split()
    return [name.strip() for name in next(csv.reader([text], delimiter=layout.delimiter), [])]


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True

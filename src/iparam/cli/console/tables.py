"""How a table is laid out in as many columns as a terminal has: no number, and no word, is ever cut.

What does not fit is first given headers of several lines, then sentences of several lines; a table that is still too
wide becomes blocks, one a row: its first cell, then a line for each other, with the name of its column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len

GAP = 2
"""Blanks between two columns."""

_SENTENCE = re.compile(r"(?=.* ).*[^\W\d]{3}.*")  # words, and not only numbers with their unit

_COPIED = re.compile(r"iparam(?: [a-z][a-z-]+)+|--[a-z][\w-]*(?:(?: [-+]?\d\S*)+| \S+)?")  # commands, options


@dataclass(frozen=True)
class Line:
    """A line of a table, and whether it names columns."""

    text: str
    is_header: bool = False


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]], room: int | None) -> list[Line]:
    """The lines of a table.

    Args:
        header: names of the columns.
        rows: their cells, each row as long as the header.
        room: columns of the terminal; None for as many as it takes.
    """
    columns = [[row[index] for row in rows] for index in range(len(header))]
    widths = _widths(header, columns, room)
    if widths is None:
        assert room is not None
        return [Line(line) for line in _blocks(header, rows, room)]
    lines = [Line(line, is_header=True) for line in _row(header, widths)]
    return lines + [Line(line) for row in rows for line in _row(row, widths)]


def fields_in_room(lines: Sequence[str], room: int | None) -> list[str]:
    """Lines of names and values, those that follow a long one indented, laid out anew where one does not fit."""
    if room is None or all(cell_len(line) <= room for line in lines):
        return list(lines)
    whole: list[str] = []
    for line in lines:
        if whole and line.startswith(" "):
            whole[-1] = f"{whole[-1]} {line.strip()}"
        else:
            whole.append(line)
    return [part for line in whole for part in _field(line, room)]


def _field(line: str, room: int) -> list[str]:
    """One of them, broken between words, what follows below the value; an option and its value stay together."""
    if cell_len(line) <= room:
        return [line]
    found = re.match(r"\S+(?: \S+)* {2,}", line)
    indent = found.end() if found and found.end() < room // 2 else 2
    first, rest = (line[:indent], line[indent:]) if found and indent > 2 else ("", line)
    kept = _COPIED.sub(lambda match: match[0].replace(" ", "\0"), rest)
    parts = [part.replace("\0", " ") for part in _wrapped(kept, room - indent)]
    return [f"{' ' * indent if index else first}{part}" for index, part in enumerate(parts)]


def _widths(header: Sequence[str], columns: Sequence[Sequence[str]], room: int | None) -> list[int] | None:
    """That of each column; None if no layout in columns fits."""
    cells = [max(map(cell_len, column), default=0) for column in columns]
    names = [cell_len(name) for name in header]
    whole = [max(pair) for pair in zip(cells, names, strict=True)]
    if room is None or _total(whole) <= room:
        return whole
    least = [max(cell, _longest_word(name)) for cell, name in zip(cells, header, strict=True)]
    for index, column in enumerate(columns):
        if any(map(_SENTENCE.fullmatch, column)):
            least[index] = max(map(_longest_word, (header[index], *column)))
    if _total(least) > room:
        return None
    # Names of columns are broken before sentences are, of these the longest most, and what a row is called at last.
    widths = [max(cell, _longest_word(name)) for cell, name in zip(cells, header, strict=True)]
    while _total(widths) > room:
        widths[max(range(len(widths)), key=lambda i: (i > 0 and widths[i] > least[i], widths[i] - least[i]))] -= 1
    for index in range(len(widths)):  # what is left over, to names that then need no second line
        widths[index] += max(min(whole[index] - widths[index], room - _total(widths)), 0)
    return widths


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """The first to the left, the others to the right."""
    parts = [_wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for pieces in zip_longest(*parts, fillvalue=""):
        blanks = [" " * (width - cell_len(piece)) for piece, width in zip(pieces, widths, strict=True)]
        shown = [pieces[0] + blanks[0], *(blank + piece for blank, piece in zip(blanks[1:], pieces[1:], strict=True))]
        yield (" " * GAP).join(shown).rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words, none wider unless a word is."""
    if cell_len(text) <= width:
        return [text]
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _blocks(header: Sequence[str], rows: Sequence[Sequence[str]], room: int) -> Iterator[str]:
    """One a row."""
    names = max(map(cell_len, header[1:]), default=0)
    for index, row in enumerate(rows):
        if index:
            yield ""
        yield from _wrapped(row[0], room) if row[0] else ()
        for name, cell in zip(header[1:], row[1:], strict=True):
            line = f"  {name}{' ' * (names - cell_len(name))}  {cell}".rstrip()
            if cell_len(line) <= room or not cell:
                yield line
                continue
            yield from (f"  {part}".rstrip() for part in _wrapped(name, room - 2))
            yield from (f"    {part}" for part in _wrapped(cell, room - 4))

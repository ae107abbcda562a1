"""A text file as blocks of whole lines, so that it never has to be in memory as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from iparam.errors import FileFormatError

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

"""Reads the rows of a damaged SQLite database from its pages, without the tree that should lead to them.

A database that was cut, or whose writer died, is refused by SQLite as a whole although most of its pages are sound. A
page with rows can be read alone: it lists where its rows begin, and a row says the types and lengths of its values.
See https://www.sqlite.org/fileformat2.html for the format.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

MAGIC = b"SQLite format 3\0"

Value = None | int | float | bytes | str

_TABLE_LEAF = 0x0D
_FIXED_SIZES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


def rows_of_pages(stream: BinaryIO) -> Iterator[tuple[int, list[Value]]]:
    """Every row on a whole page of the file, as its row number and its values, page by page.

    Rows of all tables come mixed; rows that do not fit their page and continue on one that is missing are left out.
    """
    size, page_size, usable = _sizes(stream)
    if not page_size:
        return
    used: set[int] = set()  # pages that rows continue on: each belongs to one row, so that a damaged file has no loops
    for number in range(size // page_size):
        page = _page(stream, number, page_size)
        start = 100 if number == 0 else 0
        if page[start] != _TABLE_LEAF:
            continue
        (count,) = struct.unpack_from(">H", page, start + 3)
        for cell in range(min(count, (page_size - start - 8) // 2)):
            (place,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
            try:
                yield _row(stream, page, place, page_size, usable, used)
            except (IndexError, ValueError, struct.error):
                continue


def ends_inside_page(stream: BinaryIO) -> bool:
    """Whether a database was cut inside a page, the rest of which SQLite would take for zeros without a word."""
    size, page_size, _ = _sizes(stream)
    return not page_size or size % page_size != 0


def _sizes(stream: BinaryIO) -> tuple[int, int, int]:
    """Of the file, of a page and of the part of it that is used [bytes]; the latter 0 if it is no database."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    head = stream.read(100)
    if len(head) < 100 or head[:16] != MAGIC:
        return size, 0, 0
    page_size = int.from_bytes(head[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    usable = page_size - head[20]
    if page_size < 512 or page_size & (page_size - 1) or usable < 480:
        return size, 0, 0
    return size, page_size, usable


def _page(stream: BinaryIO, number: int, page_size: int) -> bytes:
    stream.seek(number * page_size)
    page = stream.read(page_size)
    if len(page) < page_size:
        raise ValueError("the page is missing")
    return page


def _row(
    stream: BinaryIO, page: bytes, place: int, page_size: int, usable: int, used: set[int]
) -> tuple[int, list[Value]]:
    length, place = _varint(page, place)
    number, place = _varint(page, place)
    largest = usable - 35
    if length <= largest:
        record = page[place : place + length]
    else:
        least = (usable - 12) * 32 // 255 - 23
        here = least + (length - least) % (usable - 4)
        here = here if here <= largest else least
        parts = [page[place : place + here]]
        missing = length - here
        (following,) = struct.unpack_from(">I", page, place + here)
        while missing > 0 and following:
            if following in used:
                raise ValueError("two rows continue on one page")
            used.add(following)
            overflow = _page(stream, following - 1, page_size)
            parts.append(overflow[4 : 4 + min(missing, usable - 4)])
            missing -= len(parts[-1])
            following = int.from_bytes(overflow[:4], "big")
        record = b"".join(parts)
    if len(record) < length:
        raise ValueError("the row is cut")
    return number, _values(record)


def _values(record: bytes) -> list[Value]:
    """The values of a record: the types of all first, then the contents."""
    body, place = _varint(record, 0)
    values: list[Value] = []
    content = body
    while place < body:
        kind, place = _varint(record, place)
        size = _FIXED_SIZES.get(kind, (kind - 12) // 2 if kind >= 12 else -1)
        piece = record[content : content + size]
        if size < 0 or len(piece) < size:
            raise ValueError("a value is cut")
        content += size
        if kind == 0:
            values.append(None)
        elif kind == 7:
            values.append(float(struct.unpack(">d", piece)[0]))
        elif kind in (8, 9):
            values.append(kind - 8)
        elif kind < 12:
            values.append(int.from_bytes(piece, "big", signed=True))
        else:
            values.append(piece.decode("utf-8") if kind % 2 else piece)
    return values


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for count in range(9):
        byte = data[place + count]
        if count == 8:
            return (value << 8) | byte, place + 9
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, place + count + 1
    raise ValueError("no number")

"""Tables of numbers in text: CSV with a header, and controllers' logs without one."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from iparam.errors import ContradictionError, FileFormatError
from iparam.files.reading_limit import check_size, reading_limit
from iparam.recording.channels import TOOL, default_frame, default_unit, expand_columns
from iparam.recording.files.arrow_columns import arrow_of_numbers
from iparam.recording.files.garbled_rows import GarbledRows
from iparam.recording.files.number_rows import LONGEST_LINE, TextBlock, count_lines, first_line, parse_rows, text_blocks
from iparam.recording.files.reading import Reading
from iparam.recording.files.table import Table, TableBuilder, check_names, has_meaning, numbered_poses, table_columns
from iparam.recording.signal import Signal

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WIDE_NAMES = ("utf-32", "utf-32", "utf-16", "utf-16")
_BLANKS = " "
_COMMENTS = (b"#", b"%", b"//")
_LOOKED_AT = 200
"""Lines from which the number of columns is found."""

_DECIMAL_COMMA = re.compile(rb"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_DECIMAL_POINT = re.compile(rb"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(rb"[+-]?\d*,?\d+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class _Layout:
    """How the cells of a text are told apart.

    Attributes:
        delimiter: between them; `_BLANKS` for any number of blanks and tabs.
        decimal_comma: whether numbers have a comma for a point.
    """

    delimiter: str
    decimal_comma: bool = False

    @property
    def plain_delimiter(self) -> str:
        """What stands between the cells of a `plain` text."""
        return "," if self.delimiter == _BLANKS else self.delimiter

    def plain(self, text: bytes) -> bytes:
        """Lines with a single delimiter and decimal points."""
        if self.decimal_comma:
            text = text.replace(b",", b".")
        if self.delimiter != _BLANKS:
            return text
        lines = b"\n".join(b",".join(line.split()) for line in text.splitlines())
        return lines + b"\n" if text.endswith((b"\n", b"\r")) else lines

    def cells(self, line: bytes) -> list[bytes]:
        """The cells of a line that was not made plain."""
        cells = line.split() if self.delimiter == _BLANKS else line.split(self.delimiter.encode())
        return [cell.strip().strip(b'"') for cell in cells]


def read_text_table(stream: BinaryIO, source: str, reading: Reading, num_joints: int | None) -> Table:
    """Read a table of numbers from text, block by block; a few garbled rows are left out.

    Commas, semicolons, tabs or blanks part the cells; where it is not commas, numbers may have decimal commas. Comments
    (#, % or //) may stand before the first row, and the last of them may be the header.

    Args:
        stream: the file, at its beginning.
        source: its name, for messages.
        reading: what its columns are, and the rows that are wanted.
        num_joints: n, None if unknown.
    """
    stream = _as_utf8(stream, source)
    head = stream.read(LONGEST_LINE)
    begin = len(_BYTE_ORDER_MARK) if head.startswith(_BYTE_ORDER_MARK) else 0
    text = head[begin:]
    if b"\0" in text[:65536]:
        raise FileFormatError(
            f"{source} is not text in UTF-8: it holds zero bytes. Recordings are Parquet files, text tables, .npz, or "
            ".mat of version 5 to 7"
        )
    if not text.strip() and not stream.read(1):
        raise FileFormatError(f"{source} is empty")
    skipped, comment, first = _comments(text)
    begin, text = begin + skipped, text[skipped:]
    lines = [line for line in text[: 1 << 18].splitlines()[:_LOOKED_AT] if line.strip()]
    units: Mapping[str, str] = {}
    usual: tuple[str, ...] = ()
    if reading.columns is None:
        layout = _Layout(_delimiter(lines))
        header, length = _header(text, comment, source, layout)
        understood = reading.headers(header, source)
        names, units, usual = list(understood.names), understood.units, understood.notes
        begin, lines, first = begin + length, lines[1:] if length else lines, first + (length > 0)
    else:
        layout = _Layout(_delimiter(lines))
        names = _given_names(lines, source, reading.columns, layout, num_joints)
    check_names(names, source)
    layout = replace(layout, decimal_comma=_has_decimal_commas(lines, names, layout))
    stream.seek(begin)
    builder = TableBuilder(names, count_lines(stream), source, "line", reading.rows, first)
    stream.seek(begin)
    table = _table(builder, stream, source, layout, first, reading.columns is None)
    table = replace(table, units=units, notes=(*usual, *table.notes))
    return table if "time" in names else numbered_poses(table)


def _as_utf8(stream: BinaryIO, source: str) -> BinaryIO:
    """The same text in UTF-8, if its first bytes say that it is in UTF-16 or UTF-32, as spreadsheets write it."""
    mark = stream.read(4)
    stream.seek(0)
    encoding = next((name for bom, name in zip(_WIDE_MARKS, _WIDE_NAMES, strict=True) if mark.startswith(bom)), "")
    if not encoding:
        return stream
    contents = stream.read(reading_limit() + 1)
    check_size(len(contents), source, f"text in {encoding.upper()}")
    try:
        return io.BytesIO(contents.decode(encoding).encode("utf-8"))
    except (UnicodeDecodeError, UnicodeEncodeError) as error:
        raise FileFormatError(f"{source} is damaged: it begins as text in {encoding.upper()}: {error.reason}") from None


def _comments(text: bytes) -> tuple[int, bytes, int]:
    """Where the first line that is no comment and not blank begins, the last comment, and the number of that line."""
    begin, comment = 0, b""
    lines = text[: 1 << 18].splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith(_COMMENTS):
            return begin, comment, number
        comment = line.strip() or comment
        begin += len(line)
    return 0, b"", 1


def _delimiter(lines: Sequence[bytes]) -> str:
    """What parts the cells: of tabs, semicolons and commas the first that the first line and most others have."""
    looked_at = [re.sub(rb"([,;])[ \t]+", rb"\1", line.strip()) for line in lines[:20]]
    if not looked_at:
        return ","
    words = [line.split() for line in looked_at]
    blanks = len(words[0]) > 1 and len({len(line) for line in words}) == 1
    decimal_commas = blanks and all(map(_COMMA_NUMBER.fullmatch, words[-1]))
    for mark in (b"\t", b";", b","):
        having = sum(mark in line for line in looked_at)
        if mark in looked_at[0] and 2 * having > len(looked_at) and not (mark == b"," and decimal_commas):
            return mark.decode()
    return _BLANKS if blanks else ","


def _has_decimal_commas(lines: Sequence[bytes], names: Sequence[str], layout: _Layout) -> bool:
    """Whether commas in the numbers of a table stand for points: they part no cells, and no number has a point."""
    if layout.delimiter == ",":
        return False
    wanted = [i for i, name in enumerate(names) if has_meaning(name)]
    rows = [cells for line in lines if len(cells := layout.cells(line)) == len(names)]
    numbers = [cells[i] for cells in rows for i in wanted]
    return any(map(_DECIMAL_COMMA.fullmatch, numbers)) and not any(map(_DECIMAL_POINT.fullmatch, numbers))


def _given_names(
    lines: Sequence[bytes], source: str, columns: str | Sequence[str], layout: _Layout, num_joints: int | None
) -> list[str]:
    """The names that columns were given; a header that says otherwise is refused."""
    counts = Counter(len(layout.cells(line)) for line in lines)
    names = expand_columns(columns, counts.most_common(1)[0][0] if counts else 0, num_joints)
    header = [cell.decode("utf-8", "replace") for cell in layout.cells(lines[0])] if lines else []
    if "time" in header and header != names:
        raise ContradictionError(
            f"{source} has a header, {layout.delimiter.join(header[:8])}.., and other columns were given, "
            f"{','.join(names[:8])}..: leave out columns="
        )
    return names


def text_of_signals(signals: Mapping[str, Signal], source: str, tool_frame: str = "") -> bytes:
    """A CSV with a header; every number reads back to the same bits.

    Args:
        signals: by name.
        source: the file's name, for messages.
        tool_frame: of the recording, which a reader of a table takes the columns to be in; "" if it does not say.
    """
    import pyarrow.csv

    for name, signal in signals.items():
        frame = TOOL if tool_frame and signal.frame == tool_frame else signal.frame
        if (signal.unit, frame) != (default_unit(name), default_frame(name)):
            raise FileFormatError(
                f"cannot write {source}: a CSV has no room for the unit {signal.unit!r} and frame {signal.frame!r} of "
                f"{name}, and a reader would take {default_unit(name)!r} and {default_frame(name)!r}; save as .parquet"
            )
    times, columns = table_columns(signals)
    arrays = [arrow_of_numbers(times), *(arrow_of_numbers(v, present) for v, present in columns.values())]
    names = ["time", *columns]
    stream = io.BytesIO(",".join(names).encode("ascii") + b"\n")
    stream.seek(0, io.SEEK_END)
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
    pyarrow.csv.write_csv(pyarrow.table(arrays, names=names), stream, options)
    return stream.getvalue()


def _header(text: bytes, comment: bytes, source: str, layout: _Layout) -> tuple[list[str], int]:
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
                f"{source} has no header: its first line holds {len(names)} numbers. Say what its columns are, e.g. "
                'columns="time,q,dq,current"; a group name takes one column a joint'
            )
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{source} is not a table of numbers: {error}") from None
    return names, end


def _names(line: bytes, layout: _Layout) -> list[str]:
    if layout.delimiter == _BLANKS:
        return line.decode("utf-8").split()
    return [name.strip() for name in next(csv.reader([line.decode("utf-8")], delimiter=layout.delimiter), [])]


def _table(
    builder: TableBuilder, stream: BinaryIO, source: str, layout: _Layout, number: int, has_header: bool
) -> Table:
    names, delimiter = builder.names, layout.plain_delimiter
    wanted = [i for i, name in enumerate(names) if has_meaning(name)]
    garbled = GarbledRows(source, len(names))
    cut = 0
    blank = True
    for block in text_blocks(stream, source, number):
        block = TextBlock(layout.plain(block.text), block.first_line, layout.plain(block.previous))
        text = block.text
        blank = blank and not text.strip()
        if not text.endswith((b"\n", b"\r")):
            text = _without_cut_row(block, len(names), delimiter)
            cut = 0 if text is block.text else block.first_line + len(text.splitlines())
        if text:
            for rows in parse_rows(text, len(names), delimiter, block.first_line, wanted):
                builder.add(rows.lines, rows.values, rows.empty)
                garbled.add(rows, builder.wanted_lines(rows.bad_lines), builder.wanted_lines(rows.text_lines))
    if blank:
        raise FileFormatError(f"{source} has a header and no samples" if has_header else f"{source} is empty")
    table, notes = garbled.leave_out(builder.table())
    if cut:
        notes.append(f"the file ends in the middle of a row: line {cut} was left out")
    if layout.decimal_comma:
        notes.append("the numbers have decimal commas, which were read as points")
    return replace(table, notes=tuple(notes))


def _without_cut_row(block: TextBlock, num_columns: int, delimiter: str) -> bytes:
    """The text of a last block without its last row if that was cut off, else the same text.

    A last line without a line end may be a row cut inside its last number, which nothing else would show: it is kept
    only if it is complete and its last number has as many decimals as that of the row above.
    """
    text, mark = block.text, delimiter.encode()
    start = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    last = text[start:].split(mark)
    above = text[:start].splitlines()[-1] if text[:start].strip() else block.previous
    before = above.split(mark) if above.strip() else []
    whole = len(last) == num_columns and (
        not before or len(last[-1].strip().partition(b".")[2]) == len(before[-1].strip().partition(b".")[2])
    )
    return text if whole else text[:start]


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True

"""Tables of numbers in text: CSV with a header, and controllers' logs without one."""

from __future__ import annotations

import codecs
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from iparam.errors import ContradictionError, FileFormatError
from iparam.files.kind import FileKind, kind_begun, needed
from iparam.files.reading_limit import check_size, reading_limit
from iparam.recording.channels import TOOL, default_frame, default_unit, expand_columns
from iparam.recording.files.arrow_columns import arrow_of_numbers
from iparam.recording.files.garbled_rows import GarbledRows
from iparam.recording.files.number_rows import LONGEST_LINE, TextBlock, count_lines, parse_rows, text_blocks
from iparam.recording.files.reading import Reading
from iparam.recording.files.table import Table, TableBuilder, check_names, has_meaning, numbered_poses, table_columns
from iparam.recording.files.text_head import (
    LOOKED_AT,
    Layout,
    column_of_dates,
    comments_before,
    delimiter,
    has_decimal_commas,
    header_names,
    metadata_line,
    stated_metadata,
    table_start,
    told_apart,
    units_below,
)
from iparam.recording.statements import tool_frame, unmeasured_columns
from iparam.remarks import Remark, remark

if TYPE_CHECKING:
    from iparam.recording.recording import Recording

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_JSON = (b"{", b"[{", b"[[")
_WIDE_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WIDE_NAMES = ("utf-32", "utf-32", "utf-16", "utf-16")


def read_text_table(stream: BinaryIO, source: str, reading: Reading, num_joints: int | None) -> Table:
    """Read a table of numbers from text, block by block; a few garbled rows are left out.

    Commas, semicolons, bars, tabs or blanks part the cells; where it is not commas, numbers may have decimal commas.
    Comments (#, % or //) may stand before the first row, and the last of them may be the header. Other lines before it
    are left out with a note; a row of units below it counts; a time may be a date or a time of day.

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
    if (kind := kind_begun(text)) not in (None, FileKind.RECORDING):
        raise FileFormatError(f"{source} is {kind}; {needed(FileKind.RECORDING)}")
    if text.lstrip().startswith(_JSON):
        raise FileFormatError(f"{source} is JSON, and no table: write its numbers with a column a component, as CSV")
    skipped, comment, first = comments_before(text)
    metadata = stated_metadata(text[:skipped])
    begin, text = begin + skipped, text[skipped:]
    units: Mapping[str, str] = {}
    notes: list[Remark] = []
    start = table_start(text)
    count = start.header if reading.columns is None else start.numbers
    if count:
        before = "header" if reading.columns is None else "first numbers"
        notes.append(remark("lines-skipped", count=count, before=before))
        skipped = start.length(count)
        begin, text, first = begin + skipped, text[skipped:], first + count
    lines = [line for line in text[: 1 << 18].splitlines()[:LOOKED_AT] if line.strip()]
    layout = Layout(delimiter(lines))
    if reading.columns is None:
        header, length = header_names(text, comment, source, layout)
        if length:
            begin, text, lines, first = begin + length, text[length:], lines[1:], first + 1
        header, length = told_apart(header, start.above, text, layout)
        if length:
            begin, text, lines, first = begin + length, text[length:], lines[1:], first + 1
        stated, length = units_below(text, header, layout)
        if length:
            header, begin, lines, first = stated, begin + length, lines[1:], first + 1
        understood = reading.headers(header, source)
        names, units = list(understood.names), understood.units
        notes += understood.notes
    else:
        names = _given_names(lines, start.lines[:count], source, reading.columns, layout, num_joints)
    check_names(names, source)
    layout = replace(
        layout, decimal_comma=has_decimal_commas(lines, names, layout), dates=column_of_dates(lines, names, layout)
    )
    if layout.dates is not None:
        notes.append(remark("date-times"))
        units = {**units, "time": "s"}
    stream.seek(begin)
    builder = TableBuilder(names, count_lines(stream), source, "line", reading.rows, first)
    stream.seek(begin)
    table = _table(builder, stream, source, layout, first, reading.columns is None)
    table = replace(table, units=units, notes=(*notes, *table.notes), stated=metadata)
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


def _given_names(
    lines: Sequence[bytes],
    above: Sequence[bytes],
    source: str,
    columns: str | Sequence[str],
    layout: Layout,
    num_joints: int | None,
) -> list[str]:
    """The names that columns were given; a header among the lines above that says otherwise is refused."""
    counts = Counter(len(layout.cells(line)) for line in lines)
    names = expand_columns(columns, counts.most_common(1)[0][0] if counts else 0, num_joints)
    for line in (*above, *lines[:1]):
        header = [cell.decode("utf-8", "replace") for cell in layout.cells(line)]
        if "time" in header and header != names:
            raise ContradictionError(
                f"{source} has a header, {layout.delimiter.join(header[:8])}.., and other columns were given, "
                f"{','.join(names[:8])}..: leave them out",
                argument="columns",
            )
    return names


def text_of_recording(recording: Recording, source: str) -> bytes:
    """A CSV with a header; every number reads back to the same bits.

    Args:
        recording: whose tool frame, if it states one, a reader takes the columns to be in.
        source: the file's name, for messages.
    """
    import pyarrow.csv

    tool = tool_frame(recording.metadata)
    for name, signal in recording.signals.items():
        frame = TOOL if tool and signal.frame == tool else signal.frame
        if (signal.unit, frame) != (default_unit(name), default_frame(name)):
            raise FileFormatError(
                f"cannot write {source}: a CSV has no room for the unit {signal.unit!r} and frame {signal.frame!r} of "
                f"{name}, and a reader would take {default_unit(name)!r} and {default_frame(name)!r}; save as .parquet"
            )
    times, columns = table_columns(recording.signals, unmeasured_columns(recording.metadata))
    arrays = [arrow_of_numbers(times), *(arrow_of_numbers(v, present) for v, present in columns.values())]
    names = ["time", *columns]
    stream = io.BytesIO(metadata_line(recording.metadata) + ",".join(names).encode("ascii") + b"\n")
    stream.seek(0, io.SEEK_END)
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
    pyarrow.csv.write_csv(pyarrow.table(arrays, names=names), stream, options)
    return stream.getvalue()


def _table(
    builder: TableBuilder, stream: BinaryIO, source: str, layout: Layout, number: int, has_header: bool
) -> Table:
    names, mark = builder.names, layout.plain_delimiter
    wanted = [i for i, name in enumerate(names) if has_meaning(name)]
    garbled = GarbledRows(source, len(names))
    cut = 0
    blank = True
    for block in text_blocks(stream, source, number):
        block = TextBlock(layout.plain(block.text), block.first_line, layout.plain(block.previous))
        text = block.text
        blank = blank and not text.strip()
        if not text.endswith((b"\n", b"\r")):
            text = _without_cut_row(block, len(names), mark)
            cut = 0 if text is block.text else block.first_line + len(text.splitlines())
        if text:
            for rows in parse_rows(text, len(names), mark, block.first_line, wanted):
                builder.add(rows.lines, rows.values, rows.empty)
                garbled.add(rows, builder.wanted_lines(rows.bad_lines), builder.wanted_lines(rows.text_lines))
    if blank:
        raise FileFormatError(f"{source} has a header and no samples" if has_header else f"{source} is empty")
    table, notes = garbled.leave_out(builder.table())
    if cut:
        notes.append(remark("row-cut", line=cut))
    if layout.decimal_comma:
        notes.append(remark("decimal-commas"))
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

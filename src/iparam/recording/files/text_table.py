"""Tables of numbers in text: CSV with a header, and controllers' logs without one."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO

from iparam.errors import ContradictionError, FileFormatError
from iparam.recording.channels import TOOL, default_frame, default_unit, expand_columns
from iparam.recording.files.garbled_rows import GarbledRows
from iparam.recording.files.number_rows import LONGEST_LINE, TextBlock, count_lines, first_line, parse_rows, text_blocks
from iparam.recording.files.reading import Reading
from iparam.recording.files.table import Table, TableBuilder, check_names, has_meaning, numbered_poses, table_columns
from iparam.recording.signal import Signal

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DELIMITERS = (",", ";", "\t")
_LOOKED_AT = 200
"""Lines from which the number of columns is found."""


def read_text_table(stream: BinaryIO, source: str, reading: Reading, num_joints: int | None) -> Table:
    """Read a table of numbers from text, block by block; a few garbled rows are left out.

    Args:
        stream: the file, at its beginning.
        source: its name, for messages.
        reading: what its columns are, and the rows that are wanted.
        num_joints: n, None if unknown.
    """
    columns = reading.columns
    head = stream.read(LONGEST_LINE)
    begin = len(_BYTE_ORDER_MARK) if head.startswith(_BYTE_ORDER_MARK) else 0
    text = head[begin:]
    if b"\0" in text[:65536]:
        raise FileFormatError(
            f"{source} is not text: it holds zero bytes. Recordings are Parquet "
            "files, text tables, .npz, or .mat of version 5 to 7"
        )
    if not text.strip() and not stream.read(1):
        raise FileFormatError(f"{source} is empty")
    lines = [line for line in text[: 1 << 18].splitlines()[:_LOOKED_AT] if line.strip()]
    delimiter = max(_DELIMITERS, key=lambda mark: sum(line.count(mark.encode()) for line in lines[:20]))
    first = 1
    if columns is None:
        names, length = _header(text, source, delimiter)
        if reading.names is not None:
            names = reading.names.renamed(names, source)
        if "time" not in names and names.count("t") == 1:
            names[names.index("t")] = "time"
        begin, first = begin + length, 2
    else:
        counts = Counter(line.count(delimiter.encode()) + 1 for line in lines)
        names = expand_columns(columns, counts.most_common(1)[0][0] if counts else 0, num_joints)
        header = (
            [name.strip().strip('"') for name in lines[0].decode("utf-8", "replace").split(delimiter)] if lines else []
        )
        if "time" in header and header != names:
            raise ContradictionError(
                f"{source} has a header, {delimiter.join(header[:8])}.., and other columns were given, "
                f"{','.join(names[:8])}..: leave out columns="
            )
    check_names(names, source)
    stream.seek(begin)
    builder = TableBuilder(names, count_lines(stream), source, "line", reading.rows, first)
    stream.seek(begin)
    table = _table(builder, stream, source, delimiter, first)
    return table if "time" in names else numbered_poses(table)


def text_of_signals(signals: Mapping[str, Signal], source: str, tool_frame: str = "") -> bytes:
    """A CSV with a header; every number reads back to the same bits.

    Args:
        signals: by name.
        source: the file's name, for messages.
        tool_frame: of the recording, which a reader of a table takes the columns to be in; "" if it does not say.
    """
    import pyarrow
    import pyarrow.csv

    for name, signal in signals.items():
        frame = TOOL if tool_frame and signal.frame == tool_frame else signal.frame
        if (signal.unit, frame) != (default_unit(name), default_frame(name)):
            raise FileFormatError(
                f"cannot write {source}: a CSV has no room for the unit {signal.unit!r} and frame {signal.frame!r} of "
                f"{name}, and a reader would take {default_unit(name)!r} and {default_frame(name)!r}; save as .parquet"
            )
    times, columns = table_columns(signals)
    arrays = [pyarrow.array(times), *(pyarrow.array(v, mask=~present) for v, present in columns.values())]
    names = ["time", *columns]
    stream = io.BytesIO(",".join(names).encode("ascii") + b"\n")
    stream.seek(0, io.SEEK_END)
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="none")
    pyarrow.csv.write_csv(pyarrow.table(arrays, names=names), stream, options)
    return stream.getvalue()


def _header(text: bytes, source: str, delimiter: str) -> tuple[list[str], int]:
    """The names in the first line, and where the second one begins."""
    line, end = first_line(text)
    try:
        header = next(csv.reader([line.decode("utf-8")], delimiter=delimiter), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{source} is not a table of numbers: {error}") from None
    names = [name.strip() for name in header]
    if names and all(_is_number(name) for name in names):
        raise FileFormatError(
            f"{source} has no header: its first line holds {len(names)} numbers. Say what its columns are, e.g. "
            'columns="time,q,dq,current"; a group name takes one column a joint'
        )
    return names, end


def _table(builder: TableBuilder, stream: BinaryIO, source: str, delimiter: str, number: int) -> Table:
    names = builder.names
    wanted = [i for i, name in enumerate(names) if has_meaning(name)]
    garbled = GarbledRows(source, len(names))
    cut = 0
    blank = True
    for block in text_blocks(stream, source, number):
        text = block.text
        blank = blank and text.isspace()
        if not text.endswith((b"\n", b"\r")):
            text = _without_cut_row(block, len(names), delimiter)
            cut = 0 if text is block.text else block.first_line + len(text.splitlines())
        if text:
            for rows in parse_rows(text, len(names), delimiter, block.first_line, wanted):
                builder.add(rows.lines, rows.values, rows.empty)
                garbled.add(rows, builder.wanted_lines(rows.bad_lines), builder.wanted_lines(rows.text_lines))
    if blank:
        raise FileFormatError(f"{source} has a header and no samples" if number > 1 else f"{source} is empty")
    table, notes = garbled.leave_out(builder.table())
    if cut:
        notes.append(f"the file ends in the middle of a row: line {cut} was left out")
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
        float(text)
    except ValueError:
        return False
    return True

"""Tables of numbers in text: CSV with a header, and controllers' logs without one."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence

from iparam.errors import ContradictionError, FileFormatError
from iparam.recording.channels import default_frame, default_unit, expand_columns, signal_of_column
from iparam.recording.number_rows import parse_rows
from iparam.recording.places import listed
from iparam.recording.signal import Signal
from iparam.recording.table import Table, table_columns

_DELIMITERS = (",", ";", "\t")
_LOOKED_AT = 200
"""Lines from which the number of columns is found."""


def read_text_table(contents: bytes, source: str, columns: str | Sequence[str] | None, num_joints: int | None) -> Table:
    """Read a table of numbers from text.

    Args:
        contents: of the file.
        source: its name, for messages.
        columns: the columns of a table without header, None if it has one.
        num_joints: n, None if unknown.
    """
    text = contents.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in text[:65536]:
        raise FileFormatError(f"{source} is not text: it holds zero bytes. Recordings are Parquet files or text tables")
    if text.isspace() or not text:
        raise FileFormatError(f"{source} is empty")
    head = [line for line in text[: 1 << 18].splitlines()[:_LOOKED_AT] if line.strip()]
    delimiter = max(_DELIMITERS, key=lambda mark: sum(line.count(mark.encode()) for line in head[:20]))
    if columns is None:
        return _with_header(text, source, delimiter)
    counts = Counter(line.count(delimiter.encode()) + 1 for line in head)
    names = expand_columns(columns, counts.most_common(1)[0][0], num_joints)
    header = [name.strip().strip('"') for name in head[0].decode("utf-8", "replace").split(delimiter)]
    if "time" in header and header != names:
        raise ContradictionError(
            f"{source} has a header, {delimiter.join(header[:8])}.., and other columns were given, "
            f"{','.join(names[:8])}..: leave out columns (--columns)"
        )
    return _table(names, text, delimiter, first_line=1)


def text_of_signals(signals: Mapping[str, Signal], source: str) -> bytes:
    """A CSV with a header; every number reads back to the same bits."""
    import pyarrow
    import pyarrow.csv

    for name, signal in signals.items():
        if (signal.unit, signal.frame) != (default_unit(name), default_frame(name)):
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


def _with_header(text: bytes, source: str, delimiter: str) -> Table:
    first, _, rest = text.partition(b"\n")
    try:
        header = next(csv.reader([first.decode("utf-8").rstrip("\r")], delimiter=delimiter), [])
    except (UnicodeDecodeError, csv.Error) as error:
        raise FileFormatError(f"{source} is not a table of numbers: {error}") from None
    names = [name.strip() for name in header]
    if names and all(_is_number(name) for name in names):
        raise FileFormatError(
            f"{source} has no header: its first line holds {len(names)} numbers. Say what its columns are, e.g. "
            'columns="time,q,dq,current"; a group name takes one column a joint'
        )
    if "time" not in names:
        raise FileFormatError(f"{source} has no column 'time' in its first line: {first[:80]!r}")
    if rest.isspace() or not rest:
        raise FileFormatError(f"{source} has a header and no samples")
    return _table(names, rest, delimiter, first_line=2)


def _table(names: Sequence[str], text: bytes, delimiter: str, first_line: int) -> Table:
    text, cut = _without_cut_row(text, len(names), delimiter)
    wanted = [i for i, name in enumerate(names) if name == "time" or signal_of_column(name) is not None]
    rows = parse_rows(text, len(names), delimiter, first_line, wanted)
    notes = []
    if rows.bad_lines:
        notes.append(
            f"{len(rows.bad_lines)} rows do not have {len(names)} columns and were left out: line "
            f"{listed(rows.bad_lines)}"
        )
    if cut:
        line = first_line + len(text.splitlines())
        notes.append(f"the file ends in the middle of a row: line {line} was left out")
    return Table(tuple(names), rows.values, rows.empty, rows.lines, "line", tuple(notes))


def _without_cut_row(text: bytes, num_columns: int, delimiter: str) -> tuple[bytes, bool]:
    """``text`` without its last row if that was cut off, and whether it was.

    A last line without a line end may be a row cut inside its last number, which nothing else would show: it is kept
    only if it is complete and its last number has as many decimals as that of the row above.
    """
    if text.endswith((b"\n", b"\r")):
        return text, False
    start = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    mark = delimiter.encode()
    last = text[start:].split(mark)
    before = text[:start].splitlines()[-1].split(mark) if text[:start].strip() else []
    whole = len(last) == num_columns and (
        not before or len(last[-1].strip().partition(b".")[2]) == len(before[-1].strip().partition(b".")[2])
    )
    return (text, False) if whole else (text[:start], True)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

"""Recordings in Parquet: one table of all signals, and everything else as JSON in its metadata."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.errors import FileFormatError, IparamError
from iparam.recording.foreign_metadata import foreign_document
from iparam.recording.recording import Recording
from iparam.recording.table import Table, TableBuilder, check_names, table_columns

FORMAT = "iparam-recording/1"
MAGIC = b"PAR1"
BATCH_ROWS = 1 << 16
"""Rows that are decoded at once."""

Numbers = tuple[FloatArray, NDArray[np.bool_] | None]
"""A column's numbers (R,), and where it has none (R,); None for nowhere."""

_KEY = b"iparam"
_BUFFER = 1 << 20  # bytes of a column that are read at once, instead of all of them


def parquet_of_recording(recording: Recording) -> bytes:
    """The recording as a Parquet file. A column has nulls where its signal has no sample."""
    import pyarrow
    import pyarrow.parquet

    times, columns = table_columns(recording.signals)
    arrays = [pyarrow.array(times), *(pyarrow.array(v, mask=~present) for v, present in columns.values())]
    document = {
        "format": FORMAT,
        "robot": recording.robot,
        "signals": {
            name: {"unit": signal.unit, "frame": signal.frame, "width": signal.width}
            for name, signal in recording.signals.items()
        },
        "metadata": dict(recording.metadata),
        "warnings": list(recording.warnings),
    }
    fields = [pyarrow.field(name, pyarrow.float64(), nullable=name != "time") for name in ("time", *columns)]
    schema = pyarrow.schema(fields, metadata={_KEY: json.dumps(document, allow_nan=False)})
    stream = io.BytesIO()
    pyarrow.parquet.write_table(
        pyarrow.table(arrays, schema=schema),
        stream,
        compression="zstd",
        use_dictionary=False,
        column_encoding=dict.fromkeys(schema.names, "BYTE_STREAM_SPLIT"),
    )
    return stream.getvalue()


def read_parquet_table(stream: BinaryIO, source: str) -> tuple[Table, dict[str, Any] | None]:
    """The table, and the JSON document of a file that iparam wrote, or what a table of somebody else's states.

    Args:
        stream: the file; it can be sought in.
        source: its name, for messages.
    """
    with open_parquet(stream, source) as file:
        with _errors(source):
            schema, rows = file.schema_arrow, max(0, file.metadata.num_rows)
            document = _document(schema.metadata or {}, source) or foreign_document(schema, source)
            numeric = [field.name for field in schema if _holds_numbers(field.type)]
            others = [f"{field.name} ({field.type})" for field in schema if not _holds_numbers(field.type)]
        check_names(schema.names, source)
        if "time" not in numeric:
            raise FileFormatError(f"{source}: time holds {schema.field('time').type}; it must be numbers, in seconds")
        builder = TableBuilder(numeric, rows, source, "row")
        row = 1
        for count, columns in number_batches(file, builder.wanted, source):
            values, empty = zip(*columns, strict=True)
            builder.add(np.arange(row, row + count), values, empty)
            row += count
    notes = (f"columns that hold no numbers were left out: {', '.join(others)}",) if others else ()
    return builder.table(notes), document


@contextlib.contextmanager
def open_parquet(stream: BinaryIO, source: str) -> Iterator[Any]:
    """A ``pyarrow.parquet.ParquetFile``; what is no Parquet is refused."""
    import pyarrow.parquet

    stream.seek(-min(len(MAGIC), stream.seek(0, os.SEEK_END)), os.SEEK_END)
    if stream.read(len(MAGIC)) != MAGIC:  # a device may have no end
        raise FileFormatError(
            f"{source} is cut off: a Parquet file has its index at the end, and without it nothing can be read"
        )
    with _errors(source):
        file = pyarrow.parquet.ParquetFile(stream, buffer_size=_BUFFER)
        file.schema_arrow.names  # noqa: B018  decoded here, where a fault in them is caught
    with file:
        yield file


def number_batches(file: Any, names: Sequence[str], source: str) -> Iterator[tuple[int, list[Numbers]]]:
    """Some columns of a ``pyarrow.parquet.ParquetFile`` in batches of rows.

    Numbers beyond 2^53 are rounded to the nearest float64, as those of a text are.

    Args:
        file: it.
        names: of the columns; each holds numbers.
        source: the file's name, for messages.

    Yields:
        The number of rows, and for each column its numbers (R,) and where it has none (R,), None for nowhere.
    """
    with _errors(source):
        batches = file.iter_batches(batch_size=BATCH_ROWS, columns=list(names), use_threads=False)
    while True:
        with _errors(source):
            batch = next(batches, None)
            if batch is None:
                return
            found = [_numbers(batch.column(name), name, source) for name in names]
        yield batch.num_rows, found


def _numbers(array: Any, name: str, source: str) -> Numbers:
    import pyarrow

    if not _holds_numbers(array.type):
        raise FileFormatError(f"{source}: column {name} holds {array.type}, not numbers")
    if pyarrow.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pyarrow.types.is_decimal(array.type):
        array = array.cast(pyarrow.float64())
    empty = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
    return array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False), empty


def _holds_numbers(kind: Any) -> bool:
    import pyarrow.types as types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind))


@contextlib.contextmanager
def _errors(source: str) -> Iterator[None]:
    """Around calls of pyarrow: what damaged contents lead to is told as such, whatever its type."""
    try:
        yield
    except (IparamError, MemoryError):
        raise
    except UnicodeDecodeError:
        raise FileFormatError(f"{source} cannot be read as Parquet: the names of its columns are not UTF-8") from None
    except Exception as error:
        raise FileFormatError(f"{source} cannot be read as Parquet: {error}") from None


def stated_in_parquet(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The document of a Parquet file, as `read_parquet_table` gives it, without reading the table."""
    source = os.fspath(path)
    if os.path.exists(source) and not os.path.isfile(source):
        raise FileFormatError(f"{source} is no regular file")
    try:
        with open(source, "rb") as stream, open_parquet(stream, source) as file, _errors(source):
            return _document(file.schema_arrow.metadata or {}, source) or foreign_document(file.schema_arrow, source)
    except OSError as error:
        raise FileFormatError(f"cannot read {source}: {error.strerror or error}") from None


def _document(metadata: Mapping[bytes, bytes], source: str) -> dict[str, Any] | None:
    if _KEY not in metadata:
        return None
    try:
        document = json.loads(metadata[_KEY], parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{source}: its metadata is damaged: {error}") from None
    form = document.get("format") if isinstance(document, dict) else None
    if form != FORMAT:
        family = FORMAT.rpartition("/")[0]
        newer = isinstance(form, str) and form.startswith(f"{family}/")
        reason = "another version of iparam wrote it" if newer else "it is no recording"
        raise FileFormatError(f"{source} has the format {form!r}, and this iparam reads {FORMAT!r}: {reason}")
    shapes = {"robot": str, "signals": dict, "metadata": dict, "warnings": list}
    for key, kind in shapes.items():
        if not isinstance(document.get(key), kind):
            raise FileFormatError(f"{source}: its metadata is damaged: {key!r} is not a {kind.__name__}")
    for name, entry in document["signals"].items():
        if not isinstance(entry, dict) or not all(isinstance(entry.get(key), str) for key in ("unit", "frame")):
            raise FileFormatError(f"{source}: its metadata is damaged: signal {name!r} lacks unit or frame")
    return dict(document)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"it holds {text}, which JSON cannot")

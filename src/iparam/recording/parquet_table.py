"""Recordings in Parquet: one table of all signals, and everything else as JSON in its metadata."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from iparam.errors import FileFormatError
from iparam.recording.foreign_metadata import foreign_document
from iparam.recording.recording import Recording
from iparam.recording.table import Table, table_columns

FORMAT = "iparam-recording/1"
MAGIC = b"PAR1"
_KEY = b"iparam"


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


def read_parquet_table(contents: bytes, source: str) -> tuple[Table, dict[str, Any] | None]:
    """The table, and the JSON document of a file that iparam wrote, or what a table of somebody else's states."""
    import pyarrow
    import pyarrow.parquet

    if not contents.endswith(MAGIC):
        raise FileFormatError(
            f"{source} is cut off: a Parquet file has its index at the end, and without it nothing can be read"
        )
    try:
        with pyarrow.parquet.ParquetFile(io.BytesIO(contents)) as file:
            schema = file.schema_arrow
            document = _document(schema.metadata or {}, source) or foreign_document(schema, source)
            numeric = [field.name for field in schema if _is_number(field.type)]
            table = file.read(columns=numeric)
    except (pyarrow.ArrowException, OSError) as error:
        raise FileFormatError(f"{source} cannot be read as Parquet: {error}") from None
    values = np.empty((table.num_rows, table.num_columns))
    empty = np.zeros(values.shape, dtype=bool)
    for i, column in enumerate(table.columns):
        if column.type != pyarrow.float64():  # a cast loads pyarrow.compute, which takes longer than the file
            column = column.cast(pyarrow.float64())
        values[:, i] = column.to_numpy()
        if column.null_count:
            empty[:, i] = column.is_null().to_numpy()
    others = [name for name in schema.names if name not in numeric]
    notes = (f"columns that hold no numbers were left out: {', '.join(others)}",) if others else ()
    rows = np.arange(1, table.num_rows + 1)
    return Table(tuple(table.column_names), values, empty, rows, "row", notes), document


def stated_in_parquet(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The document of a Parquet file, as `read_parquet_table` gives it, without reading the table."""
    import pyarrow
    import pyarrow.parquet

    source = os.fspath(path)
    try:
        schema = pyarrow.parquet.read_schema(source)
    except OSError as error:
        raise FileFormatError(f"cannot read {source}: {error.strerror or error}") from None
    except pyarrow.ArrowException as error:
        raise FileFormatError(f"{source} cannot be read as Parquet: {error}") from None
    return _document(schema.metadata or {}, source) or foreign_document(schema, source)


def _is_number(kind: Any) -> bool:
    import pyarrow.types

    return bool(pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind))


def _document(metadata: Mapping[bytes, bytes], source: str) -> dict[str, Any] | None:
    if _KEY not in metadata:
        return None
    try:
        document = json.loads(metadata[_KEY])
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

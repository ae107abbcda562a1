"""Recordings as frames of pandas: the columns of a CSV file, and what these have no room for in ``attrs``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from iparam.errors import FileFormatError, InputError, MissingExtraError
from iparam.files.json import json_line
from iparam.recording.files.parquet_table import KEY, arrow_of_recording, load_pyarrow, recording_document
from iparam.recording.files.table import check_names

if TYPE_CHECKING:
    from iparam.recording.recording import Recording

FRAME = "the frame"
"""What messages call a frame, which has no name."""

ATTRIBUTE = "iparam"
"""The entry of ``attrs`` with robot, units, frames, metadata and remarks."""


def require_pandas() -> Any:
    """The module `pandas`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "pandas") from None
    return pandas


def frame_of_recording(recording: Recording) -> Any:
    """The recording as a ``pandas.DataFrame``: a row for every time stamp, NaN where a signal has no sample."""
    require_pandas()
    frame = arrow_of_recording(recording).to_pandas()
    frame.attrs = {ATTRIBUTE: recording_document(recording)}
    return frame


def arrow_of_frame(frame: Any) -> Any:
    """A ``pandas.DataFrame`` as a ``pyarrow.Table``, with what its ``attrs`` say about it. NaN becomes null."""
    pandas, pyarrow = require_pandas(), load_pyarrow()
    if not isinstance(frame, pandas.DataFrame):
        raise InputError(f"a recording is made from a pandas.DataFrame, got {type(frame).__name__}")
    if "time" not in frame.columns and frame.index.name is not None:
        frame = frame.reset_index()
    names = list(frame.columns)
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"the columns of a frame must have names as text, such as 'time' and 'q0'; got {name!r}")
    check_names([name for name in names if names.count(name) > 1] or ["time"], FRAME)
    metadata = _metadata(frame.attrs)
    try:
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    except (pyarrow.ArrowException, TypeError, ValueError) as error:
        raise FileFormatError(f"{FRAME} cannot be read as a table of numbers: {error}") from None
    return table.replace_schema_metadata(metadata)


def _metadata(attrs: dict[Any, Any]) -> dict[bytes, str]:
    """The attributes of a frame as metadata of a table: those of a recording, else all of them, which may state units,
    robot and gravity as those of a Parquet file do.
    """
    try:
        if ATTRIBUTE in attrs:
            return {KEY: json_line(attrs[ATTRIBUTE])}
        return {b"PANDAS_ATTRS": json_line({str(key): value for key, value in attrs.items()})} if attrs else {}
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the attrs of a frame must be what JSON can hold: {error}") from None

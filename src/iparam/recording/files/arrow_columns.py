"""Columns of Arrow from arrays and back, by their buffers.

Arrow's own conversions ask whether an array is one of pandas, and import that to find out: it takes longer than to read
or write the log of a run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray

Numbers = tuple[FloatArray, NDArray[np.bool_] | None]
"""A column's numbers (R,), NaN where it has none, and where that is (R,); None for nowhere."""


def arrow_of_numbers(values: FloatArray, present: NDArray[np.bool_] | None = None) -> Any:
    """A ``pyarrow.Array`` of values (R,), null where they are not ``present`` (R,); of all of them if that is None."""
    import pyarrow

    numbers = pyarrow.py_buffer(np.ascontiguousarray(values, dtype=np.float64))
    valid = None if present is None else pyarrow.py_buffer(np.packbits(present, bitorder="little"))
    return pyarrow.Array.from_buffers(pyarrow.float64(), len(values), [valid, numbers])


def numbers_of_arrow(column: Any) -> Numbers:
    """Of a ``pyarrow.Array`` or ``ChunkedArray`` of numbers; those beyond 2^53 are rounded to the nearest float64."""
    parts = [_part(chunk) for chunk in getattr(column, "chunks", (column,))]
    if len(parts) == 1:
        return parts[0]
    values = np.concatenate([np.empty(0), *(values for values, _ in parts)])
    if all(empty is None for _, empty in parts):
        return values, None
    return values, np.concatenate([np.zeros(len(v), dtype=bool) if empty is None else empty for v, empty in parts])


def _part(array: Any) -> Numbers:
    size, first = len(array), array.offset
    validity, data = array.buffers()[:2]
    empty = None
    if array.null_count:
        bits = np.unpackbits(np.frombuffer(validity, np.uint8), count=first + size, bitorder="little")
        empty = bits[first:] == 0
    if str(array.type) != "double" or data is None:
        return array.to_numpy(zero_copy_only=False).astype(np.float64, copy=False), empty
    values = np.frombuffer(data, np.float64, first + size)[first:]
    if empty is not None:
        values = np.where(empty, np.nan, values)
    return values, empty

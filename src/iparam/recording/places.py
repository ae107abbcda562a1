"""Line and row numbers in messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def listed(numbers: NDArray[np.int64] | Sequence[int], most: int = 8) -> str:
    """Increasing numbers for a message: the first few, runs joined, and how many places more there are."""
    array = np.asarray(numbers, dtype=np.int64)
    starts = np.flatnonzero(np.diff(array, prepend=array[:1] - 2) != 1)
    ends = np.append(starts[1 : most + 1], array.size)[:most] - 1
    parts = [
        str(array[first]) if first == last else f"{array[first]}-{array[last]}"
        for first, last in zip(starts[:most], ends, strict=False)
    ]
    return ", ".join(parts) + (f" and {starts.size - most} more places" if starts.size > most else "")

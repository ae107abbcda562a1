"""Line and row numbers in messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def listed(numbers: NDArray[np.int64] | Sequence[int], most: int = 8) -> str:
    """Increasing numbers for a message: the first few, runs joined, and how many places more there are."""
    array = np.asarray(numbers, dtype=np.int64)
    runs = np.split(array, np.flatnonzero(np.diff(array) != 1) + 1)
    parts = [str(run[0]) if run.size == 1 else f"{run[0]}-{run[-1]}" for run in runs[:most]]
    return ", ".join(parts) + (f" and {len(runs) - most} more places" if len(runs) > most else "")

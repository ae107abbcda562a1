"""`GrowingRows`: rows of numbers that one thread appends and others read."""

from __future__ import annotations

import threading

import numpy as np

from iparam.arrays import FloatArray


class GrowingRows:
    """A table that doubles its memory when it is full: appending costs the same however long a run is.

    Args:
        width: columns.
        capacity: rows to begin with.
    """

    def __init__(self, width: int, capacity: int = 30_000) -> None:
        self._rows = np.empty((capacity, width))
        self._count = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._count

    def append(self, row: FloatArray) -> None:
        """Add a row (width,)."""
        with self._lock:
            if self._count == len(self._rows):
                larger = np.empty((2 * len(self._rows), self._rows.shape[1]))
                larger[: self._count] = self._rows
                self._rows = larger
            self._rows[self._count] = row
            self._count += 1

    def since(self, first: int) -> FloatArray:
        """A copy of the rows from number ``first`` on, (R, width)."""
        with self._lock:
            return self._rows[first : self._count].copy()

    def latest(self) -> FloatArray | None:
        """A copy of the last row, None if there is none."""
        with self._lock:
            return self._rows[self._count - 1].copy() if self._count else None

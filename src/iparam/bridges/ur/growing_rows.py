"""`GrowingRows`: rows of numbers that one thread appends and others read."""

from __future__ import annotations

import threading

import numpy as np

from iparam.arrays import FloatArray

BLOCK = 8192
"""Rows that memory is taken for at once."""


class GrowingRows:
    """A table in blocks: no row takes longer than another, however long a run is. Others wait for whoever appends.

    Args:
        width: columns.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._blocks: list[FloatArray] = []
        self._count = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return self._count

    def append(self, row: FloatArray) -> None:
        """Add a row (width,)."""
        with self._lock:
            place = self._count % BLOCK
            if place == 0:
                self._blocks.append(np.empty((BLOCK, self._width)))
            self._blocks[-1][place] = row
            self._count += 1

    def since(self, first: int) -> FloatArray:
        """A copy of the rows from number ``first`` on, (R, width)."""
        with self._lock:
            parts = [np.empty((0, self._width))]
            for number in range(first // BLOCK, len(self._blocks)):
                begin, end = first - number * BLOCK, self._count - number * BLOCK
                parts.append(self._blocks[number][max(begin, 0) : end])
            return np.concatenate(parts)

    def latest(self) -> FloatArray | None:
        """A copy of the last row, None if there is none."""
        with self._lock:
            return self._blocks[-1][(self._count - 1) % BLOCK].copy() if self._count else None

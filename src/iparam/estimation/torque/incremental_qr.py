"""Triangular factors that grow row by row: least squares over any number of rows in the memory of one small matrix,
for a whole run and for stretches of it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iparam.arrays import FloatArray, as_float_array, kernel_input
from iparam.errors import InputError
from iparam.native.recursions import fold_rows


class IncrementalQR:
    """The upper triangle R of all rows seen so far: R^T R is their Gram matrix, to the digits of a QR factorisation.

    Rows are folded in by Householder reflections as they come, in one thread: the matrices are small, and a library
    that hands such out to several threads spends its time waiting for them.

    Args:
        columns: p, of each row; the last may be the right-hand side.
    """

    def __init__(self, columns: int) -> None:
        if columns < 1:
            raise InputError(f"rows need at least one column, got {columns}")
        self._triangle = np.zeros((columns, columns))
        self.num_rows = 0

    def add(self, rows: FloatArray) -> None:
        """Take in rows (k, p)."""
        new = as_float_array(rows, "rows", (len(self._triangle),))
        if new.ndim != 2:
            raise InputError(argument="rows", problem=f"must have shape (k, {len(self._triangle)}), got {new.shape}")
        fold_rows(self._triangle, kernel_input(new))
        self.num_rows += len(new)

    def merge(self, other: IncrementalQR) -> None:
        """Take in all rows that another factor has seen."""
        rows = self.num_rows + other.num_rows
        self.add(other.triangle)
        self.num_rows = rows

    @property
    def triangle(self) -> FloatArray:
        """(p, p) R; its rows may differ in sign from those of another factorisation."""
        return self._triangle


RowClass = tuple[int, bool]
"""Joint, and whether it is slow: rows of one class have one noise level."""

Triangles = dict[RowClass, IncrementalQR]


class TimeBlocks:
    """The rows of a run, by time block and by class of row (joint and speed).

    What residuals do from block to block shows how far they are correlated in time. When there are more blocks than
    ``most``, neighbours are joined, so that a run of any length takes the same memory.

    Args:
        most: blocks; even.
    """

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._span = 1  # how many of the blocks added make one of those kept
        self._filled = 0
        self.blocks: list[Triangles] = []

    def add(self, rows: Mapping[RowClass, FloatArray]) -> None:
        """Take in the rows of the next block, by class."""
        if self._filled == 0:
            if len(self.blocks) == self._most:
                self._halve()
            self.blocks.append({})
        for key, values in rows.items():
            self.blocks[-1].setdefault(key, IncrementalQR(values.shape[1])).add(values)
        self._filled = (self._filled + 1) % self._span

    def totals(self) -> Triangles:
        """One factor a class, of all blocks."""
        whole: Triangles = {}
        for block in self.blocks:
            for key, factor in block.items():
                whole.setdefault(key, IncrementalQR(factor.triangle.shape[1])).merge(factor)
        return whole

    def _halve(self) -> None:
        joined = []
        for first, second in zip(self.blocks[::2], self.blocks[1::2], strict=True):
            for key, factor in second.items():
                if key in first:
                    first[key].merge(factor)
                else:
                    first[key] = factor
            joined.append(first)
        self.blocks = joined
        self._span *= 2

"""Triangular factors that grow row by row: least squares over any number of rows in the memory of one small matrix."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError

CHUNK = 256
"""Rows that are folded in at once: enough for long inner loops, few enough to stay in the cache."""


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
        from iparam.estimation.torque import kernels

        new = as_float_array(rows, "rows", (len(self._triangle),))
        if new.ndim != 2:
            raise InputError(f"rows must have shape (k, {len(self._triangle)}), got {new.shape}")
        for start in range(0, len(new), CHUNK):
            kernels.fold_columns(self._triangle, new[start : start + CHUNK].T.copy(order="C"))
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

"""`TimeBlocks`: triangular factors of stretches of a run, of equal length and bounded in number."""

from __future__ import annotations

from collections.abc import Mapping

from iparam.arrays import FloatArray
from iparam.estimation.torque.incremental_qr import IncrementalQR

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

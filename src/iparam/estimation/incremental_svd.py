"""`IncrementalSVD`: singular values and right singular vectors of a matrix that grows by rows, in constant memory.

Brand (2002) updates a thin SVD by the SVD of a small core matrix. The left vectors, which grow with the data, are not
needed for least squares and are not kept; what is kept never exceeds the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.estimation import kernels

REPAIR_EVERY = 1024
"""Updates after which rounding is swept out of the orthogonality of the vectors."""


@dataclass(eq=False)
class IncrementalSVD:
    """The state: feed it rows with `append`.

    Attributes:
        num_columns: p.
        values: (p,) singular values, descending.
        vectors: (p, p) right singular vectors, columns.
        num_rows: how many rows there were.
    """

    num_columns: int
    values: FloatArray = field(init=False)
    vectors: FloatArray = field(init=False)
    num_rows: int = 0
    _updates: int = 0

    def __post_init__(self) -> None:
        if self.num_columns < 1:
            raise InputError(f"num_columns must be at least 1, got {self.num_columns}")
        self.values = np.zeros(self.num_columns)
        self.vectors = np.eye(self.num_columns)
        self._work = np.zeros((self.num_columns, self.num_columns))

    def append(self, rows: ArrayLike) -> None:
        """Add rows (b, p), in any number."""
        block = np.array(as_float_array(rows, "rows", (self.num_columns,)).reshape(-1, self.num_columns))
        self.append_unchecked(block)

    def append_unchecked(self, rows: FloatArray) -> None:
        """`append` for a float64 array (b, p) that may be overwritten: no checks, no copies."""
        kernels.append_rows(self.values, self.vectors, rows, self._work)
        self.num_rows += len(rows)
        self._updates += 1
        if self._updates % REPAIR_EVERY == 0:
            kernels.orthonormalise(self.vectors)

    def triangle(self) -> FloatArray:
        """(p, p) the triangular factor of the matrix, columns in the order given."""
        out = np.empty((self.num_columns, self.num_columns))
        kernels.triangle_of_svd(self.values, self.vectors, out)
        return out

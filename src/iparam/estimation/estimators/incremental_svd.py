"""A singular value decomposition that takes in data as they come (Brand 2002)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, kernel_input
from iparam.errors import InputError
from iparam.native.recursions import append_rows, fold_rows

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
            raise InputError(argument="num_columns", problem=f"must be at least 1, got {self.num_columns}")
        self.values = np.zeros(self.num_columns)
        self.vectors = np.eye(self.num_columns)

    def append(self, rows: ArrayLike) -> None:
        """Add rows (b, p), in any number."""
        block = as_float_array(rows, "rows", (self.num_columns,)).reshape(-1, self.num_columns)
        self.append_unchecked(kernel_input(block))

    def append_unchecked(self, rows: FloatArray) -> None:
        """`append` for a contiguous float64 array (b, p): no checks, no copies."""
        append_rows(self.values, self.vectors, rows)
        self.num_rows += len(rows)
        self._updates += 1
        if self._updates % REPAIR_EVERY == 0:
            basis, triangle = np.linalg.qr(self.vectors)
            self.vectors = np.ascontiguousarray(basis * np.sign(np.diag(triangle)))

    def triangle(self) -> FloatArray:
        """(p, p) the triangular factor of the matrix, columns in the order given."""
        triangle = np.zeros((self.num_columns, self.num_columns))
        fold_rows(triangle, np.ascontiguousarray(self.values[:, None] * self.vectors.T))
        return triangle


def incremental_svd_update(
    U: ArrayLike, S: ArrayLike, new_data: ArrayLike, eps: float = 1e-12
) -> tuple[FloatArray, FloatArray]:
    """Left singular vectors and singular values of a matrix with columns appended.

    The matrix itself and its right singular vectors are not needed: with the columns [A_k, y_k]' of samples, the last
    of 11 vectors gives total least squares. Begin with ``numpy.zeros((m, 0))`` and ``numpy.zeros(0)``.

    Args:
        U: (m, r) orthonormal left singular vectors so far.
        S: (r,) singular values so far, or the diagonal matrix (r, r) of them.
        new_data: (m, c) new columns, or (m,) for one.
        eps: singular values of at most this share of the largest are dropped, with their vectors.

    Returns:
        U_new (m, s) and S_new (s,), descending, or (s, s) if S was a matrix.
    """
    vectors, values, columns = as_float_array(U, "U"), as_float_array(S, "S"), as_float_array(new_data, "new_data")
    new = columns[:, None] if columns.ndim == 1 else columns
    rank = vectors.shape[-1:]
    if vectors.ndim != 2 or values.shape not in (rank, rank * 2) or new.ndim != 2 or len(new) != len(vectors):
        raise InputError(
            "U, S and new_data must have the shapes (m, r), (r,) or (r, r), and (m, c) or (m,); got "
            f"{vectors.shape}, {values.shape} and {columns.shape}"
        )
    # One orthonormal basis of both: its size is at most m, and what rounding has done to U so far is undone.
    basis, coordinates = np.linalg.qr(np.concatenate([vectors, new], axis=1))
    known = coordinates[:, : rank[0]] @ (values if values.ndim == 2 else np.diag(values))
    turned, found, _ = np.linalg.svd(np.concatenate([known, coordinates[:, rank[0] :]], axis=1), full_matrices=False)
    kept = found > eps * found.max(initial=0.0)
    updated = basis @ turned[:, kept]
    return updated, np.diag(found[kept]) if values.ndim == 2 else found[kept]

"""The linear system y = A phi of N samples, in the two forms that arrays come in."""

from __future__ import annotations

from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError


def wrench_samples(A: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """(N, 6, 10) and (N, 6) of one sample, of samples, or of stacked ones.

    Args:
        A: (N, 6, 10), or stacked (6 N, 10): wrench regressors.
        y: (N, 6), or stacked (6 N,): [force, torque] of each sample [N, N m].
    """
    matrices, wrenches = as_float_array(A, "A"), as_float_array(y, "y")
    rows = matrices.shape[:-1]
    fits = rows == wrenches.shape and matrices.shape[-1:] == (10,) and wrenches.size > 0 and wrenches.size % 6 == 0
    if not fits or not (len(rows) == 1 or (len(rows) == 2 and rows[1] == 6)):
        raise InputError(
            "A and y must have the shapes (N, 6, 10) and (N, 6), or stacked (6 N, 10) and (6 N,), for N samples; got "
            f"{matrices.shape} and {wrenches.shape}"
        )
    if len(rows) == 1:
        return matrices.reshape(-1, 6, 10), wrenches.reshape(-1, 6)
    return matrices, wrenches

"""The textbook's solutions of y = A phi: arrays in, phi out. No bias, no weights, no prior, no uncertainty."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.estimation.errors import IdentificationError, NotIdentifiableError
from iparam.regressor.identifiability import payload_identifiability
from iparam.regressor.samples import wrench_samples


def least_squares(A: ArrayLike, y: ArrayLike) -> FloatArray:
    """Phi (10,) with the least sum of squares of y - A phi: all errors are the wrench's.

    Args:
        A: (N, 6, 10), or stacked (6 N, 10): wrench regressors.
        y: (N, 6), or stacked (6 N,): [force, torque] of each sample [N, N m].

    Raises:
        NotIdentifiableError: A determines less than ten parameters.
    """
    rows = _system(A, y)
    return np.asarray(np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0])


def total_least_squares(A: ArrayLike, y: ArrayLike) -> FloatArray:
    """Phi (10,) of the least change of [A, y], in the Frobenius norm, that makes y = A phi hold exactly.

    All entries of A and y have errors of the same size, in SI units. `TotalLeastSquares` knows the errors of a motion.

    Args:
        A, y: see `least_squares`.

    Raises:
        NotIdentifiableError: A determines less than ten parameters.
        IdentificationError: there is no solution: y does not depend on A.
    """
    rows = _system(A, y)
    values, directions = np.linalg.svd(np.linalg.qr(rows, mode="r"))[1:]
    least = directions[-1]
    # What rounding makes of a zero there: its size over the distance to the next singular value.
    if abs(least[-1]) * (values[-2] - values[-1]) <= np.finfo(float).eps * values[0]:
        raise IdentificationError("total least squares has no solution here: the wrench does not depend on the motion")
    return np.asarray(least[:-1] / -least[-1])


def _system(A: ArrayLike, y: ArrayLike) -> FloatArray:
    """(6 N, 11) rows [A, y] of data that determine all ten parameters."""
    matrices, wrenches = wrench_samples(A, y)
    report = payload_identifiability(matrices)
    if report.rank < 10:
        names = ", ".join(report.undetermined) or "some combinations"
        raise NotIdentifiableError(
            f"{len(matrices)} samples determine only {report.rank} of the 10 parameters: {names} cannot be told from A",
            report.undetermined,
        )
    return np.concatenate([matrices, wrenches[:, :, None]], axis=2).reshape(-1, 11)

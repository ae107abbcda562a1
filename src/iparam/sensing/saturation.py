"""`saturated_entries`: which components of a wrench end at the largest value that the sensor shows, and when."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.recording.channels import CHANNELS
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark

LEAST_CLIPPED = 5
"""Samples at a limit from which on it is one."""

SAME = 1e-9
"""Difference of two values, as a share of the channel's range, that rounding makes."""

MARGIN = 0.02
"""Time before and after that is left out, too [s]: next to a limit only those samples are below it whose noise is."""


def saturated_entries(wrench: Signal) -> tuple[NDArray[np.bool_], tuple[Remark, ...]]:
    """(T, 6) which entries are at a limit or next to one, and a remark about them if there are any."""
    clipped = clipped_samples(np.asarray(wrench.values))
    if not clipped.any():
        return clipped, ()
    names = [
        name for name, any_ in zip(CHANNELS["wrench"].columns, np.any(clipped, axis=0).tolist(), strict=True) if any_
    ]
    said = remark(
        "wrench-saturated",
        channels=", ".join(names),
        count=np.count_nonzero(clipped.any(axis=1)),
        samples=wrench.num_samples,
    )
    return np.stack([_widened(column, wrench.time) for column in clipped.T], axis=1), (said,)


def _widened(clipped: NDArray[np.bool_], time: FloatArray) -> NDArray[np.bool_]:
    """(T,) those within `MARGIN` of one that is clipped."""
    at = time[clipped]
    if not at.size:
        return clipped
    nearest = np.searchsorted(at, time)
    before, after = at[np.maximum(nearest - 1, 0)], at[np.minimum(nearest, at.size - 1)]
    return np.asarray(np.minimum(np.abs(time - before), np.abs(after - time)) <= MARGIN)


def clipped_samples(values: FloatArray) -> NDArray[np.bool_]:
    """(T, 6) whether a channel stands at its largest or smallest value, for as long as only a limit makes it."""
    found = np.zeros(values.shape, dtype=bool)
    for channel in range(values.shape[1]):
        column = values[:, channel]
        for limit, sign in ((column.max(), 1.0), (column.min(), -1.0)):
            at = np.abs(column - limit) <= SAME * np.ptp(column)
            count = int(np.count_nonzero(at))
            rest = sign * column[~at]
            if count < LEAST_CLIPPED or not rest.size:
                continue
            # Next to its top a smooth curve has as many values in a band as the band is wide; at a limit, all of them.
            deepest = float(rest.max())
            step = abs(sign * limit - deepest)
            span = max(10.0 * step, 1e-3 * float(np.ptp(column)))
            beside = int(np.count_nonzero(rest > sign * limit - span))
            if count > LEAST_CLIPPED and count * 2 > beside and np.ptp(column) > 0.0:
                found[:, channel] |= at
    return found

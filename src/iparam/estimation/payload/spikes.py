"""`without_spikes`: a wrench without the samples that stand out from their neighbours, as sensors, cables and networks
make them.

Least squares believes every sample, and one per cent of spikes of 50 N costs it a factor of ten. A spike is told by two
things at once: it stands out in the wrench itself, and in what the load leaves of the wrench, from the samples right
before and after it. What lasts longer than three samples is no spike: a touch, a jump of the bias and a model that does
not fit are left for the assessment to see, and noise is never left out, so that sound data stay as they are.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray
from iparam.motion.delay import AlignedMotion
from iparam.motion.motion import MotionEstimate
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.rounding import percent

FARTHEST = 6.0
"""Standard deviations from the median of its neighbours that noise reaches: about twice in 1e9 samples."""

NEIGHBOURS = 3
"""Samples on each side that a sample is compared with: spikes of up to three samples in a row stand out."""

AROUND = 25
"""Samples on each side whose scatter counts as usual: where the model misfits, it does for longer than a spike."""

INVISIBLE = 1e-3
"""Scatter, as a share of the wrench's own, that harms nobody: a signal without noise scatters by its curvature."""

MOST = 0.1
"""Share of the samples above which they are no spikes, but how the signal is."""

_QUANTILE, _NORMAL = 0.9, 1.6448536269514722  # of |x|, and where it is for a standard normal x
_MEDIAN = 0.6744897501960817  # of the same
_LEAST = 1e-9  # scatter of a channel, as a share of the largest value, that it is weighted with
_FITTED = 5000  # samples that tell the load well enough to see a spike beside it
_PART = 20_000  # samples whose regressors, or neighbours, are held at a time
_ROUNDS = 5


def without_spikes(
    wrench: Signal, motion: MotionEstimate, robot: Robot | None, gravity: ArrayLike
) -> tuple[Signal, tuple[Remark, ...]]:
    """The wrench without its spikes, and a remark about them; the same signal where there are none.

    Args:
        wrench: in the tool's frame, of an unknown load and bias.
        motion: of the arm.
        robot: the arm; None where the orientation of a sensor is known instead.
        gravity: (3,) in base axes, or those of the world [m/s^2].
    """
    least = INVISIBLE * wrench.values.std(axis=0)
    if wrench.num_samples <= 2 * AROUND or not _standing_out(wrench.values, least).any():
        return wrench, ()
    inside = np.flatnonzero((wrench.time >= motion.time[0]) & (wrench.time <= motion.time[-1]))
    if inside.size <= 2 * AROUND:
        return wrench, ()
    times, values = wrench.time[inside], wrench.values[inside]
    still = AlignedMotion(motion)
    sound: NDArray[np.bool_] = np.ones(inside.size, dtype=bool)
    for _ in range(_ROUNDS):
        residual = values - _load_wrench(times, values, sound, still, robot, gravity)
        spikes = (_standing_out(residual, least) & _standing_out(values, least)).any(axis=1)
        if np.array_equal(~spikes, sound):
            break
        sound = np.asarray(~spikes)
    count = int(np.count_nonzero(~sound))
    if not 0 < count <= MOST * inside.size:
        return wrench, ()
    kept = np.ones(wrench.num_samples, dtype=bool)
    kept[inside[~sound]] = False
    sizes = np.abs(_from_neighbours(values))[~sound].max(axis=0)
    said = remark(
        "wrench-spikes",
        count=count,
        samples=wrench.num_samples,
        share=percent(count / wrench.num_samples),
        force=sizes[:3].max(),
        torque=sizes[3:].max(),
    )
    return dataclasses.replace(wrench, time=wrench.time[kept], values=wrench.values[kept]), (said,)


def _load_wrench(
    times: FloatArray,
    values: FloatArray,
    sound: NDArray[np.bool_],
    motion: AlignedMotion,
    robot: Robot | None,
    gravity: ArrayLike,
) -> FloatArray:
    """(N, 6) what a load on this motion, fitted to the ``sound`` samples, exerts."""
    rows = np.flatnonzero(sound)
    rows = rows[:: max(1, rows.size // _FITTED)]
    matrices = motion.regressor(times[rows], robot, gravity)
    scale = 1.0 / np.maximum(values[rows].std(axis=0), _LEAST * max(float(np.abs(values).max()), 1e-300))
    design = np.concatenate([matrices, np.broadcast_to(np.eye(6), (rows.size, 6, 6))], axis=2) * scale[:, None]
    flat = design.reshape(-1, design.shape[2])
    size = np.sqrt(np.einsum("ij,ij->j", flat, flat)) + 1e-300
    gram, right = flat.T @ flat / np.outer(size, size), flat.T @ (values[rows] * scale).ravel() / size
    phi = (np.linalg.lstsq(gram, right, rcond=1e-12)[0] / size)[:10]
    found = np.empty_like(values)
    for start in range(0, times.size, _PART):
        part = slice(start, start + _PART)
        found[part] = motion.regressor(times[part], robot, gravity) @ phi
    return found


def _standing_out(values: FloatArray, least: FloatArray) -> NDArray[np.bool_]:
    """(N, 6) which of values (N, 6) are further from their neighbours than all but a few others, and than those
    around them, by more than scatter ``least`` (6,) makes.

    Samples that are their neighbours' median tell nothing of the scatter: one in seven is by chance, and where a
    channel is at its limit, or stuck, all are.
    """
    away = np.abs(_from_neighbours(values))
    usual = least.copy()
    for channel, own in enumerate(away.T):
        if own.any():
            usual[channel] = max(usual[channel], float(np.quantile(own[own > 0.0], _QUANTILE)) / _NORMAL)
    found = away > FARTHEST * usual
    for row, channel in np.argwhere(found):
        near = away[max(row - AROUND, 0) : row + AROUND + 1, channel]
        found[row, channel] = away[row, channel] > FARTHEST * np.median(near[near > 0.0]) / _MEDIAN
    return found


def _from_neighbours(values: FloatArray) -> FloatArray:
    """(N, 6) values minus the running median of themselves and their neighbours."""
    # Not scipy.ndimage's filter: to load that takes longer than a log of minutes does here.
    padded, left = np.pad(values, ((NEIGHBOURS, NEIGHBOURS), (0, 0)), mode="edge"), np.empty_like(values)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * NEIGHBOURS + 1, axis=0)
    for start in range(0, len(values), _PART):
        part = slice(start, start + _PART)
        left[part] = values[part] - np.partition(windows[part], NEIGHBOURS, axis=2)[:, :, NEIGHBOURS]
    return left

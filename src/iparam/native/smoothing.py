"""Kernels of the joint Kalman smoother: one joint, any time stamps. Arrays are contiguous and writable.

Everything is in the units of the model: time in 1 / omega, so that state i is d^i q/dt^i / omega^i, and variances in
those of one angle sample. That keeps all matrices near 1 whatever the bandwidth and the sampling rate. T samples of R
measurements each, the angle and its first derivative, m integrators.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.native.library import array, count, kernel, number

ORDERS = (3, 8)
"""The least and the largest number m of integrators."""

_joint_filter = kernel("joint_filter", count, count, count, number, *[array] * 11)
_joint_smoother = kernel("joint_smoother", *[count] * 6, number, *[array] * 11)
_joint_residuals = kernel("joint_residuals", count, count, count, number, *[array] * 8)


class Filtered(NamedTuple):
    """What `joint_filter` writes of T samples; all scaled. Samples that share their covariances share a slot.

    Attributes:
        innovations: (T, R).
        slots: (T,) the row of gains and covariances that belongs to each sample.
        gains: (T, R, m + 1) [K, S] of one measurement after the other, by slot.
        predicted: (T, m) states; no rows, nor covariances, where they are not kept.
        covariances: (T, m, m) of the predicted states, by slot.
    """

    innovations: FloatArray
    slots: NDArray[np.int64]
    gains: FloatArray
    predicted: FloatArray
    covariances: FloatArray


def joint_filter(
    steps: FloatArray,
    y: FloatArray,
    noise: FloatArray,
    intensities: FloatArray,
    x: FloatArray,
    p: FloatArray,
    tolerance: float,
    kept: bool,
) -> Filtered:
    """Kalman filter over y (T, R), all scaled. Called again with the next samples, it goes on where it was.

    Args:
        steps: (T,) the time step before each sample; 0 before the first of all.
        y: (T, R) the samples.
        noise: (R,) variances of the noise of each.
        intensities: (T,) of the process noise during each step.
        x, p: (m,) and (m, m) the state after the sample before, or the prior where steps[0] is 0. Changed: the state
            after the last sample.
        tolerance: relative change below which a covariance is taken for its limit.
        kept: whether the predicted states and their covariances are wanted.
    """
    (samples, rows), m = y.shape, len(x)
    states = samples if kept else 0
    found = Filtered(
        np.empty((samples, rows)),
        np.empty(samples, dtype=np.int64),
        np.empty((samples, rows, m + 1)),
        np.empty((states, m)),
        np.empty((states, m, m)),
    )
    states_of = found[3:] if kept else (None, None)
    _joint_filter(samples, rows, m, tolerance, steps, y, noise, intensities, x, p, *found[:3], *states_of)
    return found


def joint_smoother(
    steps: FloatArray,
    filtered: Filtered,
    noise: FloatArray,
    adjoint: FloatArray,
    information: FloatArray,
    tolerance: float,
    first: int,
    every: int,
    means: FloatArray,
    variances: FloatArray,
) -> None:
    """Bryson-Frazier smoother over what `joint_filter` found. Called again with the samples before, it goes on.

    Args:
        steps, noise, tolerance: as there.
        filtered: the states kept.
        adjoint: (m,) and information: (m, m), of what is known after the last sample; zeros if nothing is. Changed: of
            what is known after the sample before the first.
        first: number of the first sample in the whole series.
        every: of every how many samples of the whole series the covariance is wanted.
        means: (T, d) output, the first d states.
        variances: (V, d, d) output, the covariances of those samples of the whole series.
    """
    sizes = (*filtered.innovations.shape, len(adjoint), means.shape[1], first, every)
    _joint_smoother(*sizes, tolerance, steps, *filtered, noise, adjoint, information, means, variances)


def joint_residuals(
    steps: FloatArray,
    filtered: Filtered,
    noise: FloatArray,
    adjoint: FloatArray,
    information: FloatArray,
    tolerance: float,
) -> FloatArray:
    """(2,) sums of the squared residuals and of the variances that `joint_smoother` would leave of the samples.

    In those of the noise. Arguments as there and in `joint_filter`; no states need to be kept.
    """
    sums = np.empty(2)
    sizes = (*filtered.innovations.shape, len(adjoint))
    _joint_residuals(*sizes, tolerance, steps, *filtered[:3], noise, adjoint, information, sums)
    return sums

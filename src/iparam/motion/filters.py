"""The zero-phase Butterworth filter: joint angles to q, dq and ddq, at any time stamps."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from iparam.errors import InputError
from iparam.motion.motion import MotionEstimate, checked_angles

_UNEVEN = 1e-3
"""Relative deviation of the time steps beyond which samples are resampled for a filter that needs a fixed rate."""


def butterworth_smooth(time: ArrayLike, q: ArrayLike, cutoff: float, order: int = 4) -> MotionEstimate:
    """Low-pass the angles forwards and backwards, then differentiate the quintic spline through the result.

    The amplitude response is 1 / (1 + (f / cutoff)^(2 order)), without phase shift. Unevenly spaced samples are brought
    to their median rate by cubic interpolation first.

    Args:
        time: (T,) strictly increasing [s].
        q: (T, n) [rad].
        cutoff: where half of the amplitude passes [Hz], below half the sampling rate.
        order: of the filter that is run twice.
    """
    from scipy.interpolate import CubicSpline, make_interp_spline
    from scipy.signal import butter, sosfiltfilt

    stamps, angles = checked_angles(time, q, 16)
    steps = np.diff(stamps)
    period = float(np.median(steps))
    if not 0 < cutoff < 0.5 / period:
        raise InputError(
            argument="cutoff",
            problem=f"must be between 0 and half the sampling rate, {0.5 / period:g} Hz, got {cutoff!r} Hz",
        )
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= 12:
        raise InputError(argument="order", value=order, expected="a whole number from 1 to 12")
    grid, even = stamps, angles
    if np.ptp(steps) > _UNEVEN * period:
        count = math.ceil((stamps[-1] - stamps[0]) / period) + 1
        grid = np.linspace(stamps[0], stamps[-1], count)
        even = CubicSpline(stamps, angles)(grid)
    sections = butter(order, cutoff, fs=(grid.size - 1) / (grid[-1] - grid[0]), output="sos")
    padding = min(grid.size - 1, int(3.0 / (cutoff * period)) + 1)
    spline = make_interp_spline(grid, sosfiltfilt(sections, even, axis=0, padlen=padding), k=5)
    return MotionEstimate(stamps, spline(stamps), spline(stamps, 1), spline(stamps, 2))

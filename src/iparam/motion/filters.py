"""Zero-phase Butterworth and Savitzky-Golay filters: joint angles to q, dq and ddq, at any time stamps."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.motion.motion import MotionEstimate, checked_angles

_UNEVEN = 1e-3
"""Relative deviation of the time steps beyond which samples are resampled for a filter that needs a fixed rate."""

_SAMPLES_A_BLOCK = 20_000


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


def savitzky_golay_smooth(time: ArrayLike, q: ArrayLike, window: int = 31, degree: int = 4) -> MotionEstimate:
    """Fit a polynomial to the samples around each one, at their true times, and take its value and derivatives.

    Near the ends the window stays inside the data.

    Args:
        time: (T,) strictly increasing, evenly spaced or not [s].
        q: (T, n) [rad].
        window: samples in a fit, odd.
        degree: of the polynomial, 2 to 8.
    """
    stamps, angles = checked_angles(time, q, 3)
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in (window, degree)):
        raise InputError(f"window and degree must be whole numbers, got {window!r} and {degree!r}")
    if not 2 <= degree <= 8 or window % 2 == 0 or not degree < window <= stamps.size:
        raise InputError(
            f"a window is an odd number of samples, above the degree (2 to 8) and at most {stamps.size}, the length of "
            f"the data; got window {window} and degree {degree}"
        )
    motion = np.empty((3, *angles.shape))
    for start in range(0, stamps.size, _SAMPLES_A_BLOCK):
        rows = np.arange(start, min(start + _SAMPLES_A_BLOCK, stamps.size))
        motion[:, rows] = _local_polynomials(stamps, angles, rows, window, degree)
    return MotionEstimate(stamps, *motion)


def _local_polynomials(
    time: FloatArray, q: FloatArray, rows: np.ndarray[tuple[int], np.dtype[np.int64]], window: int, degree: int
) -> FloatArray:
    """(3, R, n): value and two derivatives of the fits around ``rows``."""
    first = np.clip(rows - window // 2, 0, time.size - window)
    members = first[:, None] + np.arange(window)
    offsets = time[members] - time[rows, None]
    reach = np.abs(offsets).max(axis=1, keepdims=True)
    # Orthonormal columns keep the fits accurate for a high degree; only the first three coefficients are wanted.
    basis, triangle = np.linalg.qr(
        np.vander((offsets / reach).ravel(), degree + 1, increasing=True).reshape(rows.size, window, degree + 1)
    )
    centre = q[rows, None]
    projected = np.swapaxes(basis, 1, 2) @ (q[members] - centre)
    coefficients = np.linalg.solve(triangle, projected)[:, :3]
    coefficients *= np.array([1.0, 1.0, 2.0])[:, None] / reach[:, :, None] ** np.arange(3)[:, None]
    coefficients[:, 0] += centre[:, 0]
    return np.moveaxis(coefficients, 1, 0)

"""`WindowedFourierTrajectory`: a Fourier series under a window that brings it to rest, jerk included, at both ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.trajectory.harmonic_series import HarmonicSeries
from iparam.trajectory.harmonics import harmonic_basis


@dataclass(frozen=True, eq=False)
class WindowedFourierTrajectory(HarmonicSeries):
    """q(t) = q0 + 256 r^4 (1 - r)^4 sum_k (a_k sin(2 pi k f t) + b_k cos(2 pi k f t)) with r = t / duration.

    Position, velocity, acceleration and jerk are those of rest in q0 at t = 0 and t = duration, exactly and for any
    coefficients; the window is 1 in the middle. Attributes as in `HarmonicSeries`; q0 is the pose at both ends.
    """

    @staticmethod
    def _functions(times: FloatArray, num_harmonics: int, base_freq: float, duration: float) -> FloatArray:
        return windowed_basis(times, num_harmonics, base_freq, duration)


def windowed_basis(times: FloatArray, num_harmonics: int, base_freq: float, duration: float) -> FloatArray:
    """`harmonic_basis` times the window, (4, T, 2 K), by Leibniz's rule; arguments as there, already checked."""
    w = window(times, duration)[..., None]
    s = harmonic_basis(times, num_harmonics, base_freq)
    return np.stack(
        [
            w[0] * s[0],
            w[1] * s[0] + w[0] * s[1],
            w[2] * s[0] + 2.0 * w[1] * s[1] + w[0] * s[2],
            w[3] * s[0] + 3.0 * w[2] * s[1] + 3.0 * w[1] * s[2] + w[0] * s[3],
        ]
    )


def window(times: FloatArray, duration: float) -> FloatArray:
    """(4, T): 256 r^4 (1 - r)^4 with r = t / duration, and its first three derivatives in time.

    With p = r (1 - r) the window is 256 p^4, and dp/dr = 1 - 2 r. All four vanish exactly at both ends.
    """
    r = times / duration
    p, slope = r * (1.0 - r), 1.0 - 2.0 * r
    return np.stack(
        [
            256.0 * p**4,
            1024.0 / duration * p**3 * slope,
            1024.0 / duration**2 * p**2 * (3.0 * slope**2 - 2.0 * p),
            6144.0 / duration**3 * p * slope * (slope**2 - 3.0 * p),
        ]
    )

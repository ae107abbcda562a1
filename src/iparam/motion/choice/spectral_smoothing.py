"""Smooths even samples by their spectra: what the smoother gives far from the ends, in a tenth of its time.

Of a chain of m integrators driven by white noise, seen with white noise, the smoother passes 1 / (1 + (f / f_b)^(2 m))
of a frequency f, with f_b its bandwidth. At the ends, and in gaps, it knows better; models are compared away from them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.motion.joint_process import JointProcess

UNEVEN = 0.01
"""Scatter of the steps between samples, as a share of a step, up to which they count as even."""

DENSE = 8.0
"""Samples in a period of the bandwidth from which on the smoother responds as one of continuous time."""

LARGEST_FACTOR = 7
"""Prime factor of the number of samples up to which its transform is fast."""


class SpectralSmoothing:
    """Of angles q (n, T) at times (T,), of which the last few may be left out.

    A line from end to end is taken out, and what is left mirrored about its ends, over which it goes on smoothly.
    """

    def __init__(self, time: FloatArray, q: FloatArray) -> None:
        steps = np.diff(time)
        self._step = float(steps.mean())
        self._even = bool(np.ptp(steps) < UNEVEN * self._step)
        size = _fast_size(time.size - 1)
        self.time, angles = time[: size + 1], q[:, : size + 1]
        self._first, self._slope = angles[:, 0], (angles[:, -1] - angles[:, 0]) / (size * self._step)
        rest = angles - self._first[:, None] - self._slope[:, None] * self._step * np.arange(size + 1)
        self._spectra = np.fft.rfft(np.concatenate([rest, -rest[:, -2:0:-1]], axis=1), axis=1)
        self._rates = 2j * np.pi * np.fft.rfftfreq(2 * size, self._step)

    def fits(self, processes: Sequence[JointProcess]) -> bool:
        """Whether the samples are even, and dense enough for these models."""
        return self._even and DENSE * max(one.bandwidth for one in processes) * self._step < 1.0

    def motion(self, processes: Sequence[JointProcess], at: FloatArray) -> FloatArray:
        """(3, N, n) q, dq and ddq at times (N,), smoothed with one model a joint."""
        found = np.empty((3, at.size, len(processes)))
        for joint, process in enumerate(processes):
            relative = np.abs(self._rates) / (2.0 * np.pi * process.bandwidth)
            passed: NDArray[np.complex128] = self._spectra[joint] / (1.0 + relative ** (2 * process.order))
            size = 2 * (self.time.size - 1)
            for order in range(3):
                column = np.fft.irfft(passed, size)[: self.time.size]
                found[order, :, joint] = np.interp(at, self.time, column)
                passed = self._rates * passed
        found[0] += self._first + self._slope * (at - self.time[0])[:, None]
        found[1] += self._slope
        return found


def _fast_size(most: int) -> int:
    """The largest number up to ``most`` without large prime factors."""
    for size in range(most, 0, -1):
        rest = size
        for factor in range(2, LARGEST_FACTOR + 1):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return size
    return most

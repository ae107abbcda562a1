"""How strong the noise of a signal is: of a white one from its differences, of any other from its spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError

SEGMENTS = 8
"""Parts of a run whose spectra are averaged."""

LEAST_SAMPLES = 64
"""For a spectrum that can be told from chance."""

POWER = 0.999
"""Share of a signal's power below the frequency where its band is taken to end."""

BEYOND = 1.5
"""Times that frequency, noise alone is expected."""


def white_noise_level(values: FloatArray) -> FloatArray:
    """Standard deviation (k,) of the white noise in samples (T, k) of something smooth, from second differences.

    A second difference of white noise has six times its variance, and one of a smooth signal next to none. The median
    keeps outliers out. Noise that passed a filter has smaller differences than white noise: see `noise_beside`.
    """
    if len(values) < 3:
        raise InputError(f"the noise level needs at least 3 samples, got {len(values)}")
    differences = np.diff(values, 2, axis=0)
    return np.asarray(np.median(np.abs(differences), axis=0) / 0.6744897501960817 / np.sqrt(6.0))


@dataclass(frozen=True, eq=False)
class SpectralNoise:
    """The noise of a signal's channels as their residuals show it.

    Attributes:
        level: (k,) standard deviation of a sample's noise, filtered or not.
        in_band: (k,) that of white noise which is as strong as this in the signal's band.
        excess: (k,) power of the residuals within the signal's band, in that of the noise there: 1 if they are noise.
    """

    level: FloatArray
    in_band: FloatArray
    excess: FloatArray


def noise_beside(residual: FloatArray, signal: FloatArray) -> SpectralNoise | None:
    """The noise in residuals (T, k) of a signal (T, k), evenly sampled; None if there is no telling.

    Beyond the band in which the signal has its power there is only noise. Its density just beyond is taken to go on
    down to zero, which holds for white noise and for noise behind a filter that lets the signal pass.
    """
    count = 2 * len(residual) // (SEGMENTS + 1)
    if count < LEAST_SAMPLES:
        return None
    of_signal, of_rest = power_spectrum(signal, count), power_spectrum(residual, count)
    total = of_signal.sum(axis=0)
    share = np.cumsum(of_signal[:, total > 0.0] / total[total > 0.0], axis=0)
    last = BEYOND * (int(np.max(np.argmax(share >= POWER, axis=0))) if share.size else 0)
    edge = max(int(np.ceil(last)) + 1, 3)  # a window spreads a line over its neighbours
    beyond = of_rest[edge : 3 * edge]
    if len(beyond) < 3:
        return None
    density = beyond.mean(axis=0)
    level = np.sqrt(of_rest[edge:].sum(axis=0) + (edge - 1) * density)
    inside = of_rest[1:edge].mean(axis=0)
    return SpectralNoise(level, np.sqrt(len(of_rest) * density), inside / np.maximum(density, 1e-300))


def power_spectrum(values: FloatArray, count: int, without_trend: bool = True) -> FloatArray:
    """(count // 2 + 1, k) mean square of values (T, k) at each frequency; they add up to the mean square of all.

    Welch's method: segments of ``count`` samples that overlap by half, without their means or their linear trends,
    under Hann windows. By hand, because to import ``scipy.signal`` takes longer than all that is done with a log of a
    minute.
    """
    steps = np.arange(count)
    segments = values[np.arange(0, len(values) - count + 1, count - count // 2)[:, None] + steps]
    slope = steps - steps.mean()
    segments = segments - segments.mean(axis=1, keepdims=True)
    if without_trend:
        trend = np.einsum("t,stk->sk", slope, segments) / float(slope @ slope)
        segments -= slope[:, None] * trend[:, None]
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * steps / count)
    power = np.abs(np.fft.rfft(segments * window[:, None], axis=1)) ** 2 / float(window @ window)
    power[:, 1 : (count + 1) // 2] *= 2.0  # what lies at negative frequencies
    return np.asarray(power.mean(axis=0)) / count

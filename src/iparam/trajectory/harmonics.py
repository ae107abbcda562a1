"""Sines and cosines of a base frequency with their first three derivatives: what all Fourier families are made of."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray


def harmonic_basis(times: FloatArray, num_harmonics: int, base_freq: float) -> FloatArray:
    """sin(2 pi k f t) and cos(2 pi k f t) for k = 1..K and their derivatives in time.

    Args:
        times: (T,) [s].
        num_harmonics: K.
        base_freq: f [Hz].

    Returns:
        (4, T, 2 K): value, first, second and third derivative; columns [sin_1..sin_K, cos_1..cos_K].
    """
    omega = 2.0 * np.pi * base_freq * np.arange(1, num_harmonics + 1)
    phase = np.multiply.outer(times, omega)
    sine, cosine = np.sin(phase), np.cos(phase)
    basis = np.empty((4, times.size, 2, num_harmonics))
    basis[0, :, 0], basis[0, :, 1] = sine, cosine
    basis[1, :, 0], basis[1, :, 1] = omega * cosine, -omega * sine
    basis[2:] = -(omega**2) * basis[:2]
    return basis.reshape(4, times.size, 2 * num_harmonics)


def combine(basis: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """(4, T, n): the (4, T, 2 K) ``basis`` weighted with the coefficients ``a`` and ``b``, each (n, K)."""
    motion: FloatArray = basis @ np.concatenate([a, b], axis=1).T
    return motion

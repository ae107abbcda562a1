"""Fourier trajectories about a pose: `FourierTrajectory`, which does not start at rest (see `JerkLimitedTrajectory`),
and `WindowedFourierTrajectory`, which a window brings to rest, jerk included, at both ends.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from typing import Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.trajectory.checks import coefficient_pair, harmonic_count, joint_vector, positive_number, times_within
from iparam.trajectory.trajectory import Trajectory


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


class WithHarmonics(Trajectory):
    """A trajectory whose dataclass has q0 (n,), the coefficients a and b (n, K), and a duration: it checks them."""

    q0: FloatArray
    a: FloatArray
    b: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "q0", joint_vector(self.q0, "q0"))
        a, b = coefficient_pair(self.a, self.b, self.num_joints)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)
        object.__setattr__(self, "duration", positive_number(self.duration, "duration", "s"))

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return self.q0.size

    @property
    def num_harmonics(self) -> int:
        """K, the number of harmonics."""
        return int(self.a.shape[1])


@dataclass(frozen=True, eq=False, repr=False)
class HarmonicSeries(WithHarmonics):
    """q(t) = q0 + functions(t) @ [a, b]; a subclass says which functions.

    Attributes:
        q0: (n,) pose that the motion is about [rad].
        a: (n, K) sine coefficients [rad].
        b: (n, K) cosine coefficients [rad].
        base_freq: f [Hz].
        duration: [s].
    """

    q0: FloatArray
    a: FloatArray
    b: FloatArray
    base_freq: float
    duration: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "base_freq", positive_number(self.base_freq, "base_freq", "Hz"))

    @classmethod
    def basis(cls, times: ArrayLike, num_harmonics: SupportsIndex, base_freq: float, duration: float) -> FloatArray:
        """The functions that the coefficients weight: the motion is linear in them.

        ``q[:, j] == q0[j] + basis[0] @ [*a[j], *b[j]]``; basis[1], basis[2] and basis[3] give dq, ddq and jerk.

        Args:
            times: (T,) within [0, duration] [s].
            num_harmonics: K.
            base_freq: f [Hz].
            duration: [s].

        Returns:
            (4, T, 2 K): value [-] and derivatives [1/s, 1/s^2, 1/s^3] for a_1..a_K, b_1..b_K.
        """
        period = positive_number(duration, "duration", "s")
        frequency = positive_number(base_freq, "base_freq", "Hz")
        return cls._functions(times_within(times, period), harmonic_count(num_harmonics), frequency, period)

    def time_scaled(self, factor: float) -> Self:
        """The same path, ``factor`` times as slow: longer, at a lower base frequency."""
        slower = positive_number(factor, "factor")
        return dataclasses.replace(self, base_freq=self.base_freq / slower, duration=self.duration * slower)

    @staticmethod
    @abstractmethod
    def _functions(times: FloatArray, num_harmonics: int, base_freq: float, duration: float) -> FloatArray:
        """`basis` with arguments that are already checked."""

    def _derivatives(self, times: FloatArray) -> FloatArray:
        motion = combine(self._functions(times, self.num_harmonics, self.base_freq, self.duration), self.a, self.b)
        motion[0] += self.q0
        return motion


@dataclass(frozen=True, eq=False, repr=False)
class FourierTrajectory(HarmonicSeries):
    """q(t) = q0 + sum_k (a_k sin(2 pi k f t) + b_k cos(2 pi k f t)).

    Attributes as in `HarmonicSeries`; q0 is the centre of the motion, whose period is 1 / f, whatever its duration.
    """

    @staticmethod
    def _functions(times: FloatArray, num_harmonics: int, base_freq: float, duration: float) -> FloatArray:
        return harmonic_basis(times, num_harmonics, base_freq)


@dataclass(frozen=True, eq=False, repr=False)
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

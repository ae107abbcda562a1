"""`HarmonicSeries`: what trajectories have in common that are linear in sine and cosine coefficients about a pose."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from dataclasses import dataclass
from typing import Self, SupportsIndex

from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.trajectory.checks import coefficient_pair, harmonic_count, joint_vector, positive_number, times_within
from iparam.trajectory.harmonics import combine
from iparam.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class HarmonicSeries(Trajectory):
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
        object.__setattr__(self, "q0", joint_vector(self.q0, "q0"))
        a, b = coefficient_pair(self.a, self.b, self.num_joints)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)
        object.__setattr__(self, "base_freq", positive_number(self.base_freq, "base_freq", "Hz"))
        object.__setattr__(self, "duration", positive_number(self.duration, "duration", "s"))

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return self.q0.size

    @property
    def num_harmonics(self) -> int:
        """K, the number of harmonics."""
        return int(self.a.shape[1])

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

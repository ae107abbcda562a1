"""`FourierTrajectory`: a finite Fourier series about a pose. It does not start at rest; see `BlendedTrajectory`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import SupportsIndex

from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.trajectory.checks import coefficient_pair, harmonic_count, joint_vector, positive_number, times_within
from iparam.trajectory.harmonics import combine, harmonic_basis
from iparam.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class FourierTrajectory(Trajectory):
    """q(t) = q0 + sum_k (a_k sin(2 pi k f t) + b_k cos(2 pi k f t)).

    Attributes:
        q0: (n,) centre of the motion [rad].
        a: (n, K) sine coefficients [rad].
        b: (n, K) cosine coefficients [rad].
        base_freq: f [Hz]; the motion has the period 1 / f, whatever its duration.
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

    @staticmethod
    def basis(times: ArrayLike, num_harmonics: SupportsIndex, base_freq: float, duration: float) -> FloatArray:
        """The functions that the coefficients weight: the motion is linear in them.

        ``q[:, j] == q0[j] + basis[0] @ [*a[j], *b[j]]``; basis[1], basis[2] and basis[3] give dq, ddq and jerk.

        Args:
            times: (T,) within [0, duration] [s].
            num_harmonics: K.
            base_freq: f [Hz].
            duration: [s]; it bounds ``times`` and nothing else.

        Returns:
            (4, T, 2 K): value [-] and derivatives [1/s, 1/s^2, 1/s^3] for a_1..a_K, b_1..b_K.
        """
        inside = times_within(times, positive_number(duration, "duration", "s"))
        return harmonic_basis(inside, harmonic_count(num_harmonics), positive_number(base_freq, "base_freq", "Hz"))

    def time_scaled(self, factor: float) -> FourierTrajectory:
        """The same path, ``factor`` times as slow: longer, at a lower base frequency."""
        slower = positive_number(factor, "factor")
        return dataclasses.replace(self, base_freq=self.base_freq / slower, duration=self.duration * slower)

    def _derivatives(self, times: FloatArray) -> FloatArray:
        motion = combine(harmonic_basis(times, self.num_harmonics, self.base_freq), self.a, self.b)
        motion[0] += self.q0
        return motion

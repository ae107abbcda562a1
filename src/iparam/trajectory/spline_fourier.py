"""`SplineFourierTrajectory`: from rest in one pose to rest in another, with a windowed Fourier series on the way."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import FloatArray
from iparam.trajectory.checks import coefficient_pair, joint_vector, positive_number
from iparam.trajectory.fourier import combine, windowed_basis
from iparam.trajectory.spline import PolynomialPieces
from iparam.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class SplineFourierTrajectory(Trajectory):
    """q(t) = s(t) + 256 r^4 (1 - r)^4 sum_k (a_k sin(2 pi k f t) + b_k cos(2 pi k f t)) with r = t / duration.

    s(t) is the polynomial of degree 7 from q_start to q_end with zero velocity, acceleration and jerk at both ends,
    which the window has too.

    Attributes:
        q_start: (n,) pose at t = 0 [rad].
        q_end: (n,) pose at t = duration [rad].
        a: (n, K) sine coefficients [rad].
        b: (n, K) cosine coefficients [rad].
        base_freq: f [Hz].
        duration: [s].
    """

    q_start: FloatArray
    q_end: FloatArray
    a: FloatArray
    b: FloatArray
    base_freq: float
    duration: float
    _transfer: PolynomialPieces = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "q_start", joint_vector(self.q_start, "q_start"))
        object.__setattr__(self, "q_end", joint_vector(self.q_end, "q_end", self.num_joints))
        a, b = coefficient_pair(self.a, self.b, self.num_joints)
        object.__setattr__(self, "a", a)
        object.__setattr__(self, "b", b)
        object.__setattr__(self, "base_freq", positive_number(self.base_freq, "base_freq", "Hz"))
        object.__setattr__(self, "duration", positive_number(self.duration, "duration", "s"))
        object.__setattr__(self, "_transfer", _rest_to_rest(self.q_start, self.q_end, self.duration))

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return self.q_start.size

    @property
    def num_harmonics(self) -> int:
        """K, the number of harmonics."""
        return int(self.a.shape[1])

    def time_scaled(self, factor: float) -> SplineFourierTrajectory:
        """The same path, ``factor`` times as slow."""
        slower = positive_number(factor, "factor")
        return dataclasses.replace(self, base_freq=self.base_freq / slower, duration=self.duration * slower)

    def _derivatives(self, times: FloatArray) -> FloatArray:
        basis = windowed_basis(times, self.num_harmonics, self.base_freq, self.duration)
        return combine(basis, self.a, self.b) + self._transfer.derivatives(times)


def _rest_to_rest(start: FloatArray, end: FloatArray, duration: float) -> PolynomialPieces:
    """The motion start + (end - start) (35 r^4 - 84 r^5 + 70 r^6 - 20 r^7), the same seen from either end."""
    weights = np.array([0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0])[:, None]
    forward, backward = weights * (end - start), weights * (start - end)
    forward[0], backward[0] = start, end
    return PolynomialPieces(np.array([0.0, duration]), forward[None], backward[None])

"""`IntegratedFourierTrajectory`: a Fourier series in the velocity, one period long, that can start and end at rest."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.trajectory.checks import coefficient_pair, harmonic_count, joint_vector, positive_number
from iparam.trajectory.fourier import WithHarmonics, combine, harmonic_basis


@dataclass(frozen=True, eq=False, repr=False)
class IntegratedFourierTrajectory(WithHarmonics):
    """q(t) = q0 + sum_k (a_k / (w k) sin(w k t) - b_k / (w k) cos(w k t)) with w = 2 pi / duration.

    The coefficients are those of the velocity, dq(t) = sum_k (a_k cos(w k t) + b_k sin(w k t)). Any are accepted here;
    `with_initial_conditions` makes them such that the motion starts, and a period later ends, at rest in q0.

    Attributes:
        q0: (n,) centre of the motion [rad].
        a: (n, K) [rad/s].
        b: (n, K) [rad/s].
        duration: the period [s].
    """

    q0: FloatArray
    a: FloatArray
    b: FloatArray
    duration: float

    @classmethod
    def with_initial_conditions(
        cls, q0: ArrayLike, a: ArrayLike, b: ArrayLike, duration: float
    ) -> IntegratedFourierTrajectory:
        """The trajectory nearest to the given coefficients with q = q0, dq = 0 and ddq = 0 at both ends.

        The conditions at t = 0 are sum a_k = 0, sum b_k / k = 0 and sum k b_k = 0. The coefficients are projected
        orthogonally onto them: the smallest change, joint by joint, in the sense of least squares. One condition on a
        leaves a motion with two harmonics or more. Two conditions on b need three: with two harmonics b becomes zero.

        Args:
            q0: (n,) pose at both ends [rad].
            a, b: (n, K) [rad/s], K >= 2.
            duration: [s].
        """
        pose = joint_vector(q0, "q0")
        sine, cosine = coefficient_pair(a, b, pose.size)
        order = np.arange(1.0, _enough_harmonics(sine.shape[1]) + 1.0)
        return cls(
            pose,
            _without(sine, np.ones((order.size, 1))),
            _without(cosine, np.stack([1.0 / order, order], axis=1)),
            duration,
        )

    @classmethod
    def random(
        cls,
        q0: ArrayLike,
        duration: float,
        *,
        num_harmonics: SupportsIndex = 5,
        amplitude: float = 0.2,
        seed: int | np.random.Generator,
    ) -> IntegratedFourierTrajectory:
        """A random motion that starts and ends at rest in ``q0``.

        The coefficients are drawn uniformly from [-amplitude, amplitude] and then projected, which shortens each
        joint's vector of coefficients; a single coefficient may end up beyond the amplitude.

        Args:
            q0: (n,) pose at both ends [rad].
            duration: [s].
            num_harmonics: K >= 2; 3 or more for the b coefficients to take part.
            amplitude: [rad/s].
            seed: a whole number, or a generator to draw from.
        """
        pose = joint_vector(q0, "q0")
        bound = positive_number(amplitude, "amplitude", "rad/s")
        shape = (2, pose.size, _enough_harmonics(harmonic_count(num_harmonics)))
        try:
            generator = np.random.default_rng(seed)
        except (TypeError, ValueError):
            raise InputError(
                argument="seed", value=seed, expected="a whole number from 0, or a numpy Generator"
            ) from None
        a, b = generator.uniform(-bound, bound, shape)
        return cls.with_initial_conditions(pose, a, b, duration)

    @property
    def base_freq(self) -> float:
        """1 / duration [Hz]."""
        return 1.0 / self.duration

    def time_scaled(self, factor: float) -> IntegratedFourierTrajectory:
        """The same path, ``factor`` times as slow."""
        slower = positive_number(factor, "factor")
        return dataclasses.replace(self, a=self.a / slower, b=self.b / slower, duration=self.duration * slower)

    def _derivatives(self, times: FloatArray) -> FloatArray:
        omega = 2.0 * np.pi * self.base_freq * np.arange(1, self.num_harmonics + 1)
        basis = harmonic_basis(times, self.num_harmonics, self.base_freq)
        motion = combine(basis, self.a / omega, -self.b / omega)
        motion[0] += self.q0
        return motion


def _enough_harmonics(count: int) -> int:
    if count < 2:
        raise InputError(
            argument="num_harmonics",
            problem=f"must be at least 2 for a motion from rest (3 for the b coefficients to take part), got {count}: "
            "position, velocity and acceleration at the start leave a single harmonic nothing but standing still",
        )
    return count


def _without(rows: FloatArray, conditions: FloatArray) -> FloatArray:
    """``rows`` (n, K) made orthogonal to the columns of ``conditions`` (K, c)."""
    if conditions.shape[1] >= conditions.shape[0]:
        return np.zeros_like(rows)
    normal, _ = np.linalg.qr(conditions)
    for _ in range(2):  # the second time takes away what the first one's rounding left
        rows = rows - (rows @ normal) @ normal.T
    return rows

"""Jerk-limited starts and ends: a motion, sampled or not, that begins and ends at rest in its own first and last pose.

In the first ``tb`` seconds the distance from the first pose is multiplied by the polynomial of sixth degree

    s(x) = 20 x^3 - 45 x^4 + 36 x^5 - 10 x^6,   x = t / tb,

and at the end by the same, backwards, from the last pose. Its seven coefficients make s, s', s'' vanish at x = 0 and
1 - s, s', s'', s''' at x = 1: velocity, acceleration and jerk are zero at both ends and continuous at the joins (Kubus
et al. 2008, Eq. 14 and 15, limit the jerk by polynomials of this degree). s rises from 0 to 1, so that every joint
stays between its first pose and where it would be, and no derivative of the samples is needed, which their noise would
spoil. In between, the motion is as it was.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from math import comb, perm

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.trajectory.checks import TIME_SLACK, positive_number
from iparam.trajectory.trajectory import Trajectory

_RISE = (0.0, 0.0, 0.0, 20.0, -45.0, 36.0, -10.0)
"""Coefficients of s in ascending order."""


@dataclass(frozen=True, eq=False, repr=False)
class JerkLimitedTrajectory(Trajectory):
    """Another motion that starts from rest in its first pose and ends at rest in its last one; times stay.

    Attributes:
        inner: the motion.
        blend_time: how long the start and the end each take, at most half of the duration [s].
        duration: of the motion [s].
    """

    inner: Trajectory
    blend_time: float
    duration: float = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Trajectory):
            raise InputError(argument="inner", problem=f"must be a Trajectory, got {type(self.inner).__name__}")
        object.__setattr__(self, "duration", self.inner.duration)
        object.__setattr__(self, "blend_time", _checked_time(self.blend_time, "blend_time", self.duration))

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return self.inner.num_joints

    def time_scaled(self, factor: float) -> JerkLimitedTrajectory:
        """The same path, ``factor`` times as slow."""
        slower = positive_number(factor, "factor")
        return dataclasses.replace(self, inner=self.inner.time_scaled(slower), blend_time=self.blend_time * slower)

    def _derivatives(self, times: FloatArray) -> FloatArray:
        motion = np.array(self.inner._derivatives(times))
        poses = self.inner._derivatives(np.array([0.0, self.duration]))[0]
        for pose, away, direction in ((poses[0], times, 1.0), (poses[1], self.duration - times, -1.0)):
            near = away < self.blend_time
            motion[:, near] = _risen(motion[:, near], pose, away[near] / self.blend_time, direction / self.blend_time)
        return motion


def apply_jerk_limit(samples: ArrayLike, t_blend: float, dt: float) -> FloatArray:
    """Samples of a motion (T, n) that starts and ends at rest, with limited jerk, in its first and last pose.

    Args:
        samples: (T, n) joint positions [rad].
        t_blend: how long the start and the end each take, at most half of the motion [s].
        dt: time from one sample to the next [s].
    """
    positions = as_float_array(samples, "samples")
    if positions.ndim != 2 or len(positions) < 2:
        raise InputError(
            argument="samples", problem=f"must have shape (T, n), at least two poses, got {positions.shape}"
        )
    step = positive_number(dt, "dt", "s")
    times = np.arange(float(len(positions))) * step
    blend = _checked_time(t_blend, "t_blend", float(times[-1]))
    limited = positions.copy()
    for pose, away in ((positions[0], times), (positions[-1], times[::-1])):
        near = away < blend
        limited[near] = _risen(limited[None, near], pose, away[near] / blend, 0.0)[0]
    return limited


def _checked_time(value: ArrayLike, name: str, duration: float) -> float:
    blend = positive_number(value, name, "s")
    if blend > 0.5 * duration * (1.0 + TIME_SLACK):
        raise InputError(
            argument=name, problem=f"must be at most half of the motion of {duration:g} s, got {blend:g} s"
        )
    return blend


def _risen(motion: FloatArray, pose: FloatArray, x: FloatArray, rate: float) -> FloatArray:
    """(k, T, n) motion and its derivatives with the distance from a pose (n,) times s(x), x (T,) changing by ``rate``
    [1/s]: the derivatives of a product.
    """
    orders = range(len(motion))
    rise = [
        sum(perm(power, order) * one * x ** (power - order) for power, one in enumerate(_RISE) if power >= order)
        * rate**order
        for order in orders
    ]
    distance = motion.copy()
    distance[0] -= pose
    risen = np.zeros_like(motion)
    for order in orders:
        for part in range(order + 1):
            risen[order] += comb(order, part) * np.asarray(rise[part])[:, None] * distance[order - part]
    risen[0] += pose
    return risen

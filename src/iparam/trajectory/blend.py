"""`BlendedTrajectory`: polynomials of sixth degree that bring a moving trajectory from rest and back to rest.

Kubus, Kröger and Wahl (2008, Eq. 14 and 15) limit the jerk at the ends of an excitation in this way. A polynomial of
sixth degree has seven coefficients. At the join four are spent on position, velocity, acceleration and jerk, so that
even the jerk is continuous there; at rest three are spent on zero velocity, acceleration and jerk. Nothing is left for
the pose at rest, which therefore follows from the motion: it is the one from which the arm rolls smoothly into it,

    q_rest = q - tb dq / 2 + tb^2 ddq / 10 - tb^3 jerk / 120     (at the start; dq and jerk change sign at the end),

near the join for a short blend time tb. Prescribing the pose instead would cost the continuity of the jerk, and a far
pose makes a polynomial of this degree overshoot; a `QuinticSpline` leads from any pose to `start_pose`. A
`JerkLimitedTrajectory` rests in its own first pose, and gives up the motion near it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from math import perm

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.errors import InputError
from iparam.trajectory.checks import positive_number
from iparam.trajectory.trajectory import Trajectory

_SIGNS = np.array([1.0, -1.0, 1.0, -1.0])[:, None]  # of the derivatives when time runs backwards


@dataclass(frozen=True, eq=False, repr=False)
class BlendedTrajectory(Trajectory):
    """A lead-in of ``blend_time`` seconds from rest, then ``inner`` as it is, then as long a lead-out to rest.

    Position, velocity, acceleration and jerk are continuous throughout, and the last three are zero at both ends.

    Attributes:
        inner: any trajectory; at time ``blend_time`` it starts.
        blend_time: tb [s].
        duration: inner.duration + 2 blend_time [s].
        start_pose: (n,) where the arm rests at t = 0; it follows from ``inner`` and ``blend_time`` [rad].
        end_pose: (n,) where the arm rests at t = duration [rad].
    """

    inner: Trajectory
    blend_time: float
    duration: float = field(init=False)
    start_pose: FloatArray = field(init=False)
    end_pose: FloatArray = field(init=False)
    _lead_in: FloatArray = field(init=False, repr=False)
    _lead_out: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.inner, Trajectory):
            raise InputError(argument="inner", problem=f"must be a Trajectory, got {type(self.inner).__name__}")
        object.__setattr__(self, "blend_time", positive_number(self.blend_time, "blend_time", "s"))
        duration = positive_number(self.inner.duration + 2.0 * self.blend_time, "duration", "s")
        object.__setattr__(self, "duration", duration)
        ends = self.inner.evaluate([0.0, self.inner.duration])
        states = np.stack([ends.q, ends.dq, ends.ddq, ends.jerk], axis=1)  # (2, 4, n)
        for lead, pose, state in (
            ("_lead_in", "start_pose", states[0]),
            ("_lead_out", "end_pose", states[1] * _SIGNS),
        ):
            polynomial = _from_rest(state, self.blend_time)
            object.__setattr__(self, lead, polynomial)
            object.__setattr__(self, pose, frozen(polynomial[0]))

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return self.inner.num_joints

    def time_scaled(self, factor: float) -> BlendedTrajectory:
        """The same path, ``factor`` times as slow, blends included."""
        slower = positive_number(factor, "factor")
        return dataclasses.replace(self, inner=self.inner.time_scaled(slower), blend_time=self.blend_time * slower)

    def _derivatives(self, times: FloatArray) -> FloatArray:
        motion = np.empty((4, times.size, self.num_joints))
        to_end = self.duration - times
        leading_in, leading_out = times < self.blend_time, to_end < self.blend_time
        between = ~(leading_in | leading_out)
        motion[:, leading_in] = _polynomial(self._lead_in, times[leading_in], self.blend_time)
        motion[:, leading_out] = _polynomial(self._lead_out, to_end[leading_out], self.blend_time) * _SIGNS[:, None]
        inner_times = np.clip(times[between] - self.blend_time, 0.0, self.inner.duration)
        motion[:, between] = self.inner._derivatives(inner_times)
        return motion


def _from_rest(state: FloatArray, blend_time: float) -> FloatArray:
    """(7, n) ascending coefficients in t / tb of the motion that rests at t = 0 and has ``state`` (4, n) at t = tb."""
    q, v, a, j = state * blend_time ** np.arange(4.0)[:, None]
    velocity = np.stack([10.0 * v - 4.0 * a + j / 2.0, -15.0 * v + 7.0 * a - j, 6.0 * v - 3.0 * a + j / 2.0])
    moving = velocity / np.array([4.0, 5.0, 6.0])[:, None]
    polynomial = np.zeros((7, q.size))
    polynomial[0] = q - v / 2.0 + a / 10.0 - j / 120.0
    polynomial[4:] = moving
    return polynomial


def _polynomial(series: FloatArray, times: FloatArray, blend_time: float) -> FloatArray:
    """(4, T, n): the polynomial in t / tb with coefficients (7, n) and its first three derivatives in time."""
    x = (times / blend_time)[:, None]
    motion = np.zeros((4, times.size, series.shape[1]))
    for order in range(4):
        for power in range(6, order - 1, -1):
            motion[order] = motion[order] * x + perm(power, order) * series[power]
        motion[order] /= blend_time**order
    return motion

"""`QuinticSpline`: the smoothest motion through waypoints, of polynomials of degree 5 between each two of them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from math import factorial, perm
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, frozen
from iparam.errors import InputError
from iparam.trajectory.checks import bounded, joint_vector, positive_number
from iparam.trajectory.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class PolynomialPieces:
    """Polynomials of degree d, one between each two knots.

    Every piece is kept as two Taylor series, one about each end, and evaluated about the nearer end. So what is
    prescribed at the knots comes out exactly, at either end of a piece.

    Attributes:
        knots: (m,) increasing times [s].
        forward: (m - 1, d + 1, n) coefficients in (t - left) / h of ascending order, h the piece's length.
        backward: (m - 1, d + 1, n) coefficients in (right - t) / h.
    """

    knots: FloatArray
    forward: FloatArray
    backward: FloatArray

    @classmethod
    def spline(cls, knots: FloatArray, points: FloatArray, start: FloatArray, end: FloatArray) -> PolynomialPieces:
        """The pieces of degree 5 that join with four continuous derivatives.

        Solved for in B-splines, whose equations stay well conditioned when the knots are spaced unevenly.

        Args:
            knots: (m,) [s].
            points: (m, n) values at the knots.
            start, end: (2, n) first and second derivative at the ends.
        """
        from scipy.interpolate import make_interp_spline  # slow to import, and few need it

        degree = 5
        unit = (knots[-1] - knots[0]) / (knots.size - 1)
        ends = [[(order, row * unit**order) for order, row in enumerate(side, 1)] for side in (start, end)]
        scaled = knots / unit
        solution = make_interp_spline(scaled, points, k=degree, bc_type=tuple(ends))
        at_knots = np.stack([solution(scaled, order) for order in range(degree)], axis=1)
        at_knots[:, 0] = points
        at_knots[[0, -1], 1:3] = [[row for _, row in side] for side in ends]
        last = solution((scaled[:-1] + scaled[1:]) / 2, degree)[:, None]  # constant in a piece
        orders = np.arange(degree + 1)[:, None]
        factorials = np.array([[factorial(order)] for order in range(degree + 1)], dtype=np.float64)
        scale = np.diff(scaled)[:, None, None] ** orders / factorials
        signs = np.where(orders % 2, -1.0, 1.0)
        forward = np.concatenate([at_knots[:-1], last], axis=1) * scale
        backward = np.concatenate([at_knots[1:], last], axis=1) * scale * signs
        return cls(knots, forward, backward)

    def derivatives(self, times: FloatArray) -> FloatArray:
        """(4, T, n): value and first three derivatives at ``times`` (T,) between the first and the last knot."""
        piece = np.clip(np.searchsorted(self.knots, times, side="right") - 1, 0, self.knots.size - 2)
        length = np.diff(self.knots)[piece][:, None]
        after, before = times - self.knots[piece], self.knots[piece + 1] - times
        near_left = after <= before
        x = np.where(near_left, after, before)[:, None] / length
        series = np.where(near_left[:, None, None], self.forward[piece], self.backward[piece])
        direction = np.where(near_left, 1.0, -1.0)[:, None] / length
        return np.stack([_taylor_derivative(series, x, order) * direction**order for order in range(4)])


def _taylor_derivative(series: FloatArray, x: FloatArray, order: int) -> FloatArray:
    """(T, n) derivative of that order of the series (T, d, n) at x (T, 1), by Horner's rule."""
    value = np.zeros_like(series[:, 0])
    for power in range(series.shape[1] - 1, order - 1, -1):
        value = value * x + perm(power, order) * series[:, power]
    return value


MAX_WAYPOINTS = 100_000
MAX_SPACING_RATIO = 1000.0


_ENDS = ("start_velocity", "end_velocity", "start_acceleration", "end_acceleration")


def _at_rest() -> FloatArray:
    return frozen(0.0)


@dataclass(frozen=True, eq=False, repr=False)
class QuinticSpline(Trajectory):
    """Pieces of degree 5 through the waypoints: position to fourth derivative are continuous.

    Of all motions through the waypoints with these ends it has the least integral of squared jerk. It rests at both
    ends unless told otherwise. End values are one number for all joints or one each.

    Attributes:
        times: (m,) increasing, from 0, m >= 2 [s].
        waypoints: (m, n) [rad].
        start_velocity, end_velocity: (n,) [rad/s].
        start_acceleration, end_acceleration: (n,) [rad/s^2].
        duration: the last of the times [s].
    """

    times: FloatArray
    waypoints: FloatArray
    start_velocity: FloatArray = field(default_factory=_at_rest)
    end_velocity: FloatArray = field(default_factory=_at_rest)
    start_acceleration: FloatArray = field(default_factory=_at_rest)
    end_acceleration: FloatArray = field(default_factory=_at_rest)
    duration: float = field(init=False)
    _pieces: PolynomialPieces = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_waypoints(self)
        for name in _ENDS:
            object.__setattr__(self, name, _one_each(getattr(self, name), name, self.num_joints))
        start, end = (np.stack([getattr(self, name) for name in _ENDS[side::2]]) for side in (0, 1))
        object.__setattr__(self, "_pieces", PolynomialPieces.spline(self.times, self.waypoints, start, end))

    @property
    def num_joints(self) -> int:
        """n, the number of joints."""
        return int(self.waypoints.shape[1])

    def time_scaled(self, factor: float) -> Self:
        """The same path, ``factor`` times as slow."""
        slower = positive_number(factor, "factor")
        ends = {name: getattr(self, name) / slower ** (1 + place // 2) for place, name in enumerate(_ENDS)}
        return dataclasses.replace(self, times=self.times * slower, **ends)

    def _derivatives(self, times: FloatArray) -> FloatArray:
        return self._pieces.derivatives(times)


def _check_waypoints(spline: QuinticSpline) -> None:
    times = as_float_array(spline.times, "times")
    if times.ndim != 1 or not 2 <= times.size <= MAX_WAYPOINTS:
        raise InputError(
            argument="times", problem=f"must have shape (m,) with m between 2 and {MAX_WAYPOINTS}, got {times.shape}"
        )
    if times[0] != 0.0:
        raise InputError(argument="times", problem=f"must start at 0, got {times[0]!r}: subtract it from all of them")
    object.__setattr__(spline, "duration", positive_number(times[-1], "the last of the times", "s"))
    spacing = np.diff(times)
    if (spacing <= 0.0).any():
        index = int(np.argmax(spacing <= 0.0))
        raise InputError(
            argument="times",
            problem=f"must increase, got {times[index]!r} and then {times[index + 1]!r} at {index + 1}",
        )
    if spacing.max() > MAX_SPACING_RATIO * spacing.min():
        raise InputError(
            f"times between waypoints range from {spacing.min():g} s to {spacing.max():g} s; for the spline to be "
            f"accurate the longest may be {MAX_SPACING_RATIO:g} times the shortest: spread the waypoints more evenly"
        )
    waypoints = as_float_array(spline.waypoints, "waypoints")
    if waypoints.ndim != 2 or waypoints.shape[0] != times.size or waypoints.shape[1] == 0:
        raise InputError(
            argument="waypoints",
            problem=f"must have shape ({times.size}, n), a row for each time, got {waypoints.shape}",
        )
    object.__setattr__(spline, "times", frozen(times))
    object.__setattr__(spline, "waypoints", bounded(waypoints, "waypoints"))


def _one_each(value: ArrayLike, name: str, num_joints: int) -> FloatArray:
    array = as_float_array(value, name)
    return joint_vector(np.full(num_joints, array) if array.ndim == 0 else array, name, num_joints)

"""`PolynomialPieces`: motions made of polynomials between knots, and the smooth one through given points."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial, perm

import numpy as np

from iparam.arrays import FloatArray


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
        """The pieces of degree 2 p + 1 that join with 2 p continuous derivatives.

        Solved for in B-splines, whose equations stay well conditioned when the knots are spaced unevenly.

        Args:
            knots: (m,) [s].
            points: (m, n) values at the knots.
            start, end: (p, n) derivatives 1..p at the ends.
        """
        from scipy.interpolate import make_interp_spline  # slow to import, and few need it

        degree = 2 * start.shape[0] + 1
        unit = (knots[-1] - knots[0]) / (knots.size - 1)
        ends = [[(order, row * unit**order) for order, row in enumerate(side, 1)] for side in (start, end)]
        scaled = knots / unit
        solution = make_interp_spline(scaled, points, k=degree, bc_type=tuple(ends))
        at_knots = np.stack([solution(scaled, order) for order in range(degree)], axis=1)
        at_knots[:, 0] = points
        at_knots[[0, -1], 1 : start.shape[0] + 1] = [[row for _, row in side] for side in ends]
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

"""Splines against their definition solved in rational numbers, and what they promise at knots and ends."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import perm
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from iparam.errors import InputError
from iparam.trajectory import QuinticSpline, TrajectorySamples

ORDER = 2  # derivatives that are given at the ends


def stacked(motion: TrajectorySamples) -> Any:
    return np.array([motion.q, motion.dq, motion.ddq, motion.jerk])


def exact_spline(times: Any, points: Any, ends: Any) -> Any:
    """(m - 1, 2 p + 2) coefficients in (t - left), from all conditions on all coefficients, in rational numbers.

    Points are (m,) and ends (2, p), the derivatives 1..p at the start and at the end.
    """
    order, pieces = len(ends[0]), len(times) - 1
    size = 2 * order + 2
    lengths = [Fraction(float(b)) - Fraction(float(a)) for a, b in pairwise(times)]

    def derivative(piece: int, j: int, t: Fraction) -> list[Fraction]:
        row = [Fraction(0)] * (pieces * size)
        for power in range(j, size):
            row[piece * size + power] = perm(power, j) * t ** (power - j)
        return row

    rows = []
    for piece in range(pieces):
        rows.append([*derivative(piece, 0, Fraction(0)), Fraction(float(points[piece]))])
        rows.append([*derivative(piece, 0, lengths[piece]), Fraction(float(points[piece + 1]))])
        for j in range(1, 2 * order + 1) if piece else ():
            left, right = derivative(piece - 1, j, lengths[piece - 1]), derivative(piece, j, Fraction(0))
            rows.append([*(x - y for x, y in zip(left, right, strict=True)), Fraction(0)])
    for j in range(1, order + 1):
        rows.append([*derivative(0, j, Fraction(0)), Fraction(float(ends[0][j - 1]))])
        rows.append([*derivative(pieces - 1, j, lengths[-1]), Fraction(float(ends[1][j - 1]))])
    for column in range(len(rows)):
        pivot = next(i for i in range(column, len(rows)) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = [(i, x / rows[column][column]) for i, x in enumerate(rows[column]) if x]
        for i in range(len(rows)):
            factor = rows[i][column]
            if i != column and factor:
                for k, x in head:
                    rows[i][k] -= factor * x
        for k, x in head:
            rows[column][k] = x
    return np.array([row[-1] for row in rows], dtype=object).reshape(pieces, size)


def exact_values(times: Any, series: Any, at: Any) -> Any:
    """(4, T): the spline and three derivatives, rounded once."""
    values = np.empty((4, len(at)))
    for i, t in enumerate(at):
        piece = min(int(np.searchsorted(times, t, side="right")) - 1, len(series) - 1)
        x = Fraction(float(t)) - Fraction(float(times[piece]))
        for j in range(4):
            values[j, i] = float(sum(perm(k, j) * c * x ** (k - j) for k, c in enumerate(series[piece]) if k >= j))
    return values


@pytest.mark.parametrize(
    "spacing",
    [[2.0], [1.0, 1.0], [0.3, 1.7, 0.9], [3.0, 3.0, 0.125, 3.0], [1.0, 1000.0, 1.0, 30.0], [1e-3, 2e-3], [1e4, 3e4]],
)
def test_against_the_definition_in_rational_numbers(spacing: list[float]) -> None:
    rng = np.random.default_rng(len(spacing))
    times = np.concatenate([[0.0], np.cumsum(spacing)])
    points = rng.normal(size=times.size)
    ends = rng.normal(size=(2, ORDER)) / np.mean(spacing) ** np.arange(1, ORDER + 1)
    series = exact_spline(times, points, ends)
    at = np.linspace(0.0, times[-1], 41)
    mine = stacked(QuinticSpline(times, points[:, None], *ends.T.ravel()).evaluate(at))[..., 0]
    uneven = max(spacing) / min(spacing)
    for values, expected in zip(mine, exact_values(times, series, at), strict=True):
        assert_allclose(values, expected, rtol=0, atol=max(1e-12, 1e-14 * uneven) * np.abs(expected).max())


def test_waypoints_and_ends_are_met_exactly() -> None:
    rng = np.random.default_rng(8)
    times = np.array([0.0, 0.3, 1.7, 2.1])
    points = rng.normal(size=(4, 6))
    spline = QuinticSpline(times, points)
    motion = stacked(spline.evaluate(times))
    assert_array_equal(motion[0], points)
    assert_array_equal(motion[1 : ORDER + 1, [0, -1]], np.zeros((ORDER, 2, 6)))
    assert spline.duration == 2.1


def test_a_polynomial_of_its_degree_comes_back() -> None:
    polynomial = np.polynomial.Polynomial(np.random.default_rng(2).normal(size=2 * ORDER + 2))
    times = np.array([0.0, 0.4, 0.9, 1.0, 1.6])
    ends = [polynomial.deriv(j)(t) for j in range(1, ORDER + 1) for t in (0.0, 1.6)]
    spline = QuinticSpline(times, polynomial(times)[:, None], *ends)
    at = np.linspace(0.0, 1.6, 200)
    for j, values in enumerate(stacked(spline.evaluate(at))):
        expected = polynomial.deriv(j)(at) if j else polynomial(at)
        assert_allclose(values[:, 0], expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_rest_to_rest_is_the_known_polynomial() -> None:
    r = np.linspace(0.0, 1.0, 50)
    quintic = QuinticSpline([0.0, 2.0], [[1.0], [3.0]]).evaluate(2 * r)
    assert_allclose(quintic.q[:, 0], 1 + 2 * (10 * r**3 - 15 * r**4 + 6 * r**5), atol=1e-14)


@pytest.mark.parametrize(
    ("times", "points", "message"),
    [
        ([0.0], [[1.0]], "m between 2 and"),
        ([[0.0, 1.0]], [[1.0], [2.0]], "m between 2 and"),
        ([0.5, 1.0], [[1.0], [2.0]], "times must start at 0, got"),
        ([0.0, 1.0, 1.0], [[1.0], [2.0], [3.0]], "times must increase"),
        ([0.0, 2.0, 1.0], [[1.0], [2.0], [3.0]], "times must increase"),
        ([0.0, 5e-324, 1.0], [[1.0], [2.0], [3.0]], "spread the waypoints"),
        ([0.0, 1e300], [[1.0], [2.0]], "last of the times must be between"),
        ([0.0, 1.0], [[1.0]], r"waypoints must have shape \(2, n\)"),
        ([0.0, 1.0], [1.0, 2.0], r"waypoints must have shape \(2, n\)"),
        ([0.0, 1.0], [[], []], r"waypoints must have shape \(2, n\)"),
        ([0.0, 1.0], [[1.0], [np.nan]], "waypoints must be finite"),
        ([0.0, 1.0], [[1.0], [1e308]], "waypoints must stay within"),
        ([0.0, np.inf], [[1.0], [2.0]], "times must be finite"),
        ("ab", [[1.0], [2.0]], "times must hold real numbers"),
    ],
)
def test_bad_waypoints(times: Any, points: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        QuinticSpline(times, points)


def test_bad_ends() -> None:
    with pytest.raises(InputError, match=r"end_velocity must have shape \(1,\), got \(2,\)"):
        QuinticSpline([0.0, 1.0], [[0.0], [1.0]], end_velocity=[0.0, 1.0])
    assert_array_equal(QuinticSpline([0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]], end_velocity=2.0).end_velocity, [2.0, 2.0])

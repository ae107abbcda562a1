"""One trajectory of every family, and derivatives that owe nothing to the library."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial
from typing import Any

import numpy as np
import pytest

from iparam.trajectory import (
    FourierTrajectory,
    IntegratedFourierTrajectory,
    JerkLimitedTrajectory,
    QuinticSpline,
    Trajectory,
    WindowedFourierTrajectory,
)

FAMILIES = (
    "fourier",
    "integrated_fourier",
    "windowed_fourier",
    "quintic_spline",
    "jerk_limited",
)


def build(name: str) -> Trajectory:
    rng = np.random.default_rng(FAMILIES.index(name))
    q0 = rng.uniform(-2.0, 2.0, 6)
    a, b = rng.uniform(-0.3, 0.3, (2, 6, 5))
    times = np.array([0.0, 0.7, 1.1, 2.6, 3.0])
    waypoints, ends = rng.normal(size=(5, 6)), rng.normal(size=(4, 6))
    return {
        "fourier": lambda: FourierTrajectory(q0, a, b, 0.23, 7.3),
        "integrated_fourier": lambda: IntegratedFourierTrajectory.with_initial_conditions(q0, a, b, 7.3),
        "windowed_fourier": lambda: WindowedFourierTrajectory(q0, a, b, 0.23, 7.3),
        "quintic_spline": lambda: QuinticSpline(times, waypoints, *ends),
        "jerk_limited": lambda: JerkLimitedTrajectory(FourierTrajectory(q0, a, b, 0.23, 7.3), 3.0),
    }[name]()


@pytest.fixture(params=FAMILIES)
def any_trajectory(request: pytest.FixtureRequest) -> Trajectory:
    """Each family in turn, with six joints."""
    return build(request.param)


@pytest.fixture
def make_trajectory() -> Callable[[str], Trajectory]:
    """A function from the name of a family to a trajectory of it."""
    return build


@pytest.fixture
def cauchy_derivatives() -> Callable[..., Any]:
    """Derivatives 0..3 of an analytic function at real times, by Cauchy's integral on a circle about each.

    The trapezoidal rule converges geometrically on a circle, so this is exact to rounding for entire functions.
    """

    def derivatives(function: Callable[[Any], Any], times: Any, radius: float = 0.5, points: int = 64) -> Any:
        circle = np.exp(2j * np.pi * np.arange(points) / points)
        values = np.array([function(np.asarray(times) + radius * z) for z in circle])
        return np.array(
            [
                factorial(m) / radius**m * np.tensordot(circle ** (-m), values, axes=(0, 0)).real / points
                for m in range(4)
            ]
        )

    return derivatives

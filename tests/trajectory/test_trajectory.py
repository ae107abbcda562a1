"""What every family of trajectories keeps: shapes, bounds, one clock, derivatives that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from iparam import trajectory as public
from iparam.errors import InputError
from iparam.trajectory import FourierTrajectory, Trajectory, TrajectorySamples


def stacked(motion: TrajectorySamples) -> Any:
    return np.array([motion.q, motion.dq, motion.ddq, motion.jerk])


def test_every_public_name_is_there() -> None:
    assert sorted(public.__all__) == list(public.__all__)
    for name in public.__all__:
        assert getattr(public, name).__name__ == name


def test_shapes(any_trajectory: Trajectory) -> None:
    motion = any_trajectory.evaluate([0.0, 0.5, 0.25])
    assert any_trajectory.num_joints == motion.num_joints == 6
    assert motion.num_samples == 3
    assert_array_equal(motion.time, [0.0, 0.5, 0.25])
    assert stacked(motion).shape == (4, 3, 6)
    assert stacked(any_trajectory.evaluate(0.5)).shape == (4, 1, 6)
    assert_allclose(any_trajectory.evaluate(0.5).q[0], motion.q[1], rtol=0, atol=1e-14)
    assert stacked(any_trajectory.evaluate([])).shape == (4, 0, 6)
    with pytest.raises(ValueError, match="read-only"):
        motion.q[0, 0] = 1.0


def test_each_derivative_is_that_of_the_one_before(any_trajectory: Trajectory) -> None:
    """Gauss's rule with ten points over short spans: exact for polynomials to degree 19."""
    nodes, weights = np.polynomial.legendre.leggauss(10)
    edges = np.linspace(0.0, any_trajectory.duration, 101)
    half = (edges[1] - edges[0]) / 2
    if isinstance(any_trajectory, public.QuinticSpline):
        edges = np.unique(np.concatenate([edges, any_trajectory.times]))
    if isinstance(any_trajectory, public.JerkLimitedTrajectory):
        join = any_trajectory.blend_time
        edges = np.unique(np.concatenate([edges, [join, any_trajectory.duration - join]]))
    half = np.diff(edges)[:, None] / 2
    inside = stacked(any_trajectory.evaluate(((edges[:-1, None] + half) + half * nodes).ravel()))
    integrals = np.einsum("dtpj,tp->dtj", inside.reshape(4, edges.size - 1, 10, 6), half * weights)
    at_edges = stacked(any_trajectory.evaluate(edges))
    assert_allclose(np.diff(at_edges, axis=1)[:3], integrals[1:], rtol=0, atol=1e-12 * np.abs(at_edges).max())


def test_finite_differences_agree(any_trajectory: Trajectory) -> None:
    """Sixth-order central differences with h = 0.01 s; the functions vary over about a second."""
    h = 0.01
    times = np.linspace(0.05, any_trajectory.duration - 0.05, 37)
    if isinstance(any_trajectory, public.JerkLimitedTrajectory):
        times = times[np.abs(times[:, None] - [3.0, 7.3 - 3.0]).min(axis=1) > 0.04]
    if isinstance(any_trajectory, public.QuinticSpline):
        times = times[np.abs(times[:, None] - any_trajectory.times).min(axis=1) > 0.04]
    near = [stacked(any_trajectory.evaluate(times + i * h)) for i in (-3, -2, -1, 1, 2, 3)]
    difference = sum(c * x for c, x in zip((-1, 9, -45, 45, -9, 1), near, strict=True)) / (60 * h)
    exact = stacked(any_trajectory.evaluate(times))
    for order in range(3):
        assert_allclose(difference[order], exact[order + 1], rtol=0, atol=2e-8 * np.abs(exact[order + 1]).max())


@pytest.mark.parametrize("fps", [100.0, 99.0, 125, 1e3 / 3, 0.5])
def test_samples_are_on_one_clock(any_trajectory: Trajectory, fps: float) -> None:
    motion = any_trajectory.sample(fps)
    expected = [i / fps for i in range(motion.num_samples)]
    assert motion.time.tolist() == expected
    assert motion.time[-1] <= any_trajectory.duration * (1 + 1e-12) < motion.num_samples / fps
    assert_array_equal(stacked(motion), stacked(any_trajectory.evaluate(np.minimum(expected, any_trajectory.duration))))


@pytest.mark.parametrize(("duration", "fps", "samples"), [(10.0, 100.0, 1001), (0.3, 10.0, 4), (0.7, 10.0, 8)])
def test_the_last_sample_is_the_end_when_it_falls_on_it(duration: float, fps: float, samples: int) -> None:
    motion = FourierTrajectory([0.0], [[1.0]], [[0.0]], 1.0, duration).sample(fps)
    assert motion.num_samples == samples
    assert_allclose(motion.time[-1], duration, rtol=1e-15)


def test_a_clock_that_does_not_hit_the_end_stops_before_it() -> None:
    motion = FourierTrajectory([0.0], [[1.0]], [[0.0]], 1.0, 1.05).sample(10.0)
    assert motion.time.tolist() == [i / 10.0 for i in range(11)]


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.7])
def test_time_scaling(any_trajectory: Trajectory, factor: float) -> None:
    slower = any_trajectory.time_scaled(factor)
    assert type(slower) is type(any_trajectory)
    assert_allclose(slower.duration, factor * any_trajectory.duration, rtol=1e-15)
    times = np.linspace(0.0, any_trajectory.duration, 101)
    fast, slow = (
        stacked(any_trajectory.evaluate(times)),
        stacked(slower.evaluate(np.minimum(times * factor, slower.duration))),
    )
    for order in range(4):
        assert_allclose(slow[order] * factor**order, fast[order], rtol=0, atol=1e-11 * np.abs(fast[order]).max())


def test_times_outside_are_refused(any_trajectory: Trajectory) -> None:
    end = any_trajectory.duration
    for wrong in (-1e-6, end + 1e-6, [0.0, 1.0, 2 * end]):
        with pytest.raises(InputError, match="between 0 and the duration"):
            any_trajectory.evaluate(wrong)
    assert_array_equal(
        stacked(any_trajectory.evaluate([-1e-13, end * (1 + 5e-13)])), stacked(any_trajectory.evaluate([0.0, end]))
    )


@pytest.mark.parametrize("wrong", [[[0.0]], [np.nan], ["a"], None, [0j], [[0.0], [0.0, 1.0]]])
def test_times_that_are_no_list_of_numbers_are_refused(any_trajectory: Trajectory, wrong: Any) -> None:
    with pytest.raises(InputError, match="times"):
        any_trajectory.evaluate(wrong)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, np.inf, "fast", None, [1.0, 2.0], 1e-300, 1e300])
def test_bad_rates_and_factors_are_refused(any_trajectory: Trajectory, wrong: Any) -> None:
    with pytest.raises(InputError, match="fps"):
        any_trajectory.sample(wrong)
    with pytest.raises(InputError, match="factor"):
        any_trajectory.time_scaled(wrong)


def test_too_many_samples_are_refused() -> None:
    with pytest.raises(InputError, match="more than 3600000; evaluate"):
        FourierTrajectory([0.0], [[1.0]], [[0.0]], 1.0, 100.0).sample(1e6)


def test_joint_motion_checks_itself() -> None:
    good = np.zeros((3, 2))
    with pytest.raises(InputError, match="ddq must have shape"):
        TrajectorySamples(np.arange(3.0), good, good, good[:2], good)
    with pytest.raises(InputError, match="jerk must have shape"):
        TrajectorySamples(np.arange(3.0), good, good, good, np.zeros((3, 1)))
    with pytest.raises(InputError, match="q must have shape"):
        TrajectorySamples(np.arange(3.0), np.zeros(3), good, good, good)
    with pytest.raises(InputError, match="time must have shape"):
        TrajectorySamples(np.zeros((3, 1)), good, good, good, good)
    with pytest.raises(InputError, match="dq must be finite"):
        TrajectorySamples(np.arange(3.0), good, np.full((3, 2), np.nan), good, good)

"""Blends: rest at both ends, four continuous quantities at the joins, and the inner trajectory untouched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from iparam.errors import InputError
from iparam.trajectory import BlendedTrajectory, FourierTrajectory, TrajectorySamples, WindowedFourierTrajectory

RNG = np.random.default_rng(11)
INNER = FourierTrajectory(RNG.uniform(-2, 2, 6), *RNG.uniform(-0.3, 0.3, (2, 6, 5)), 0.2, 6.1)


def stacked(motion: TrajectorySamples) -> Any:
    return np.array([motion.q, motion.dq, motion.ddq, motion.jerk])


@pytest.mark.parametrize("blend", [0.1, 0.5, 2.0])
def test_rest_at_both_ends_is_exact(blend: float) -> None:
    blended = BlendedTrajectory(INNER, blend)
    assert_allclose(blended.duration, 6.1 + 2 * blend, rtol=1e-15)
    ends = stacked(blended.evaluate([0.0, blended.duration]))
    assert_array_equal(ends[0], [blended.start_pose, blended.end_pose])
    assert_array_equal(ends[1:], np.zeros((3, 2, 6)))


@pytest.mark.parametrize("blend", [0.1, 0.5, 2.0])
def test_everything_to_the_jerk_is_continuous_at_the_joins(blend: float) -> None:
    blended = BlendedTrajectory(INNER, blend)
    for join in (blend, blended.duration - blend):
        step = 1e-10
        before, after = stacked(blended.evaluate([join - step, join + step])).transpose(1, 0, 2)
        snap = 3e4 / blend  # bounds the change of the jerk over the step
        assert_allclose(after, before, rtol=0, atol=2 * step * snap)


def test_between_the_joins_it_is_the_inner_trajectory() -> None:
    blended = BlendedTrajectory(INNER, 0.75)
    times = np.linspace(0.0, INNER.duration, 100)
    assert_allclose(stacked(blended.evaluate(times + 0.75)), stacked(INNER.evaluate(times)), rtol=0, atol=1e-12)


def test_the_leads_are_the_polynomials_of_degree_six_that_meet_the_conditions() -> None:
    """Seven conditions solved as a linear system in monomials of t, for either end."""
    blend = 0.8
    blended = BlendedTrajectory(INNER, blend)
    powers = np.arange(7)

    def row(order: int, t: float) -> Any:
        return [
            np.prod(np.arange(p - order + 1, p + 1)) * t ** max(p - order, 0) if p >= order else 0.0 for p in powers
        ]

    for at_end in (False, True):
        state = stacked(INNER.evaluate(INNER.duration if at_end else 0.0))[:, 0]
        join, rest = (0.0, blend) if at_end else (blend, 0.0)
        matrix = [row(j, join) for j in range(4)] + [row(j, rest) for j in (1, 2, 3)]
        series = np.linalg.solve(matrix, np.concatenate([state, np.zeros((3, 6))]))
        t = np.linspace(0.0, blend, 40)
        expected = np.array([[row(j, x) @ series for x in t] for j in range(4)])
        start = blended.duration - blend if at_end else 0.0
        motion = stacked(blended.evaluate(np.minimum(start + t, blended.duration)))
        for j in range(4):
            assert_allclose(motion[j], expected[j], rtol=0, atol=1e-11 * max(1.0, np.abs(expected[j]).max()))


def test_a_trajectory_at_rest_is_only_led_in_by_standing_still() -> None:
    windowed = WindowedFourierTrajectory(INNER.q0, INNER.a, INNER.b, 0.2, 6.1)
    blended = BlendedTrajectory(windowed, 1.0)
    assert_array_equal(blended.evaluate(np.linspace(0, 1, 20)).q, np.tile(INNER.q0, (20, 1)))


def test_a_blend_can_be_blended() -> None:
    twice = BlendedTrajectory(BlendedTrajectory(INNER, 0.5), 0.25)
    assert_allclose(twice.duration, 7.6)
    assert_allclose(twice.evaluate(3.0).q, INNER.evaluate(2.25).q, atol=1e-13)


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, "long", None])
def test_bad_blend_times(wrong: Any) -> None:
    with pytest.raises(InputError, match="blend_time"):
        BlendedTrajectory(INNER, wrong)


def test_only_trajectories_can_be_blended() -> None:
    with pytest.raises(InputError, match="inner must be a Trajectory, got ndarray"):
        BlendedTrajectory(np.zeros((10, 6)), 1.0)  # type: ignore[arg-type]

"""Jerk-limited starts and ends, for samples and for trajectories: rest at the ends, no step anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from iparam.errors import InputError
from iparam.trajectory import (
    FourierTrajectory,
    JerkLimitedTrajectory,
    apply_jerk_limit,
    load_trajectory,
    save_trajectory,
)

RNG = np.random.default_rng(11)
INNER = FourierTrajectory(RNG.uniform(-2, 2, 6), *RNG.uniform(-0.3, 0.3, (2, 6, 5)), 0.2, 6.0)
DT = 1e-3
TIMES = np.arange(6001) * DT
SAMPLES = INNER.evaluate(TIMES).q


def differences(samples: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    return np.diff(samples, order, axis=0) / DT**order


@pytest.mark.parametrize("blend", [0.25, 0.5, 3.0])
def test_samples_start_and_end_at_rest_in_their_own_poses(blend: float) -> None:
    limited = apply_jerk_limit(SAMPLES, blend, DT)
    assert limited.shape == SAMPLES.shape
    assert_array_equal(limited[[0, -1]], SAMPLES[[0, -1]])
    inside = (blend <= TIMES) & (TIMES[-1] - blend >= TIMES)
    assert_array_equal(limited[inside], SAMPLES[inside])
    # One-sided differences: q - q(0) grows as t^4, so that these are what is left of t^3, t^2 and t after a step.
    for order, power in ((1, 3), (2, 2), (3, 1)):
        moved = np.abs(differences(limited, order)[[0, -1]]).max()
        before = np.abs(differences(SAMPLES, order)).max()
        assert moved < 1000 * before * (order * DT / blend) ** power


@pytest.mark.parametrize("blend", [0.25, 0.5, 3.0])
def test_no_step_in_position_velocity_and_acceleration(blend: float) -> None:
    """With samples at half the distance, the largest change from one to the next halves, also that of the jerk."""
    fine = INNER.evaluate(np.arange(12001) * DT / 2).q
    coarse, halved = apply_jerk_limit(SAMPLES, blend, DT), apply_jerk_limit(fine, blend, DT / 2)
    for order in range(4):
        step = np.abs(np.diff(differences(coarse, order), axis=0)).max()
        half = np.abs(np.diff(np.diff(halved, order, axis=0) / (DT / 2) ** order, axis=0)).max()
        assert 0.4 < half / step < 0.6, order
    plain = np.abs(np.diff(np.vstack([SAMPLES[:1], SAMPLES[:1], SAMPLES]), 1, axis=0) / DT)
    assert plain[1] @ np.ones(6) == 0.0 < plain[2].max()  # the same motion from rest, not blended, has a step


def test_every_joint_stays_between_its_pose_and_its_motion() -> None:
    limited = apply_jerk_limit(SAMPLES, 0.5, DT)
    start = TIMES < 0.5
    low, high = np.minimum(SAMPLES[start], SAMPLES[0]), np.maximum(SAMPLES[start], SAMPLES[0])
    assert (limited[start] >= low - 1e-15).all()
    assert (limited[start] <= high + 1e-15).all()


def test_noise_of_samples_is_not_amplified() -> None:
    noise = 1e-4 * np.random.default_rng(0).standard_normal(SAMPLES.shape)
    change = apply_jerk_limit(SAMPLES + noise, 0.5, DT) - apply_jerk_limit(SAMPLES, 0.5, DT)
    assert np.abs(change).max() <= 2 * np.abs(noise).max()


@pytest.mark.parametrize("blend", [0.25, 1.1, 3.0])
def test_the_trajectory_is_that_of_the_samples_with_exact_derivatives(blend: float) -> None:
    limited = JerkLimitedTrajectory(INNER, blend)
    assert limited.duration == INNER.duration
    motion = limited.evaluate(TIMES)
    assert_allclose(motion.q, apply_jerk_limit(SAMPLES, blend, DT), rtol=0, atol=1e-13)
    middles = np.random.default_rng(0).uniform(0.01, 5.99, 300)
    before, here, after = (limited.evaluate(middles + step) for step in (-1e-5, 0.0, 1e-5))
    for lower, higher in (("q", "dq"), ("dq", "ddq"), ("ddq", "jerk")):
        slope, exact = (getattr(after, lower) - getattr(before, lower)) / 2e-5, getattr(here, higher)
        assert_allclose(slope, exact, rtol=0, atol=1e-6 * np.abs(exact).max())
    ends = limited.evaluate([0.0, limited.duration])
    assert_array_equal(ends.q, INNER.evaluate([0.0, INNER.duration]).q)
    for values in (ends.dq, ends.ddq, ends.jerk):
        assert_allclose(values, 0.0, rtol=0, atol=1e-12)


def test_it_is_stored_and_slowed_down(tmp_path: Path) -> None:
    limited = JerkLimitedTrajectory(INNER, 0.5)
    save_trajectory(tmp_path / "t.json", limited, robot="ur5e", fps=100.0)
    again = load_trajectory(tmp_path / "t.json").trajectory
    assert_array_equal(again.evaluate(TIMES).jerk, limited.evaluate(TIMES).jerk)
    slow = limited.time_scaled(2.0)
    assert_allclose(slow.evaluate(2 * TIMES).ddq, limited.evaluate(TIMES).ddq / 4, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("samples", "blend", "dt"), [
    (SAMPLES, 3.1, DT), (SAMPLES, 0.0, DT), (SAMPLES, -1.0, DT), (SAMPLES, 0.5, 0.0), (SAMPLES[:, 0], 0.5, DT),
    (SAMPLES[:1], 0.5, DT), (SAMPLES * np.nan, 0.5, DT), (SAMPLES, None, DT),
])  # fmt: skip
def test_what_cannot_be_blended(samples: Any, blend: Any, dt: Any) -> None:
    with pytest.raises(InputError):
        apply_jerk_limit(samples, blend, dt)


def test_only_trajectories_and_no_longer_than_half_of_them() -> None:
    with pytest.raises(InputError, match=r"at most half of the motion of 6 s, got 3\.5 s"):
        JerkLimitedTrajectory(INNER, 3.5)
    with pytest.raises(InputError, match="inner must be a Trajectory, got ndarray"):
        JerkLimitedTrajectory(SAMPLES, 1.0)  # type: ignore[arg-type]

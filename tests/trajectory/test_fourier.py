"""The Fourier families against the formulas as they are written down, and their bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from iparam.errors import InputError
from iparam.trajectory import (
    FourierTrajectory,
    IntegratedFourierTrajectory,
    TrajectorySamples,
    WindowedFourierTrajectory,
)

RNG = np.random.default_rng(3)
Q0, Q1 = RNG.uniform(-2.0, 2.0, (2, 6))
A, B = RNG.uniform(-0.3, 0.3, (2, 6, 5))
T = 10.0
F = 0.1
TIMES = np.linspace(0.0, T, 81)


def stacked(motion: TrajectorySamples) -> Any:
    return np.array([motion.q, motion.dq, motion.ddq, motion.jerk])


def series(t: Any, frequency: float = F) -> Any:
    """(T, n) as in the formula, harmonic by harmonic, for complex times too."""
    total = np.zeros((np.size(t), 6), dtype=complex)
    for k in range(1, 6):
        phase = 2 * np.pi * k * frequency * np.asarray(t)[:, None]
        total += A[:, k - 1] * np.sin(phase) + B[:, k - 1] * np.cos(phase)
    return total


def shape(t: Any) -> Any:
    r = np.asarray(t)[:, None] / T
    return 256 * r**4 * (1 - r) ** 4


def test_fourier(cauchy_derivatives: Callable[..., Any]) -> None:
    motion = stacked(FourierTrajectory(Q0, A, B, F, T).evaluate(TIMES))
    assert_allclose(motion, cauchy_derivatives(lambda t: Q0 + series(t), TIMES), rtol=0, atol=1e-12)


def test_windowed_fourier(cauchy_derivatives: Callable[..., Any]) -> None:
    motion = stacked(WindowedFourierTrajectory(Q0, A, B, F, T).evaluate(TIMES))
    assert_allclose(motion, cauchy_derivatives(lambda t: Q0 + shape(t) * series(t), TIMES), rtol=0, atol=1e-12)


def test_integrated_fourier_has_the_written_velocity_and_acceleration() -> None:
    motion = IntegratedFourierTrajectory(Q0, A, B, T).evaluate(TIMES)
    w = 2 * np.pi / T
    k = np.arange(1, 6)
    phase = w * k * TIMES[:, None, None]
    assert_allclose(motion.q, Q0 + (A / (w * k) * np.sin(phase) - B / (w * k) * np.cos(phase)).sum(-1), atol=1e-13)
    assert_allclose(motion.dq, (A * np.cos(phase) + B * np.sin(phase)).sum(-1), atol=1e-13)
    assert_allclose(motion.ddq, (w * k * (B * np.cos(phase) - A * np.sin(phase))).sum(-1), atol=1e-13)
    assert_allclose(motion.jerk, -((w * k) ** 2 * (A * np.cos(phase) + B * np.sin(phase))).sum(-1), atol=1e-13)


@pytest.mark.parametrize("family", [FourierTrajectory, WindowedFourierTrajectory])
def test_the_basis_gives_the_motion(family: Any) -> None:
    basis = family.basis(TIMES, 5, F, T)
    assert basis.shape == (4, TIMES.size, 10)
    motion = stacked(family(Q0, A, B, F, T).evaluate(TIMES))
    for joint in range(6):
        expected = basis @ np.concatenate([A[joint], B[joint]])
        expected[0] += Q0[joint]
        assert_allclose(motion[:, :, joint], expected, rtol=0, atol=1e-14)
    for column in range(10):
        unit = np.zeros((1, 10))
        unit[0, column] = 1.0
        single = stacked(family([0.0], unit[:, :5], unit[:, 5:], F, T).evaluate(TIMES))[..., 0]
        assert_allclose(basis[..., column], single, rtol=0, atol=1e-15)


@pytest.mark.parametrize("duration", [10.0, 7.3, 0.1, 1 / 3, 123.456])
def test_the_window_ends_in_exact_rest(duration: float) -> None:
    ends = stacked(WindowedFourierTrajectory(Q0, A, B, 0.37, duration).evaluate([0.0, duration]))
    assert_array_equal(ends[0], [Q0, Q0])
    assert_array_equal(ends[1:], np.zeros((3, 2, 6)))


def test_the_window_is_one_in_the_middle() -> None:
    plain, windowed = (kind(Q0, A, B, F, T).evaluate(T / 2) for kind in (FourierTrajectory, WindowedFourierTrajectory))
    assert_allclose(windowed.q, plain.q, atol=1e-15)
    assert_allclose(windowed.dq, plain.dq, atol=1e-15)


def test_a_random_motion_rests_at_both_ends_and_can_be_repeated() -> None:
    first = IntegratedFourierTrajectory.random(Q0, 10.0, seed=5)
    assert first.num_harmonics == 5
    assert_array_equal(first.a, IntegratedFourierTrajectory.random(Q0, 10.0, seed=np.random.default_rng(5)).a)
    ends = first.evaluate([0.0, 10.0])
    assert_allclose(ends.q, [Q0, Q0], atol=1e-14)
    assert_allclose(ends.dq, 0.0, atol=1e-14)
    assert_allclose(ends.ddq, 0.0, atol=1e-14)
    assert np.abs(first.evaluate(np.linspace(0, 10, 50)).dq).max() > 0.05


def test_the_projection_is_the_smallest_change() -> None:
    made = IntegratedFourierTrajectory.with_initial_conditions(Q0, A, B, T)
    k = np.arange(1.0, 6.0)
    for given_, made_, conditions in ((A, made.a, np.ones((1, 5))), (B, made.b, np.array([1 / k, k]))):
        free = np.linalg.svd(conditions)[2][len(conditions) :].T  # every coefficient vector that meets the conditions
        nearest = free @ np.linalg.lstsq(free, given_.T, rcond=None)[0]
        assert_allclose(made_, nearest.T, rtol=0, atol=1e-14)
    again = IntegratedFourierTrajectory.with_initial_conditions(Q0, made.a, made.b, T)
    assert_allclose(again.b, made.b, rtol=0, atol=1e-16)


def test_harmonics_that_a_start_from_rest_needs() -> None:
    with pytest.raises(InputError, match="num_harmonics must be at least 2"):
        IntegratedFourierTrajectory.with_initial_conditions(Q0, A[:, :1], B[:, :1], T)
    with pytest.raises(InputError, match="num_harmonics must be at least 2"):
        IntegratedFourierTrajectory.random(Q0, T, num_harmonics=1, seed=0)
    two = IntegratedFourierTrajectory.random(Q0, T, num_harmonics=2, seed=0)
    assert_array_equal(two.b, np.zeros((6, 2)))
    assert np.abs(two.a).max() > 0.01
    three = IntegratedFourierTrajectory.random(Q0, T, num_harmonics=3, seed=0)
    assert np.abs(three.b).max() > 0.001


@pytest.mark.parametrize("kind", [FourierTrajectory, WindowedFourierTrajectory])
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"a": A[:5]}, r"a must have shape \(6, K\).*got \(5, 5\)"),
        ({"a": A[:, :4]}, r"a and b must have the same shape, got \(6, 4\) and \(6, 5\)"),
        ({"b": A[:, :0]}, "b must have shape"),
        ({"b": [[np.nan] * 5] * 6}, "b must be finite"),
        ({"b": [["x"] * 5] * 6}, "b must hold real numbers"),
        ({"b": np.full((6, 5), 1e300)}, "b must stay within"),
        ({"base_freq": 0.0}, "base_freq must be between 1e-09 and 1e[+]09 Hz, got 0"),
        ({"base_freq": np.inf}, "base_freq must be finite"),
        ({"duration": -1.0}, "duration must be between"),
        ({"duration": [1.0]}, "duration must be one number"),
        ({"duration": None}, "duration"),
    ],
)
def test_bad_input(kind: Any, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        kind(**({"q0": Q0, "a": A, "b": B, "base_freq": F, "duration": T} | changed))


def test_bad_poses() -> None:
    for wrong in (1.0, [], [[0.0] * 6]):
        with pytest.raises(InputError, match="q0 must have shape"):
            WindowedFourierTrajectory(wrong, A, B, F, T)
        with pytest.raises(InputError, match="q0 must have shape"):
            IntegratedFourierTrajectory(wrong, A, B, T)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": "x"}, "seed"),
        ({"seed": -1}, "seed"),
        ({"amplitude": 0.0}, "amplitude"),
        ({"num_harmonics": 2.5}, "num_harmonics must be a whole number"),
        ({"num_harmonics": 10**9}, "num_harmonics must be between"),
    ],
)
def test_bad_random_requests(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        IntegratedFourierTrajectory.random(Q0, T, **({"seed": 1} | changed))


@pytest.mark.parametrize("family", [FourierTrajectory, WindowedFourierTrajectory])
def test_bad_basis_requests(family: Any) -> None:
    with pytest.raises(InputError, match="num_harmonics"):
        family.basis(TIMES, 0, F, T)
    with pytest.raises(InputError, match="base_freq"):
        family.basis(TIMES, 5, -F, T)
    with pytest.raises(InputError, match="between 0 and the duration, 5"):
        family.basis(TIMES, 5, F, 5.0)

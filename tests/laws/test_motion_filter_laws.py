"""The live filter of joint angles for an hour: what it says of the motion is as near the truth as it says itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are

from iparam.errors import InputError
from iparam.motion import JointKalmanFilter, JointProcess

RATE, BANDWIDTH, NOISE = 500.0, 15.0, 5e-5
JITTERS = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
"""Deviations of the stamps, uniform and at most half of this [s]."""

SWING, SPEEDS = 0.4, np.array([0.0, 0.0, 1.0, 2.0, 4.0, 6.0])
"""Amplitude of the joints [rad], and their angular frequencies [rad/s]: two of them rest."""

FARTHEST = 7.0
"""Standard deviations: of the 3e7 values of an hour, one beyond them in 10,000 hours."""


def stamps(seconds: float, jitter: float, random: np.random.Generator) -> np.ndarray:
    """Whole nanoseconds; a drop-out of 10 ms to 0.9 s every four seconds or so, and double stamps."""
    nominal = np.arange(round(seconds * RATE)) / RATE
    at = np.round(1e9 * (nominal + jitter * random.uniform(-0.5, 0.5, nominal.size)))
    lost = np.zeros(nominal.size, bool)
    for start in random.uniform(1.0, seconds, round(seconds / 4.0)):
        lost |= (nominal > start) & (nominal < start + 0.01 * 90.0 ** random.uniform())
    doubled = random.random(nominal.size) < 1e-3
    at[1:] = np.where(doubled[1:], at[:-1], at[1:])
    return np.asarray(at[~lost])


def truth(time: np.ndarray) -> np.ndarray:
    """(T, 3, n) angles, velocities and accelerations."""
    angle = SPEEDS * time[:, None]
    return SWING * np.stack([np.sin(angle), SPEEDS * np.cos(angle), -(SPEEDS**2) * np.sin(angle)], axis=1)


def worst(order: int, at: np.ndarray, seed: int) -> float:
    """The largest error of (q, dq, ddq) of any sample, in the standard deviations that the filter states for it."""
    running = JointKalmanFilter([JointProcess(order, BANDWIDTH, NOISE)] * SPEEDS.size, 1.0 / RATE)
    random, found, latest = np.random.default_rng(seed), 0.0, -np.inf
    for part in np.array_split(at, -(-at.size // 10_000)):
        true = truth(1e-9 * part)
        measured = true[:, 0] + random.normal(scale=NOISE, size=true[:, 0].shape)
        for k, stamp in enumerate(part.tolist()):
            if stamp <= latest:
                with pytest.raises(InputError):
                    running.step(1e-9 * stamp, measured[k])
                continue
            sample, latest, covariance = running.step(1e-9 * stamp, measured[k]), stamp, running.covariance
            deviations = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
            if k % 10 == 0:
                assert np.array_equal(covariance, covariance.transpose(0, 2, 1))
                np.linalg.cholesky(covariance / (deviations[:, :, None] * deviations[:, None, :]))
            error = np.array([sample.q, sample.dq, sample.ddq]) - true[k]
            found = max(found, float((np.abs(error) / deviations.T).max()))
            assert found < FARTHEST, (stamp, found)  # which NaN is not
    return found


@pytest.mark.parametrize(("order", "jitter"), [*((4, jitter) for jitter in JITTERS), (5, 1e-6)])
def test_it_stays_as_near_as_it_says(order: int, jitter: float) -> None:
    random = np.random.default_rng(round(1e7 * jitter) + order)
    assert worst(order, stamps(20.0, jitter, random), order) > 3.0  # and says no more than it has to


@pytest.mark.thorough
def test_it_does_so_for_an_hour() -> None:
    """Ten minutes with each jitter, one after the other."""
    random = np.random.default_rng(0)
    parts = [stamps(600.0, jitter, random) + k * 600e9 for k, jitter in enumerate(JITTERS)]
    assert worst(4, np.concatenate(parts), 0) > 4.0


@pytest.mark.parametrize("order", [3, 4, 5, 6, 7])
def test_its_covariance_settles_at_the_solution_of_the_riccati_equation(order: int) -> None:
    running = JointKalmanFilter([JointProcess(order, BANDWIDTH, NOISE)], 1.0 / RATE)
    for k in range(5_000):
        running.step(k / RATE, [0.0])
    omega = 2.0 * np.pi * BANDWIDTH
    h, zero = omega / RATE, np.zeros((order, order))
    chain, driven = h * np.eye(order, k=1), np.zeros((order, order))
    driven[-1, -1] = h * h  # a density of h, over a step of h
    both = expm(np.block([[-chain, driven], [zero, chain.T]]))  # Van Loan (1978)
    transition = both[order:, order:].T
    before = solve_discrete_are(transition.T, np.eye(order)[:, :1], transition @ both[:order, order:], np.eye(1))
    after = before - np.outer(before[0], before[0]) / (before[0, 0] + 1.0)
    units = NOISE * omega ** np.arange(3)
    np.testing.assert_allclose(running.covariance[0], after[:3, :3] * np.outer(units, units), rtol=1e-8)

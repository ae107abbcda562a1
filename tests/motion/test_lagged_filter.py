"""The fixed-lag filter against Gaussian-process regression, which knows no states, gains or recursions."""

from __future__ import annotations

from math import factorial, perm

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.motion import JointKalmanFilter, JointProcess
from iparam.motion.lagged_filter import LaggedKalmanFilter

PERIOD, BANDWIDTH, NOISE = 0.002, 15.0, 5e-5


NODES, WEIGHTS = np.polynomial.legendre.leggauss(4)  # exact for the polynomials up to degree 6 that occur here


def kernel(order: int, s: np.ndarray, t: np.ndarray, left: int, right: int) -> np.ndarray:
    """Covariance of the derivatives ``left`` at s and ``right`` at t of an integrated Wiener process, density 1."""
    a, b = order - 1 - left, order - 1 - right
    s, t = np.broadcast_arrays(s, t)
    half = 0.5 * np.minimum(s, t)[..., None]
    u = half * (1.0 + NODES)
    product = (s[..., None] - u) ** a * (t[..., None] - u) ** b / (factorial(a) * factorial(b))
    return np.asarray((half * WEIGHTS * product).sum(axis=-1))


def regression(order: int, angles: np.ndarray, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Position, velocity, acceleration (3,) and covariance (3, 3) at a sample, given all of them.

    The prior is the process of `JointProcess` on top of a polynomial of which nothing is known.
    """
    omega = 2.0 * np.pi * BANDWIDTH
    h, count = omega * PERIOD, len(angles)
    times, instant = h * np.arange(count), np.array(h * at)
    covariance = h * kernel(order, times[:, None], times, 0, 0) + np.eye(count)
    cross = h * np.array([kernel(order, instant, times, i, 0) for i in range(3)])
    own = h * np.array([[kernel(order, instant, instant, i, j) for j in range(3)] for i in range(3)])
    powers = np.arange(order)
    basis = times[:, None] ** powers
    wanted = np.array([[perm(p, i) * instant ** max(p - i, 0) for p in powers.tolist()] for i in range(3)])
    weights = np.linalg.solve(covariance, np.column_stack([angles, basis, cross.T]))
    z, b, c = weights[:, 0], weights[:, 1 : order + 1], weights[:, order + 1 :]
    information = basis.T @ b
    coefficients = np.linalg.solve(information, basis.T @ z)
    remainder = wanted - cross @ b
    units = omega ** np.arange(3)
    mean = wanted @ coefficients + cross @ (z - b @ coefficients)
    posterior = own - cross @ c + remainder @ np.linalg.solve(information, remainder.T)
    return units * mean, NOISE**2 * np.outer(units, units) * posterior


@pytest.mark.parametrize(("order", "lag"), [(3, 0), (3, 7), (4, 25)])
def test_motion_and_covariance_are_those_of_regression(order: int, lag: int) -> None:
    count = 240
    t = PERIOD * np.arange(count)
    angles = 0.3 * np.sin(9.0 * t) + 5e-5 * np.random.default_rng(order).standard_normal(count)
    running = LaggedKalmanFilter(JointProcess(order, BANDWIDTH, NOISE), PERIOD, lag, 2)
    motion = None
    for k in range(count):
        motion = running.step(float(t[k]), np.array([angles[k], -2.0 * angles[k]]))
    assert motion is not None
    mean, covariance = regression(order, angles, count - 1 - lag)
    deviation = np.sqrt(covariance.diagonal())
    assert motion.time == t[count - 1 - lag]
    for joint, factor in ((0, 1.0), (1, -2.0)):
        found = np.array([motion.q[joint], motion.dq[joint], motion.ddq[joint]])
        np.testing.assert_allclose((found / factor - mean) / deviation, 0.0, atol=1e-3)
        np.testing.assert_allclose(
            (running.covariance[joint] - covariance) / np.outer(deviation, deviation), 0.0, atol=1e-5
        )


@pytest.mark.parametrize("bandwidth", [1.0, 15.0, 200.0])
@pytest.mark.parametrize("order", [3, 4, 5, 6, 7])
def test_without_a_lag_it_settles_where_the_causal_filter_does(order: int, bandwidth: float) -> None:
    process = JointProcess(order, bandwidth, NOISE)
    lagged, causal = LaggedKalmanFilter(process, PERIOD, 0, 1), JointKalmanFilter([process], PERIOD)
    angles = 0.3 * np.sin(0.02 * np.arange(3 * lagged.settling))
    for k, angle in enumerate(angles.tolist()):
        found, expected = lagged.step(k * PERIOD, np.array([angle])), causal.step(k * PERIOD, [angle])
    assert found is not None
    deviation = np.sqrt(causal.covariance[0].diagonal())
    for derivative, (one, other) in enumerate(zip(found[1:], expected[1:], strict=True)):
        assert abs(one[0] - other[0]) < 1e-3 * deviation[derivative]
    np.testing.assert_allclose(lagged.covariance[0], causal.covariance[0], rtol=1e-6)


def test_steps_that_jitter_are_followed() -> None:
    """A motion of constant velocity has no error in the model: whatever the steps, it is found."""
    random = np.random.default_rng(1)
    running = LaggedKalmanFilter(JointProcess(4, BANDWIDTH, NOISE), PERIOD, 10, 1)
    times = np.cumsum(PERIOD * random.uniform(0.5, 1.5, 1500))
    for time in times:
        motion = running.step(float(time), np.array([0.5 + 2.0 * time]))
    assert motion is not None
    assert motion.time == times[-11]
    np.testing.assert_allclose(motion.q, 0.5 + 2.0 * motion.time, atol=1e-9)
    np.testing.assert_allclose(motion.dq, 2.0, atol=1e-7)
    np.testing.assert_allclose(motion.ddq, 0.0, atol=1e-5)


def test_after_a_restart_nothing_is_remembered() -> None:
    fresh, used = (LaggedKalmanFilter(JointProcess(4, BANDWIDTH, NOISE), PERIOD, 5, 3) for _ in range(2))
    random = np.random.default_rng(2)
    for k in range(40):
        used.step(PERIOD * k, random.standard_normal(3))
    used.restart()
    for k in range(20):
        q = random.standard_normal(3)
        one, two = fresh.step(PERIOD * k, q), used.step(PERIOD * k, q)
        assert (one is None) == (two is None) == (k < 5)
        if one is not None and two is not None:
            np.testing.assert_array_equal(one.ddq, two.ddq)


def test_bad_input() -> None:
    process = JointProcess(4, BANDWIDTH, NOISE)
    with pytest.raises(InputError, match="period must be positive"):
        LaggedKalmanFilter(process, 0.0, 5, 3)
    running = LaggedKalmanFilter(process, PERIOD, 5, 3)
    running.step(0.0, np.zeros(3))
    with pytest.raises(InputError, match="later than that of the sample before"):
        running.step(0.0, np.zeros(3))

"""The smoother against the Gaussian distribution of all states at once, which knows nothing of filters."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iparam.motion.joint_process import noise_root
from iparam.native import smoothing

EXACT = 1e-14


def states_at_once(
    steps: np.ndarray, y: np.ndarray, noise: np.ndarray, intensities: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(T, m) means and (T, m, m) covariances of the states of a chain of integrators: all of them given all samples."""
    count, m, measured = len(steps), len(prior), len(noise)
    lags = np.arange(m)[None, :] - np.arange(m)[:, None]
    factorials = np.array([[math.factorial(max(lag, 0)) for lag in row] for row in lags.tolist()])
    covariance = np.zeros((count, m, count, m))
    here = np.diag(prior)
    for k in range(count):
        if k:
            h = steps[k]
            transition = np.where(lags >= 0, h ** np.maximum(lags, 0) / factorials, 0.0)
            root = noise_root(m) * (h ** (m - np.arange(m) - 0.5))[:, None] * np.sqrt(intensities[k])
            here = transition @ here @ transition.T + root @ root.T
            covariance[k, :, :k] = np.tensordot(transition, covariance[k - 1, :, :k], 1)
            covariance[:k, :, k] = covariance[k, :, :k].transpose(1, 2, 0)
        covariance[k, :, k] = here
    seen = covariance[:, :, :, :measured].reshape(count * m, count * measured)
    samples = covariance[:, :measured, :, :measured].reshape(count * measured, -1) + np.diag(np.tile(noise, count))
    gain = np.linalg.solve(samples, seen.T).T
    means = (gain @ y.ravel()).reshape(count, m)
    left = (covariance.reshape(count * m, -1) - gain @ seen.T).reshape(covariance.shape)
    return means, np.array([left[k, :, k] for k in range(count)])


@pytest.mark.parametrize("measured", [1, 2])
@pytest.mark.parametrize("order", range(smoothing.ORDERS[0], smoothing.ORDERS[1] + 1))
def test_filter_and_smoother_find_the_states_given_all_samples(order: int, measured: int) -> None:
    random = np.random.default_rng(order)
    count, depth = 30, 3
    steps = 0.2 + 0.1 * random.uniform(-1.0, 1.0, count)
    steps[0], steps[10:20] = 0.0, 0.2
    y = random.normal(size=(count, measured)).cumsum(axis=0)
    noise, prior = np.array([1.0, 0.4])[:measured], np.ones(order)
    intensities = np.where(np.arange(count) < 25, 1.0, 0.2)
    x, p = np.zeros(order), np.diag(prior)
    filtered = smoothing.joint_filter(steps, y, noise, intensities, x, p, EXACT, True)
    adjoint, information = np.zeros(order), np.zeros((order, order))
    means, variances = np.empty((count, depth)), np.empty((count, depth, depth))
    smoothing.joint_smoother(steps, filtered, noise, adjoint, information, EXACT, 0, 1, means, variances)
    expected, covariance = states_at_once(steps, y, noise, intensities, prior)
    scale = np.sqrt(np.einsum("kii->ki", covariance))
    np.testing.assert_allclose(x / scale[-1], expected[-1] / scale[-1], atol=1e-9)
    np.testing.assert_allclose(
        p / np.outer(scale[-1], scale[-1]), covariance[-1] / np.outer(scale[-1], scale[-1]), atol=1e-9
    )
    scale = scale[:, :depth]
    np.testing.assert_allclose(means / scale, expected[:, :depth] / scale, atol=1e-9)
    correlations = covariance[:, :depth, :depth] / (scale[:, :, None] * scale[:, None, :])
    np.testing.assert_allclose(variances / (scale[:, :, None] * scale[:, None, :]), correlations, atol=1e-9)
    assert (p == p.T).all()
    assert (variances == variances.transpose(0, 2, 1)).all()
    adjoint[:], information[:] = 0.0, 0.0
    squares, sums = smoothing.joint_residuals(steps, filtered, noise, adjoint, information, EXACT)
    left = y - expected[:, :measured]
    assert squares == pytest.approx((left**2 / noise).sum(), rel=1e-9)
    states = np.einsum("kii->ki", covariance)[:, :measured]
    assert sums == pytest.approx((states / noise).sum(), rel=1e-9)


def test_states_that_are_not_kept_change_nothing_else() -> None:
    random = np.random.default_rng(0)
    steps = np.full(50, 0.2)
    steps[0] = 0.0
    arguments = steps, random.normal(size=(50, 1)), np.ones(1), np.ones(50)
    first, second = (
        smoothing.joint_filter(*arguments, np.zeros(4), np.eye(4), 1e-12, kept)[:3] for kept in (True, False)
    )
    used = int(first[1][-1]) + 1
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[2][:used], second[2][:used])

"""Intervals that hold where the noise of a wrench is correlated in time, and are no wider where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

import iparam
from iparam.estimation.payload.covariance import Scores, score_covariance
from iparam.estimation.payload.problem import PayloadProblem
from iparam.estimation.payload.weighted_fit import WeightedFit, weighted_fit
from iparam.trajectory import WindowedFourierTrajectory

RATE, SEEDS = 50.0, 40
NOISE = np.array([0.5, 0.5, 0.5, 0.02, 0.02, 0.02])
PHI = np.array([2.0, 0.04, -0.06, 0.18, 0.03, 0.001, -0.004, 0.03, 0.005, 0.01])


@pytest.fixture(scope="module")
def clean() -> PayloadProblem:
    a, b = np.random.default_rng(0).normal(0.0, 0.16, (2, 6, 8))
    home = [0.0, -1.4, 1.2, -1.0, -1.2, 0.3]
    time = np.arange(0.0, 20.0, 1.0 / RATE)
    point = WindowedFourierTrajectory(home, a, b, base_freq=0.05, duration=20.0).evaluate(time)
    A = iparam.wrench_regressor(iparam.load_robot("ur5e"), point.q, point.dq, point.ddq)
    return PayloadProblem(A=A, y=A @ PHI, time=time)


def fits(clean: PayloadProblem, memory: float) -> list[WeightedFit]:
    """With noise of unit variance whose correlation falls by e in ``memory`` [s]; 0 for white noise."""
    kept = np.exp(-1.0 / (RATE * memory)) if memory else 0.0
    found = []
    for seed in range(SEEDS):
        white = np.random.default_rng(seed).standard_normal(clean.y.shape)
        noise = lfilter([np.sqrt(1.0 - kept**2)], [1.0, -kept], white, axis=0)
        found.append(weighted_fit(PayloadProblem(A=clean.A, y=clean.y + NOISE * noise, time=clean.time)))
    return found


def scores(found: list[WeightedFit]) -> np.ndarray:
    return np.array([(one.phi - PHI) / np.sqrt(np.diag(one.covariance))[:10] for one in found])


@pytest.mark.parametrize("memory", [0.1, 0.5])
def test_noise_that_lasts_is_in_the_intervals(clean: PayloadProblem, memory: float) -> None:
    found = fits(clean, memory)
    assert np.mean(np.abs(scores(found)) < 1.96) > 0.88
    # The intervals are not merely wide: errors fill them.
    assert np.sqrt(np.mean(scores(found) ** 2)) > 0.8


def test_errors_that_last_spare_no_direction(clean: PayloadProblem) -> None:
    # A few dozen stretches of time would otherwise seem to tell some differences of parameters as if by white noise.
    for one in fits(clean, 0.5)[:5]:
        weighted = one.weights.weighted(one.residual)
        each = np.einsum("nci,nc->ni", clean.design, weighted)
        found = score_covariance(Scores(clean.design, weighted, np.zeros(clean.num_unknowns)))
        root = np.linalg.cholesky(each.T @ each)
        inner = np.linalg.solve(root, np.linalg.solve(root, found.matrix).T)
        assert np.linalg.eigvalsh(inner)[0] > 0.99 * found.inflation > 3.0


def test_white_noise_has_the_intervals_of_independent_samples(clean: PayloadProblem) -> None:
    found = fits(clean, 0.0)
    assert 0.90 < np.mean(np.abs(scores(found)) < 1.96) < 0.98
    widths = [np.sqrt(np.diag(one.covariance) / np.diag(np.linalg.inv(one.information))) for one in found]
    assert np.median(widths) == pytest.approx(1.0, abs=0.02)
    assert sum(one.inflation > 1.0 for one in found) < 0.15 * SEEDS


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("every", [80, 40, 13])
def test_the_intervals_of_few_samples_hold_what_they_say(clean: PayloadProblem, every: int) -> None:
    few, found = slice(None, None, every), []
    for seed in range(3 * SEEDS):
        noise = NOISE * np.random.default_rng(seed).standard_normal(clean.y[few].shape)
        found.append(weighted_fit(PayloadProblem(A=clean.A[few], y=clean.y[few] + noise, time=clean.time[few])))
    assert np.abs(scores(found)).max() < 4.0
    assert np.mean(np.abs(scores(found)) < 1.96) > 0.95
    assert np.sqrt(np.mean(scores(found) ** 2)) > 0.5, "no wider than that asks for"

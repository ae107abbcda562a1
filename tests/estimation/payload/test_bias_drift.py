"""A bias that walks: the whitened problem against dense matrices, and the walk found against the one put in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.errors import UnknownNameError
from iparam.estimation import ConsistentLeastSquares, LeastSquares, PayloadProblem, identify_payload
from iparam.estimation.payload import bias_drift
from iparam.estimation.payload.bias_drift import BiasDrift, find_drift, without_drift
from iparam.recording import Recording

DEVIATION = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
WALK = np.array([0.3, 0.3, 0.3, 0.02, 0.02, 0.02])


def walking(problem: PayloadProblem, seed: int, rate: np.ndarray = WALK) -> PayloadProblem:
    """The problem with a random walk of ``rate`` in a second added to each channel."""
    random = np.random.default_rng([seed, 7])
    steps = np.sqrt(np.diff(problem.time, prepend=problem.time[0]))[:, None]
    walk = np.cumsum(rate * steps * random.standard_normal(problem.y.shape), axis=0)
    return dataclasses.replace(problem, y=problem.y + walk)


def dense_covariance(time: np.ndarray, ratio: float) -> np.ndarray:
    """(N, N) of white noise of variance 1 and a walk from the first sample on."""
    since = time - time[0]
    return np.eye(time.size) + ratio * np.minimum(since[:, None], since[None, :])


def test_the_whitened_problem_has_the_solution_of_generalised_least_squares(
    make_problem: Callable[..., PayloadProblem],
) -> None:
    """With one dense matrix a channel, and the bias at the start as an unknown of its own."""
    problem = walking(make_problem(samples=160), 0)
    ratio = np.array([0.3, 0.1, 2.0, 0.0, 0.05, 1.0])
    gram, right = np.zeros((16, 16)), np.zeros(16)
    for channel in range(6):
        weights = np.linalg.inv(dense_covariance(problem.time, ratio[channel]))
        design = problem.design[:, channel]
        gram += design.T @ weights @ design
        right += design.T @ weights @ problem.y[:, channel]
    expected = np.linalg.solve(gram, right)[:10]
    white = without_drift(problem, BiasDrift(ratio, WALK))
    assert not white.bias
    assert white.num_samples == problem.num_samples
    np.testing.assert_allclose(LeastSquares().fit(white).phi, expected, rtol=1e-7, atol=1e-9)


def test_the_ratios_found_have_the_largest_restricted_likelihood(
    make_problem: Callable[..., PayloadProblem], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The likelihood from dense matrices, each of the ratios halved and doubled."""
    monkeypatch.setattr(bias_drift, "ROUNDS", 4)
    monkeypatch.setattr(bias_drift, "PRECISION", 1e-4)
    problem = walking(make_problem(samples=240), 3)
    found = find_drift(problem)
    assert found is not None
    variance = (found.rate / np.sqrt(np.where(found.ratio > 0.0, found.ratio, 1.0))) ** 2

    def deviance(ratio: np.ndarray) -> float:
        gram, right, squares, logarithms = np.zeros((16, 16)), np.zeros(16), 0.0, 0.0
        for channel in range(6):
            covariance = variance[channel] * dense_covariance(problem.time, float(ratio[channel]))
            weights, design, y = np.linalg.inv(covariance), problem.design[:, channel], problem.y[:, channel]
            gram += design.T @ weights @ design
            right += design.T @ weights @ y
            squares += float(y @ weights @ y)
            logarithms += float(np.linalg.slogdet(covariance)[1])
        rest = squares - float(right @ np.linalg.solve(gram, right))
        return logarithms + float(np.linalg.slogdet(gram)[1]) + rest

    walks = np.flatnonzero(found.ratio > 0.0)
    assert walks.size >= 4
    best = deviance(found.ratio)
    for channel in walks:
        for factor in (0.5, 2.0):
            changed = found.ratio.copy()
            changed[channel] *= factor
            assert deviance(changed) > best


def test_the_walk_is_found_and_the_load_is_better_for_it(make_problem: Callable[..., PayloadProblem], load) -> None:
    scores, errors, rates = [], {"constant": [], "drifting": []}, []
    for seed in range(24):
        problem = walking(make_problem(seed=seed), seed)
        drift = find_drift(problem)
        assert drift is not None
        rates.append(drift.rate)
        better = ConsistentLeastSquares().fit(without_drift(problem, drift))
        constant = ConsistentLeastSquares().fit(problem)
        scores.append((better.phi - load) / better.standard_deviation.phi)
        errors["drifting"].append(better.phi[0] - load[0])
        errors["constant"].append(constant.phi[0] - load[0])
    np.testing.assert_allclose(np.sqrt(np.mean(np.square(rates), axis=0)), WALK, rtol=0.4)
    assert np.sqrt(np.mean(np.square(scores))) < 1.35  # 240 numbers; 2.4 in m, mx, my, mz with a constant bias
    assert np.linalg.norm(errors["drifting"]) < 0.6 * np.linalg.norm(errors["constant"])


def test_without_a_walk_little_is_lost(make_problem: Callable[..., PayloadProblem]) -> None:
    for seed in range(6):
        problem = make_problem(seed=seed)
        drift = find_drift(problem)
        plain = ConsistentLeastSquares().fit(problem)
        found = plain if drift is None else ConsistentLeastSquares().fit(without_drift(problem, drift))
        assert (found.standard_deviation.phi < 1.5 * plain.standard_deviation.phi).all()
        assert (np.abs(found.phi - plain.phi) < 2.0 * plain.standard_deviation.phi).all()


def test_data_that_cannot_tell(make_problem: Callable[..., PayloadProblem]) -> None:
    assert find_drift(make_problem(samples=60)) is None
    still = make_problem()
    resting = dataclasses.replace(still, A=np.repeat(still.A[:1], still.num_samples, axis=0))
    assert find_drift(resting) is None


def test_exact_data_stay_exact(make_problem: Callable[..., PayloadProblem], load) -> None:
    problem = make_problem(level=0.0)
    drift = find_drift(problem)
    found = ConsistentLeastSquares().fit(problem if drift is None else without_drift(problem, drift))
    np.testing.assert_allclose(found.phi, load, atol=1e-6)


def test_identify_payload(
    synthetic_recording: Callable[..., Recording], excitation: iparam.TrajectorySamples, ur5e
) -> None:
    steady = synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)
    wrench = steady.signal("wrench")
    slope = np.linspace(0.0, 1.0, wrench.num_samples)[:, None] * np.array([3.0, -2.0, 2.0, 0.1, 0.1, 0.0])
    slow = steady.with_signal("wrench", time=wrench.time, values=wrench.values + slope)
    estimate = identify_payload(slow, ur5e, bias="drifting")
    assert "bias-drifts" in [one.code for one in estimate.remarks]
    plain = identify_payload(steady, ur5e)
    assert estimate.condition_number == pytest.approx(plain.condition_number)
    assert estimate.sensor_bias is not None
    assert plain.sensor_bias is not None
    mean = estimate.sensor_bias.force - plain.sensor_bias.force
    np.testing.assert_allclose(mean, slope.mean(axis=0)[:3], atol=0.2)
    assert abs(estimate.mass - plain.mass) < 0.5 * abs(identify_payload(slow, ur5e, bias="constant").mass - plain.mass)
    with pytest.raises(UnknownNameError, match="estimate, constant, none, zeroed, drifting"):
        identify_payload(slow, ur5e, bias="walking")  # type: ignore[arg-type]

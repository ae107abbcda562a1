"""Filters: exact where they must be, and the smoother against every advantage of a Butterworth filter."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iparam.errors import InputError
from iparam.motion import (
    JointKalmanFilter,
    JointProcess,
    butterworth_smooth,
    choose_processes,
    joint_process,
    kalman_smooth,
)
from iparam.motion.joint_process import TimeSteps, residual_sums, smooth_joint
from iparam.motion.kalman import with_passed_errors
from iparam.trajectory import TrajectorySamples, WindowedFourierTrajectory

ENCODER = 5e-5  # rad


def excitation(seed: int, duration: float = 10.0, joints: int = 6, rate: float = 500.0) -> TrajectorySamples:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(scale=0.2, size=(2, joints, 5))
    return WindowedFourierTrajectory(np.linspace(-1, 1, joints), a, b, 0.1, duration).sample(rate)


def measured(motion: TrajectorySamples, seed: int) -> np.ndarray:
    return motion.q + np.random.default_rng(1000 + seed).normal(scale=ENCODER, size=motion.q.shape)


def rms(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def uneven_times(seed: int, count: int) -> np.ndarray:
    return np.cumsum(np.random.default_rng(seed).uniform(0.01, 0.013, count))


def polynomial(time: np.ndarray, coefficients: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p = np.polynomial.Polynomial(coefficients)
    return tuple(p.deriv(k)(time)[:, None] if k else p(time)[:, None] for k in range(3))  # type: ignore[return-value]


COEFFICIENTS = st.lists(st.floats(-2, 2), min_size=3, max_size=5)


@settings(max_examples=40, deadline=None)
@given(coefficients=COEFFICIENTS, seed=st.integers(0, 1000), order=st.integers(3, 7))
def test_the_smoother_is_exact_for_polynomials_below_its_order(
    coefficients: list[float], seed: int, order: int
) -> None:
    time = uneven_times(seed, 200)
    truth = polynomial(time, coefficients[:order])
    found = kalman_smooth(time, truth[0], [JointProcess(order, 2.0, ENCODER)])
    assert np.abs(found.q - truth[0]).max() < 1e-7
    assert np.abs(found.dq - truth[1]).max() < 1e-5
    assert np.abs(found.ddq - truth[2]).max() < 1e-3


def dense_posterior(
    time: np.ndarray, y: np.ndarray, process: JointProcess, velocity: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Means (T, 3) and covariances (T, 3, 3) of the same model by one large Gaussian conditioning, no recursion.

    The process noise is integrated by quadrature from the impulse response (t - s)^(m - 1) / (m - 1)!.
    """
    m, count = process.order, time.size
    density = process.noise**2 * float(np.median(np.diff(time))) * process.omega ** (2 * m)
    nodes, weights = np.polynomial.legendre.leggauss(m + 3)
    edges = np.concatenate([[time[0]], time])
    # Features: a wide polynomial for the start, and the noise impulses.
    start = np.array([(time - time[0]) ** i for i in range(m)]).T
    columns = [np.stack([_derivative(start, time, i, k) for i in range(m)], axis=1) for k in range(3)]
    variances = [np.full(m, 1e6)]
    for left, right in pairwise(edges):
        for x, w in zip(nodes, weights, strict=True):
            s = 0.5 * (left + right) + 0.5 * (right - left) * x
            share = process.share_at(np.array([right]))[0]  # each step has the share of the sample at its end
            variances.append(np.array([density * share ** (2 * m) * 0.5 * (right - left) * w]))
            lag = np.maximum(time - s, 0.0)
            for k in range(3):
                impulse = np.where(time > s, lag ** (m - 1 - k), 0.0) / _factorial(m - 1 - k)
                columns[k] = np.column_stack([columns[k], impulse])
    prior = np.concatenate(variances)
    q, dq, ddq = (column[:, prior > 0.0] for column in columns)
    prior = prior[prior > 0.0]
    observed, features, noise = y, q, np.full(count, process.noise)
    if velocity is not None:
        observed, features = np.concatenate([y, velocity]), np.concatenate([q, dq])
        noise = np.concatenate([noise, process.velocity_noise * noise])
    # By orthogonal factors: a Gram matrix with so wide a start would lose half of the digits.
    stacked = np.vstack([features / noise[:, None], np.diag(1.0 / np.sqrt(prior))])
    basis, triangle = np.linalg.qr(stacked)
    solved = np.linalg.solve(triangle, basis[: observed.size].T @ (observed / noise))
    rows = np.stack([q, dq, ddq], axis=1)
    half = np.linalg.solve(triangle.T, rows.reshape(-1, prior.size).T).T.reshape(count, 3, prior.size)
    return rows @ solved, half @ half.transpose(0, 2, 1)


def _factorial(n: int) -> float:
    return float(np.prod(np.arange(1, n + 1))) if n else 1.0


def _derivative(start: np.ndarray, time: np.ndarray, power: int, k: int) -> np.ndarray:
    if power < k:
        return np.zeros(time.size)
    return _factorial(power) / _factorial(power - k) * (time - time[0]) ** (power - k)


@pytest.mark.parametrize("velocity_noise", [0.0, 2.0, 30.0])
@pytest.mark.parametrize("shares", [(), ((0.0, 1.0), (0.2, 0.3), (0.45, 0.8))])
@pytest.mark.parametrize("order", [3, 4])
def test_the_smoother_is_the_exact_posterior(
    order: int, shares: tuple[tuple[float, float], ...], velocity_noise: float
) -> None:
    time = uneven_times(3, 60)
    rng = np.random.default_rng(0)
    y = np.sin(3 * time) + rng.normal(scale=0.01, size=60)
    process = JointProcess(order, 2.0, 0.01, shares=shares, velocity_noise=velocity_noise)
    velocity = 3 * np.cos(3 * time) + rng.normal(scale=0.01 * velocity_noise, size=60) if velocity_noise else None
    means, blocks = dense_posterior(time, y, process, velocity)
    found = kalman_smooth(time, y[:, None], [process], None if velocity is None else velocity[:, None])
    assert found.covariance is not None
    deviations = np.sqrt(np.einsum("kii->ki", blocks))
    for k, value in enumerate((found.q, found.dq, found.ddq)):
        assert np.abs((value[:, 0] - means[:, k]) / deviations[:, k]).max() < 1e-3
    scale = deviations[:, :, None] * deviations[:, None, :]
    assert np.abs((found.covariance[:, 0] - blocks) / scale).max() < 2e-3  # rounding of a start that is not known


@pytest.mark.parametrize("velocity_noise", [0.0, 5.0])
@pytest.mark.parametrize("order", [4, 5, 7])
def test_away_from_the_ends_the_variance_is_that_of_wieners_filter(order: int, velocity_noise: float) -> None:
    """The integral over all frequencies of w^4 over the information of process, angles and velocities."""
    process = JointProcess(order, 2.3, 3e-3, velocity_noise=velocity_noise)
    time = np.arange(2501) / 250.0
    values = np.zeros(time.size)
    found = smooth_joint(time, values, process, velocity=values if velocity_noise else None).covariances[600:-600, 2, 2]
    omega = np.linspace(1e-3, np.pi * 250.0, 400_000)
    information = 1.0 + (omega / process.omega) ** (2 * order)
    if velocity_noise:
        information += (omega / velocity_noise) ** 2
    expected = np.trapezoid(omega**4 / information, omega) / np.pi * process.noise**2 / 250.0
    np.testing.assert_allclose(found, expected, rtol=2e-3)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_smoother_beats_the_best_butterworth_filter(seed: int) -> None:
    motion = excitation(seed)
    q = measured(motion, seed)
    found = kalman_smooth(motion.time, q)
    best = min(
        rms(butterworth_smooth(motion.time, q, cutoff, order).ddq, motion.ddq)
        for order in (2, 3, 4, 5, 6, 8)
        for cutoff in np.geomspace(0.8, 6.0, 25)
    )
    assert rms(found.ddq, motion.ddq) < best
    assert found.covariance is not None
    for k, (value, truth) in enumerate(((found.q, motion.q), (found.dq, motion.dq), (found.ddq, motion.ddq))):
        normalised = np.mean((value - truth) ** 2 / found.covariance[..., k, k])
        assert 0.4 < normalised < 2.5


def test_the_models_are_found_from_the_data() -> None:
    motion = excitation(4)
    processes = choose_processes(motion.time, measured(motion, 4))
    assert all(abs(process.noise / ENCODER - 1.0) < 0.05 for process in processes)
    assert all(process.starts_at_rest and process.ends_at_rest for process in processes)
    assert all(0.5 < process.bandwidth < 5.0 for process in processes)
    middle = slice(1500, 3500)
    cut = choose_processes(motion.time[middle], measured(motion, 4)[middle])
    assert not any(process.starts_at_rest or process.ends_at_rest for process in cut)


@pytest.mark.parametrize("ends_at_rest", [False, True])
def test_a_long_series_is_smoothed_in_parts_as_in_one(monkeypatch: pytest.MonkeyPatch, ends_at_rest: bool) -> None:
    time = uneven_times(5, 700)
    y = np.sin(3 * time) + np.random.default_rng(1).normal(scale=0.01, size=700)
    process = JointProcess(5, 1.5, 0.01, ends_at_rest=ends_at_rest, shares=((0.0, 1.0), (3.0, 0.4)))
    whole = smooth_joint(time, y, process)
    monkeypatch.setattr(joint_process, "PART", 64)
    parts = smooth_joint(time, y, process, every=3)
    assert parts.means == pytest.approx(whole.means, abs=1e-9)
    assert parts.covariances == pytest.approx(whole.covariances[::3], rel=1e-6, abs=1e-15)


@pytest.mark.parametrize("part", [64, 1000])
@pytest.mark.parametrize("velocity_noise", [0.0, 2.0])
def test_models_are_compared_by_what_the_smoother_leaves(
    monkeypatch: pytest.MonkeyPatch, velocity_noise: float, part: int
) -> None:
    """Also across a gap, which ends what a model knows, and in parts."""
    time = uneven_times(5, 700)
    time[400:] += 30.0
    rng = np.random.default_rng(1)
    angle = np.sin(3 * time) + rng.normal(scale=0.01, size=700)
    speed = 3.0 * np.cos(3 * time) + rng.normal(scale=0.02, size=700)
    process = JointProcess(5, 1.5, 0.01, ends_at_rest=True, velocity_noise=velocity_noise)
    whole = smooth_joint(time, angle, process, depth=2, exact=False, velocity=speed)
    monkeypatch.setattr(joint_process, "PART", part)
    squares, variances = residual_sums(time, TimeSteps.of(time), angle, process, speed)
    expected = [np.sum((angle - whole.means[:, 0]) ** 2), np.sum(whole.covariances[:, 0, 0]) / 0.01**2]
    if velocity_noise:
        expected[0] += np.sum((speed - whole.means[:, 1]) ** 2) / velocity_noise**2
        expected[1] += np.sum(whole.covariances[:, 1, 1]) / (0.01 * velocity_noise) ** 2
    assert squares == pytest.approx(expected[0], rel=1e-6)
    assert variances == pytest.approx(expected[1], rel=1e-5)


def test_rests_take_nothing_from_a_motion() -> None:
    """However long an arm stands still before and after, its motion is known as well, and its rest better."""
    motion = excitation(6, joints=3, rate=100.0)
    q = measured(motion, 6)
    alone = kalman_smooth(motion.time, q)
    count = 15_000
    noise = np.random.default_rng(7).normal(scale=ENCODER, size=(2, count, 3))
    still = np.concatenate([motion.q[:1] + noise[0], q, motion.q[-1:] + noise[1]])
    time = np.arange(len(still)) / 100.0
    found = kalman_smooth(time, still)
    moving = slice(count, count + motion.num_samples)
    assert rms(found.ddq[moving], motion.ddq) < 1.25 * rms(alone.ddq, motion.ddq)
    assert rms(found.ddq[: count // 2], 0.0) < 0.1 * rms(alone.ddq, motion.ddq)


def test_a_slow_motion_does_not_blur_a_fast_one() -> None:
    motion = excitation(8, joints=2, rate=100.0)
    family = WindowedFourierTrajectory(motion.q[-1], [[0.2], [0.1]], [[0.1], [-0.2]], 0.005, 200.0)
    slow = family.sample(100.0)
    q = np.concatenate([measured(motion, 8), measured(slow, 9)[1:]])
    found = kalman_smooth(np.arange(len(q)) / 100.0, q)
    alone = kalman_smooth(motion.time, measured(motion, 8))
    assert rms(found.ddq[: motion.num_samples], motion.ddq) < 1.3 * rms(alone.ddq, motion.ddq)


def test_exact_and_constant_angles_are_no_trouble() -> None:
    motion = excitation(5, joints=2, rate=100.0)
    exact = kalman_smooth(motion.time, motion.q)
    assert rms(exact.ddq, motion.ddq) < 1e-3
    still = kalman_smooth(motion.time, np.full((motion.num_samples, 1), 0.7))
    assert np.abs(still.q - 0.7).max() < 1e-9
    assert np.abs(still.ddq).max() < 1e-6


def test_uneven_samples_are_as_good_as_even_ones() -> None:
    family = WindowedFourierTrajectory([0.0], [[0.3, 0.2]], [[0.1, -0.2]], 0.1, 10.0)
    rng = np.random.default_rng(6)
    time = np.sort(rng.uniform(0, 10, 2000))
    truth = family.evaluate(time)
    q = truth.q + rng.normal(scale=ENCODER, size=truth.q.shape)
    for found in (
        kalman_smooth(time, q),
        butterworth_smooth(np.linspace(0, 10, 2000), family.evaluate(np.linspace(0, 10, 2000)).q, 3.0),
    ):
        assert rms(found.ddq, family.evaluate(found.time).ddq) < 5e-3
    jitter = np.arange(1000) / 100 + rng.uniform(-0.001, 0.001, 1000) + 0.001
    jittered = butterworth_smooth(jitter, family.evaluate(jitter).q, 4.0)
    assert rms(jittered.ddq, family.evaluate(jitter).ddq) < 5e-3


def test_the_filter_is_close_to_the_truth() -> None:
    motion = excitation(7)
    recursion = JointKalmanFilter([JointProcess(4, 3.0, ENCODER)] * motion.num_joints, 1 / 500)
    steps = [recursion.step(t, angles) for t, angles in zip(motion.time.tolist(), measured(motion, 7), strict=True)]
    ddq = np.array([step.ddq for step in steps])
    assert rms(ddq, motion.ddq) < 0.25 * np.sqrt(np.mean(motion.ddq**2))


def test_the_causal_filter_never_looks_ahead() -> None:
    motion = excitation(8, joints=2, rate=100.0)
    processes = [JointProcess(3, 5.0, ENCODER), JointProcess(4, 5.0, ENCODER)]
    recursion = JointKalmanFilter(processes, 0.01)
    before = [recursion.step(t, angles) for t, angles in zip(motion.time[:500].tolist(), motion.q, strict=False)]
    again = JointKalmanFilter(processes, 0.01)
    for k in range(500):
        step = again.step(float(motion.time[k]), motion.q[k])
        assert np.array_equal(step.ddq, before[k].ddq)


def test_a_refused_sample_changes_nothing() -> None:
    recursion = JointKalmanFilter([JointProcess(3, 5.0, ENCODER)], 0.01)
    recursion.step(0.0, [0.0])
    recursion.step(0.01, [0.1])
    covariance = recursion.covariance
    for time, q in ((0.01, [0.2]), (0.0, [0.2]), (0.02, [np.nan]), (0.02, [0.1, 0.2]), (np.nan, [0.1])):
        with pytest.raises(InputError):
            recursion.step(time, q)
    assert np.array_equal(recursion.covariance, covariance)
    assert recursion.step(0.02, [0.2]).q[0] == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda t, q: kalman_smooth(t[:5], q[:5]), "at least 16 samples"),
        (lambda t, q: kalman_smooth(t[::-1], q), "strictly increasing"),
        (lambda t, q: kalman_smooth(t, q[:, 0]), r"q \(T, n\)"),
        (lambda t, q: kalman_smooth(t, q, [JointProcess(3, 1, 1)] * 3), "motion models for 3"),
        (lambda t, q: butterworth_smooth(t, q, 80.0), "half the sampling rate"),
        (lambda t, q: butterworth_smooth(t, q, 5.0, 0), "order"),
        (lambda t, q: JointKalmanFilter([], 0.1), "at least one joint"),
        (lambda t, q: JointKalmanFilter([JointProcess(3, 1, 1)], 0.0), "period"),
    ],
)
def test_what_filters_refuse(run: object, message: str) -> None:
    time = np.arange(100) / 100
    with pytest.raises(InputError, match=message):
        run(time, np.zeros((100, 2)))  # type: ignore[operator]


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("gap", [0.6, 1.0, 2.0, 60.0, 3600.0])
def test_a_gap_takes_nothing_from_what_is_around_it(gap: float) -> None:
    """Across a second without samples, rounding once decided what the accelerations were."""
    motion = excitation(4)
    q = measured(motion, 4)
    # Of a short gap the samples are missing; in a long one the arm stood still.
    kept = (motion.time <= 5.0) | (motion.time >= 5.0 + gap) if gap < 5.0 else motion.time != 5.0
    time = np.where(motion.time > 5.0, motion.time + (gap if gap > 5.0 else 0.0), motion.time)[kept]
    away = np.abs(motion.time[kept] - 5.0) > min(gap, 2.0) + 0.3  # the ends of a stretch are known less well
    whole = kalman_smooth(motion.time, q)
    found = kalman_smooth(time, q[kept])
    assert rms(found.ddq[away], motion.ddq[kept][away]) < 3.0 * rms(whole.ddq[kept][away], motion.ddq[kept][away])
    assert (np.linalg.eigvalsh(found.covariance) > 0.0).all()


@pytest.mark.parametrize("bandwidth", [15.0, 60.0])
def test_a_causal_filter_knows_its_errors_across_a_gap(bandwidth: float) -> None:
    motion = excitation(4)
    time = np.where(motion.time > 5.0, motion.time + 60.0, motion.time)
    recursion = JointKalmanFilter([JointProcess(4, bandwidth, ENCODER)] * 6, 1 / 500)
    for t, angles, truth in zip(time.tolist(), measured(motion, 4), motion.ddq, strict=True):
        found = recursion.step(t, angles)
        covariance = recursion.covariance
        assert (np.linalg.eigvalsh(covariance) > 0.0).all()
        assert np.abs((found.ddq - truth) / np.sqrt(covariance[:, 2, 2])).max() < 7.0


def test_bursts_of_a_few_samples_are_no_trouble() -> None:
    motion = excitation(5)
    kept = (np.arange(motion.time.size) % 250 < 2) | (motion.time < 4.0)
    kept[-1] = False  # then a single sample between gaps, at the end
    kept[-130] = True
    found = kalman_smooth(motion.time[kept], measured(motion, 5)[kept])
    early = motion.time[kept] < 3.5
    assert np.isfinite(found.ddq).all()
    assert rms(found.ddq[early], motion.ddq[kept][early]) < 0.2


@pytest.mark.parametrize("bandwidth", [4.0, 6.0])
def test_errors_that_do_not_pass_the_smoother_do_not_count(bandwidth: float) -> None:
    """Held angles, with noise on top: what is left of them is that noise, and a delay of half the holding."""
    motion = excitation(3)
    rows = 20 * (np.arange(motion.time.size) // 20)
    q = motion.q[rows] + np.random.default_rng(3).normal(scale=ENCODER, size=motion.q.shape)
    smoothed = kalman_smooth(motion.time, q, [JointProcess(5, bandwidth, 0.01)] * 6)
    found = with_passed_errors(smoothed, q)
    assert np.array_equal(found.ddq, smoothed.ddq)
    noise = np.array([process.noise for process in found.processes])
    assert (noise > 0.7 * ENCODER).all()
    assert (noise < 2.0 * ENCODER).all()
    assert found.covariance is not None
    assert smoothed.covariance is not None
    assert np.allclose(found.covariance, smoothed.covariance * (noise / 0.01)[:, None, None] ** 2)


def test_white_errors_all_count() -> None:
    for seed in range(2):
        motion = excitation(seed, rate=250.0)
        q = measured(motion, seed)
        smoothed = kalman_smooth(motion.time, q)
        assert with_passed_errors(smoothed, q) is smoothed

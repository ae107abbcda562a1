"""Recordings of any length, with any share of rest: more data is never worse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation import Estimate, compensate_wrench, identify_payload
from iparam.estimation.payload import problem_from_recording as problems
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset

DATA = Path(__file__).resolve().parents[1] / "data"
RATE = 100.0


@pytest.fixture(scope="module")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="module")
def phi() -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = (0.02, -0.01, 0.11)
    return iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose).phi


def recorded(
    robot: iparam.Robot, phi: np.ndarray, *, times: int = 1, rest: float = 0.0, noise: str = "ur5e", seed: int = 1
) -> Recording:
    """The optimised 10 s motion, several times, between two rests [s], at 100 Hz."""
    trajectory = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory
    motion = trajectory.evaluate(np.arange(round(trajectory.duration * RATE)) / RATE)
    still = np.zeros((round(rest * RATE), 6))
    parts = [np.concatenate([values] * times) for values in (motion.q, motion.dq, motion.ddq)]
    q = np.concatenate([still + motion.q[0], parts[0], still + motion.q[0]])
    dq, ddq = (np.concatenate([still, part, still]) for part in parts[1:])
    time = np.arange(len(q)) / RATE
    exact = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal("q", time=time, values=q)
    exact = exact.with_signal("wrench", time=time, values=iparam.wrench_regressor(robot, q, dq, ddq) @ phi)
    return noise_preset(noise).apply(exact, seed)


def deviations(estimate: Estimate, phi: np.ndarray) -> np.ndarray:
    return (estimate.phi - phi) / estimate.standard_deviation.phi


@pytest.fixture(scope="module")
def short(robot: iparam.Robot, phi: np.ndarray) -> Estimate:
    return identify_payload(recorded(robot, phi), robot)


@pytest.mark.thorough
def test_ten_minutes_are_better_than_ten_seconds(robot: iparam.Robot, phi: np.ndarray, short: Estimate) -> None:
    long = identify_payload(recorded(robot, phi, times=60), robot)
    assert np.abs(deviations(long, phi)).max() < 4.0
    # Sixty times the data: deviations of about an eighth.
    ratio = long.standard_deviation.phi / short.standard_deviation.phi
    assert (ratio < 0.2).all()
    assert not long.remarks


def test_rests_take_nothing_from_an_identification(robot: iparam.Robot, phi: np.ndarray, short: Estimate) -> None:
    found = identify_payload(recorded(robot, phi, rest=120.0), robot)
    assert np.abs(deviations(found, phi)).max() < 4.0
    assert (found.standard_deviation.phi < 1.2 * short.standard_deviation.phi).all()
    assert not found.remarks


def test_a_second_is_enough_for_the_mass(robot: iparam.Robot, phi: np.ndarray) -> None:
    second = recorded(robot, phi).slice(4.0, 5.0)
    found = identify_payload(second, robot, method="wls")
    assert np.abs(deviations(found, phi)).max() < 4.0


def test_compensation_leaves_noise_on_a_long_run(robot: iparam.Robot, phi: np.ndarray) -> None:
    run = recorded(robot, phi, times=30)
    estimate = identify_payload(run, robot)
    clean = compensate_wrench(run, robot, estimate).signal("wrench").values
    assert clean.std(axis=0) == pytest.approx([0.5, 0.5, 0.5, 0.05, 0.05, 0.05], rel=0.05)


@pytest.mark.parametrize("delay", [0.0, 0.003])
def test_means_of_successive_samples_tell_as_much(
    robot: iparam.Robot, phi: np.ndarray, delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = recorded(robot, phi, times=2)
    wrench = run.signal("wrench")
    run = run.with_signal("wrench", time=wrench.time + delay, values=wrench.values)
    all_samples = identify_payload(run, robot, delay=delay)
    problem = problems.problem_from_recording(run, robot, delay=delay)
    monkeypatch.setattr(problems, "MOST_SAMPLES", 1000)
    averaged = problems.problem_from_recording(run, robot, delay=delay)
    assert (problem.averaged, averaged.averaged) == (1, 2)
    count = averaged.num_samples
    np.testing.assert_allclose(averaged.y, problem.y[: 2 * count].reshape(count, 2, 6).mean(axis=1), atol=1e-12)
    np.testing.assert_allclose(averaged.A, problem.A[: 2 * count].reshape(count, 2, 6, 10).mean(axis=1), atol=1e-6)
    found = identify_payload(run, robot, delay=delay)
    assert found.samples == 2 * count
    # Of the slowest noise there is little, whose power is estimated in each by itself.
    np.testing.assert_allclose(found.standard_deviation.phi, all_samples.standard_deviation.phi, rtol=0.25)
    assert (np.abs(found.phi - all_samples.phi) < 0.5 * all_samples.standard_deviation.phi).all()


@pytest.mark.thorough
def test_a_drifting_sensor_is_covered(robot: iparam.Robot, phi: np.ndarray) -> None:
    drifting = recorded(robot, phi, rest=20.0, noise="harsh")
    found = identify_payload(drifting, robot, delay=0.004)
    assert found.refutation is None
    assert np.abs(deviations(found, phi)).max() < 4.0

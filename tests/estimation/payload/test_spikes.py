"""Spikes are left out, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation import identify_payload
from iparam.estimation.payload.spikes import MOST, without_spikes
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording, Signal
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.sensing.noise import noise_preset

TRAJECTORY = Path(__file__).resolve().parents[2] / "data" / "optimized_ur5e.json"


@pytest.fixture(scope="module")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur5e")


@pytest.fixture(scope="module")
def motion() -> MotionEstimate:
    trajectory = iparam.load_trajectory(TRAJECTORY).trajectory
    moved = trajectory.evaluate(np.arange(0.0, trajectory.duration, 0.002))
    return MotionEstimate(moved.time, moved.q, moved.dq, moved.ddq)


def recorded(robot: iparam.Robot, motion: MotionEstimate, seed: int = 0, noise: str = "ur5e") -> Recording:
    box = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2))
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ box.phi
    exact = Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
    return noise_preset(noise).apply(exact.with_signal("wrench", time=motion.time, values=wrench), seed)


def spiked(wrench: Signal, rows: np.ndarray, size: float, seed: int = 0) -> Signal:
    """With a spike of +-size [N], or a tenth of it [N m], in one channel of each of ``rows``."""
    random, values = np.random.default_rng(seed), wrench.values.copy()
    channels = random.integers(0, 6, rows.size)
    values[rows, channels] += random.choice([-1.0, 1.0], rows.size) * np.where(channels < 3, size, 0.1 * size)
    return Signal(wrench.time, values, wrench.unit, wrench.frame)


def one_in_a_hundred(wrench: Signal, seed: int = 0) -> np.ndarray:
    return np.flatnonzero(np.random.default_rng(seed).random(wrench.num_samples) < 0.01)


def test_spikes_cost_no_more_than_the_samples_that_have_them(robot: iparam.Robot, motion: MotionEstimate) -> None:
    run = recorded(robot, motion)
    wrench = run.signal("wrench")
    rows = one_in_a_hundred(wrench)
    found = identify_payload(run.with_signal("wrench", spiked(wrench, rows, 50.0)), robot)
    kept = np.setdiff1d(np.arange(wrench.num_samples), rows)
    less = identify_payload(run.with_signal("wrench", time=wrench.time[kept], values=wrench.values[kept]), robot)
    np.testing.assert_array_equal(found.phi, less.phi)
    np.testing.assert_array_equal(found.standard_deviation.phi, less.standard_deviation.phi)
    (said,) = (one for one in found.remarks if one.code == "wrench-spikes")
    assert (said.values["count"], said.values["samples"]) == (rows.size, wrench.num_samples)
    assert not said.lowers


@pytest.mark.parametrize("every", [1, 5, 25], ids=["500 Hz", "100 Hz", "20 Hz"])
@pytest.mark.parametrize("noise", ["ideal", "ur5e", "harsh"])
def test_sound_data_stay_as_they_are(robot: iparam.Robot, motion: MotionEstimate, noise: str, every: int) -> None:
    for seed in range(5):
        wrench = recorded(robot, motion, seed, noise).signal("wrench")
        wrench = Signal(wrench.time[::every], wrench.values[::every])
        kept, said = without_spikes(wrench, motion, robot, STANDARD_GRAVITY)
        assert kept is wrench
        assert said == ()


@pytest.mark.parametrize("every", [1, 5, 25], ids=["500 Hz", "100 Hz", "20 Hz"])
def test_spikes_are_found_at_any_rate(robot: iparam.Robot, motion: MotionEstimate, every: int) -> None:
    wrench = recorded(robot, motion).signal("wrench")
    wrench = Signal(wrench.time[::every], wrench.values[::every])
    rows = one_in_a_hundred(wrench, seed=3)
    kept, _ = without_spikes(spiked(wrench, rows, 50.0), motion, robot, STANDARD_GRAVITY)
    np.testing.assert_array_equal(kept.time, np.delete(wrench.time, rows))


def test_a_touch_a_jump_and_a_habit_are_no_spikes(robot: iparam.Robot, motion: MotionEstimate) -> None:
    wrench = recorded(robot, motion).signal("wrench")
    touched, jumped = wrench.values.copy(), wrench.values.copy()
    touched[2300:2350] += 30.0 * np.sin(np.linspace(0.0, np.pi, 50))[:, None]
    jumped[3000:] += [20.0, -20.0, 30.0, 1.0, -1.0, 0.5]
    often = np.flatnonzero(np.random.default_rng(0).random(wrench.num_samples) < 1.5 * MOST)
    for odd in (Signal(wrench.time, touched), Signal(wrench.time, jumped), spiked(wrench, often, 50.0)):
        kept, said = without_spikes(odd, motion, robot, STANDARD_GRAVITY)
        assert kept is odd
        assert said == ()


@pytest.mark.parametrize("share", [0.1, 0.25, 0.6])
def test_a_sensor_at_its_limit_has_no_spikes(robot: iparam.Robot, motion: MotionEstimate, share: float) -> None:
    """Where a channel stands still, whatever it does otherwise would stand out."""
    wrench = recorded(robot, motion).signal("wrench")
    limit = share * np.array([np.abs(wrench.values[:, :3]).max()] * 3 + [np.abs(wrench.values[:, 3:]).max()] * 3)
    limited = Signal(wrench.time, np.clip(wrench.values, -limit, limit))
    assert without_spikes(limited, motion, robot, STANDARD_GRAVITY) == (limited, ())


def test_a_load_that_spikes_hide_is_seen_in_the_end(robot: iparam.Robot, motion: MotionEstimate) -> None:
    """Spikes that are so large that the first fit has nothing to do with the load."""
    wrench = recorded(robot, motion).signal("wrench")
    rows = one_in_a_hundred(wrench, seed=1)
    kept, _ = without_spikes(spiked(wrench, rows, 1e7), motion, robot, STANDARD_GRAVITY)
    np.testing.assert_array_equal(kept.time, np.delete(wrench.time, rows))


def test_a_short_run_is_left_alone(robot: iparam.Robot, motion: MotionEstimate) -> None:
    wrench = recorded(robot, motion).signal("wrench")
    short = spiked(Signal(wrench.time[:40], wrench.values[:40]), np.array([10, 20]), 50.0)
    assert without_spikes(short, motion, robot, STANDARD_GRAVITY) == (short, ())

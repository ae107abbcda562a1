"""Errors of the angles that last are not taken for motion, or not without a word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.motion import KalmanMotion
from iparam.motion.choice.process_choice import choose_processes, highest_bandwidth
from iparam.recording import Recording

DATA = Path(__file__).resolve().parents[2] / "data"
TIME = np.arange(6000) / 1000.0


@pytest.fixture(scope="module")
def q() -> np.ndarray:
    return np.asarray(iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory.evaluate(TIME + 2.0).q)


@pytest.mark.parametrize("rows", [2, 4])
def test_joints_that_are_read_in_turn_are_not_taken_for_exact(q: np.ndarray, rows: int) -> None:
    """Every fourth row, as models are compared on at 1 kHz, shows samples of one age, and no error at all."""
    number = np.arange(TIME.size)
    held = np.stack([q[np.maximum((number - j) // rows * rows + j, 0), j] for j in range(6)], axis=1)
    for process in choose_processes(TIME, held):
        assert process.bandwidth < 5.0


def test_the_steps_of_rounded_angles_are_no_motion(q: np.ndarray) -> None:
    slow = np.round((q[0] + 5e-3 * (q - q[0])) / 1e-3) * 1e-3
    for process in choose_processes(TIME, slow):
        assert process.noise >= 0.999e-3 / np.sqrt(12.0)
        assert process.bandwidth < 5.0


def test_errors_that_last_are_told_when_nothing_else_judges_the_motion(q: np.ndarray) -> None:
    """Noise of every fifth sample, interpolated, as of a log that was brought to another rate."""
    noise = 1e-3 * np.random.default_rng(0).standard_normal((6, 1200))
    lasting = np.stack([np.interp(TIME, TIME[::5], each) for each in noise], axis=1)
    found = KalmanMotion().motion(Recording("ur5e").with_signal("q", time=TIME, values=q + lasting), _robot())
    assert (found.remarks[0].code, found.remarks[0].fix) == ("bandwidth-at-limit", {"motion": "butterworth"})
    white = q + 5e-5 * np.random.default_rng(0).standard_normal(q.shape)
    assert KalmanMotion().motion(Recording("ur5e").with_signal("q", time=TIME, values=white), _robot()).remarks == ()


def test_angles_that_are_next_to_exact_may_have_the_highest_bandwidth(q: np.ndarray) -> None:
    """A few samples a second of a sensor without noise: the models differ from the motion by more than it does."""
    few = Recording("ur5e").with_signal("q", time=TIME[::40], values=q[::40])
    found = KalmanMotion().motion(few, _robot())
    assert max(process.bandwidth for process in found.processes) > 0.99 * highest_bandwidth(TIME[::40])
    assert found.remarks == ()


def _robot() -> iparam.Robot:
    return iparam.load_robot("ur5e")

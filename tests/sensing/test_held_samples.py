"""Repeated readings are left out where the sensor is slower than the log, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation import identify_payload
from iparam.motion.motion import MotionEstimate
from iparam.recording import Recording, Signal
from iparam.sensing.held_samples import without_repeats
from iparam.sensing.noise import noise_preset

TRAJECTORY = Path(__file__).resolve().parents[1] / "data" / "optimized_ur5e.json"


@pytest.fixture(scope="module")
def motion() -> MotionEstimate:
    trajectory = iparam.load_trajectory(TRAJECTORY).trajectory
    moved = trajectory.evaluate(np.arange(0.0, trajectory.duration, 0.002))
    return MotionEstimate(moved.time, moved.q, moved.dq, moved.ddq)


@pytest.fixture(scope="module")
def recording(motion: MotionEstimate) -> Recording:
    box = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2))
    wrench = iparam.wrench_regressor(iparam.load_robot("ur5e"), motion.q, motion.dq, motion.ddq) @ box.phi
    exact = Recording(robot="ur5e").with_signal("q", time=motion.time, values=motion.q)
    return noise_preset("ur5e").apply(exact.with_signal("wrench", time=motion.time, values=wrench), 1)


def held(wrench: Signal, every: int) -> Signal:
    return Signal(wrench.time, wrench.values[np.arange(wrench.num_samples) // every * every], wrench.unit, wrench.frame)


@pytest.mark.parametrize("every", [2, 8, 40])
def test_a_slow_sensor_in_a_fast_log_is_a_slow_sensor(recording: Recording, every: int) -> None:
    wrench = recording.signal("wrench")
    found = identify_payload(recording.with_signal("wrench", held(wrench, every)))
    alone = identify_payload(recording.with_signal("wrench", time=wrench.time[::every], values=wrench.values[::every]))
    np.testing.assert_array_equal(found.phi, alone.phi)
    count = len(wrench.time[::every])
    (said,) = [one.values for one in found.remarks if one.code == "wrench-repeats"]
    assert (said["new"], said["samples"]) == (count, wrench.num_samples)


def test_a_dead_channel_does_not_hide_it(recording: Recording, motion: MotionEstimate) -> None:
    values = held(recording.signal("wrench"), 8).values.copy()
    values[:, 2] = 0.0
    kept, said = without_repeats(Signal(motion.time, values), motion)
    np.testing.assert_array_equal(kept.time, motion.time[::8])
    assert said


@pytest.mark.parametrize("quantum", [0.0, 0.5, 8.0])
def test_noisy_and_rounded_data_stay_as_they_are(recording: Recording, motion: MotionEstimate, quantum: float) -> None:
    """With steps of 8 N nearly half of the samples repeat the one before: each channel in its own time."""
    values = recording.signal("wrench").values
    rounded = Signal(motion.time, np.round(values / quantum) * quantum if quantum else values)
    assert without_repeats(rounded, motion) == (rounded, ())


def test_an_arm_at_rest_repeats_itself(recording: Recording, motion: MotionEstimate) -> None:
    """Without noise, and with a few readings lost on the way."""
    values = recording.signal("wrench").values.copy()
    values[100:-1:10] = values[99:-2:10]
    rest = np.repeat(values[-1:], 20_000, axis=0)
    time = np.concatenate([motion.time, motion.time[-1] + 0.002 * np.arange(1, 20_001)])
    wrench = Signal(time, np.concatenate([values, rest]))
    still = np.zeros((20_000, 6))
    longer = MotionEstimate(
        time,
        np.concatenate([motion.q, still + motion.q[-1]]),
        np.concatenate([motion.dq, still]),
        np.concatenate([motion.ddq, still]),
    )
    assert without_repeats(wrench, longer) == (wrench, ())


def test_a_sensor_that_says_nothing_is_left_to_others(motion: MotionEstimate) -> None:
    stuck = Signal(motion.time, np.ones((motion.num_samples, 6)))
    assert without_repeats(stuck, motion) == (stuck, ())

"""Samples that a log repeats or stamps late are told from those that rest, are rounded or were taken unevenly."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.motion.angle_samples import evenly_stamped, fresh_samples, resolution
from iparam.recording import Recording, Signal
from iparam.trajectory import WindowedFourierTrajectory

RATE = 250.0
TIME = np.arange(2000) / RATE


@pytest.fixture(scope="module")
def moving() -> WindowedFourierTrajectory:
    a, b = np.random.default_rng(2).normal(scale=0.2, size=(2, 6, 5))
    return WindowedFourierTrajectory(np.array([0, -1.2, 1.4, -1.6, -1.4, 0]), a, b, 0.125, 8.0)


def angles(moving: WindowedFourierTrajectory, time: np.ndarray, noise: float = 5e-5) -> np.ndarray:
    q = moving.evaluate(time).q
    return np.asarray(q + noise * np.random.default_rng(1).standard_normal(q.shape))


@pytest.mark.parametrize("quantum", [0.0, 1e-4])
def test_rows_that_a_slower_sensor_repeats_are_left_out(moving: WindowedFourierTrajectory, quantum: float) -> None:
    q = angles(moving, TIME)
    q = np.round(q / quantum) * quantum if quantum else q
    held = q[5 * (np.arange(2000) // 5)]
    found, said = fresh_samples(Signal(TIME, held))
    first = np.isin(np.arange(2000), 5 * np.arange(400))
    kept = np.isin(TIME, found.time)
    assert kept[first].all()
    fast = np.abs(moving.evaluate(TIME).dq).max(axis=1) / RATE > 4e-4
    fast[-5:] = False
    assert not kept[fast & ~first].any()
    values_said = {"count": 2000 - found.num_samples, "rows": 2000}
    assert (said[0].code, said[0].values) == ("rows-repeat-angles", values_said)


def test_rounded_angles_of_a_slow_motion_are_no_repeats(moving: WindowedFourierTrajectory) -> None:
    slow = moving.time_scaled(20.0)
    signal = Signal(TIME, np.round(slow.evaluate(TIME).q / 1e-3) * 1e-3)
    assert (np.diff(signal.values, axis=0) == 0.0).all(axis=1).sum() > 300
    assert fresh_samples(signal) == (signal, ())


def test_an_arm_that_rests_between_motions_is_no_slow_sensor(moving: WindowedFourierTrajectory) -> None:
    q = moving.evaluate(TIME).q
    rest = np.repeat(q[-1:], 700, axis=0)
    values = np.concatenate([rest, q, rest, q, rest])
    signal = Signal(np.arange(len(values)) / RATE, values)
    assert fresh_samples(signal)[0].num_samples == len(values)


def test_a_single_row_that_was_sent_twice_goes(moving: WindowedFourierTrajectory) -> None:
    q = angles(moving, TIME)
    q[1000] = q[999]
    found, said = fresh_samples(Signal(TIME, q))
    assert np.array_equal(np.delete(TIME, 1000), found.time)
    assert (said[0].code, said[0].values) == ("rows-repeat-angles", {"count": 1, "rows": 2000})


@pytest.mark.parametrize("quantum", [0.0, 1e-4])
def test_joints_that_are_refreshed_in_turn_are_read_off_their_own_samples(
    moving: WindowedFourierTrajectory, quantum: float
) -> None:
    q = angles(moving, TIME)
    q = np.round(q / quantum) * quantum if quantum else q
    rows = np.arange(2000)
    held = np.column_stack([q[np.maximum(6 * ((rows - joint) // 6) + joint, 0), joint] for joint in range(6)])
    found, said = fresh_samples(Signal(TIME, held))
    inner = (found.time > 0.1) & (found.time < 7.9)  # an arm that has stopped may as well be held
    errors = (found.values - moving.evaluate(found.time).q)[inner]
    assert np.sqrt(np.mean(errors**2)) < 1.3 * max(5e-5, quantum / 2.0)
    fast = (TIME > 1.0) & (TIME < 7.0)
    assert np.isin(TIME[fast], found.time).mean() == pytest.approx(1.0 / 6.0, abs=0.02)
    assert (said[-1].code, said[-1].values["joints"]) == ("joints-repeat-angles", "1, 2, 3, 4, 5, 6")


def test_one_slow_joint_leaves_the_others_what_they_are(moving: WindowedFourierTrajectory) -> None:
    q = angles(moving, TIME)
    held = q.copy()
    held[:, 2] = q[3 * (np.arange(2000) // 3), 2]
    found, said = fresh_samples(Signal(TIME, held))
    assert np.array_equal(np.delete(found.values, 2, axis=1), np.delete(q[np.isin(TIME, found.time)], 2, axis=1))
    assert (said[0].code, said[0].values["joints"]) == ("joints-repeat-angles", "3")


def test_noise_of_a_few_steps_repeats_angles_by_chance(moving: WindowedFourierTrajectory) -> None:
    for noise in (1e-4, 3e-4):
        signal = Signal(TIME, np.round(angles(moving, TIME, noise) / 1e-4) * 1e-4)
        assert (np.diff(signal.values, axis=0) == 0.0).mean() > 0.03
        assert fresh_samples(signal) == (signal, ())


def test_the_resolution_is_the_step_of_whole_multiples(moving: WindowedFourierTrajectory) -> None:
    q = angles(moving, TIME)
    assert np.allclose(resolution(0.3 + np.round(q / 1e-3) * 1e-3), 1e-3, rtol=1e-9)
    assert np.allclose(resolution(np.radians(np.round(np.degrees(q), 2))), np.radians(0.01), rtol=1e-9)
    assert (resolution(q) == 0.0).all()
    assert (resolution(np.zeros((10, 2))) == 0.0).all()


def late(moving: WindowedFourierTrajectory, jitter: float) -> tuple[np.ndarray, Recording]:
    stamps = np.sort(TIME + jitter * np.random.default_rng(5).standard_normal(TIME.size))
    made = Recording("ur5e").with_signal("q", time=stamps, values=angles(moving, TIME))
    made = made.with_signal("wrench", time=stamps, values=np.ones((2000, 6)))
    return stamps, made.with_signal("gyro", time=TIME, values=np.ones((2000, 3)))


@pytest.mark.parametrize("jitter", [3e-4, 1e-3, 5e-3])
def test_stamps_that_are_late_go_to_an_even_clock(moving: WindowedFourierTrajectory, jitter: float) -> None:
    stamps, made = late(moving, jitter)
    found, said = evenly_stamped(made)
    assert [one.code for one in said] == ["stamps-scatter"]
    off = found.signal("q").time - TIME
    assert np.std(off) < 0.2 * np.std(stamps - TIME)
    assert np.array_equal(found.signal("wrench").time, found.signal("q").time)
    assert np.array_equal(found.signal("gyro").time, TIME)
    assert np.array_equal(found.signal("q").values, made.signal("q").values)


def test_rows_that_are_missing_stay_missing_on_the_even_clock(moving: WindowedFourierTrajectory) -> None:
    stamps, made = late(moving, 6e-4)
    kept = np.sort(np.random.default_rng(6).permutation(2000)[:1900])
    some = Recording("ur5e").with_signal("q", time=stamps[kept], values=made.signal("q").values[kept])
    found, said = evenly_stamped(some)
    assert said
    assert np.std(found.signal("q").time - TIME[kept]) < 0.2 * np.std(stamps - TIME)


@pytest.mark.parametrize("jump", [0.2, 5.0])
def test_a_clock_that_jumps_while_the_arm_goes_on_is_put_back(moving: WindowedFourierTrajectory, jump: float) -> None:
    stamps, made = late(moving, 3e-4)
    jumped = stamps + jump * (np.arange(2000) >= 800)
    run = Recording("ur5e").with_signal("q", time=jumped, values=made.signal("q").values)
    found, said = evenly_stamped(run)
    assert said[0].code == "clock-jumps"
    assert said[0].values["seconds"] == pytest.approx(jump, rel=1e-2)
    assert np.std(found.signal("q").time - TIME) < 0.2 * np.std(stamps - TIME)
    beside = run.with_signal("gyro", time=TIME, values=np.ones((2000, 3)))  # which would be left behind
    assert evenly_stamped(beside)[0].duration == pytest.approx(run.duration, abs=1e-3)


def test_a_gap_in_a_motion_is_no_jump_of_the_clock(moving: WindowedFourierTrajectory) -> None:
    stamps, made = late(moving, 3e-4)
    kept = np.r_[0:800, 1000:2000]
    run = Recording("ur5e").with_signal("q", time=stamps[kept], values=made.signal("q").values[kept])
    found, _ = evenly_stamped(run)
    assert np.std(found.signal("q").time - TIME[kept]) < 0.3 * np.std(stamps - TIME)


def test_a_clock_whose_rate_changes_is_followed(moving: WindowedFourierTrajectory) -> None:
    taken = 0.05 + 0.98 * TIME + 0.02 * np.sin(2.0 * np.pi * TIME / 20.0)
    stamps = np.sort(taken + 1e-3 * np.random.default_rng(5).standard_normal(TIME.size))
    found, said = evenly_stamped(Recording("ur5e").with_signal("q", time=stamps, values=angles(moving, taken)))
    assert said
    assert np.std(found.signal("q").time - taken) < 0.3e-3


@pytest.mark.parametrize("jitter", [0.0, 1e-3])
def test_stamps_that_are_right_stay(moving: WindowedFourierTrajectory, jitter: float) -> None:
    stamps = np.sort(np.clip(TIME + jitter * np.random.default_rng(5).standard_normal(TIME.size), 0.0, 8.0))
    stamps += 1e-9 * np.arange(2000)
    made = Recording("ur5e").with_signal("q", time=stamps, values=angles(moving, stamps))
    assert evenly_stamped(made) == (made, ())

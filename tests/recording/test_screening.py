"""Samples in which nothing was measured go; what a sensor can have measured stays."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.recording.screening import some_angles_from_degrees, turns_taken_out, without_dropouts
from iparam.recording.signal import Signal
from iparam.robot import load_robot

TIME = np.arange(600) / 100.0
ANGLES = 0.8 + np.sin(np.outer(TIME, [1.0, 0.7, 1.3, 2.0]))
NOISY = 20.0 + np.random.default_rng(0).normal(size=(TIME.size, 6))


def dropped(values: np.ndarray, number: float, first: int, after: int) -> Signal:
    values = values.copy()
    values[first:after] = number
    return Signal(TIME, values)


@pytest.mark.parametrize("number", [0.0, -999.0])
@pytest.mark.parametrize(("first", "after"), [(0, 30), (100, 140), (300, 301), (580, 600)])
def test_rows_of_one_number_are_no_samples(number: float, first: int, after: int) -> None:
    signals = {"q": dropped(ANGLES, number, first, after), "wrench": dropped(NOISY, number, first, after)}
    found, notes = without_dropouts(signals)
    kept = np.r_[0:first, after:600]
    np.testing.assert_array_equal(found["q"].values, ANGLES[kept])
    np.testing.assert_array_equal(found["wrench"].values, NOISY[kept])
    assert len(notes) == 2
    values = {"signal": "q", "value": number, "count": after - first, "first": TIME[first]}
    assert [(one.code, one.values) for one in notes[:1]] == [("signal-dropped-out", values)]


def test_what_a_sensor_can_show_is_left_alone() -> None:
    at_rest = np.where(TIME[:, None] < 3.0, 0.0, (TIME[:, None] - 3.0) * [0.3, 0.2, 0.1])  # begins to move
    signals = {
        "dq": Signal(TIME, at_rest),
        "tau": Signal(TIME, np.zeros((TIME.size, 3))),  # never anything else
        "q": Signal(TIME, ANGLES),
        "reading": dropped(NOISY[:, :2], 0.0, 100, 140),  # two numbers may be the same
    }
    found, notes = without_dropouts(signals)
    assert notes == []
    assert all(found[name] is signal for name, signal in signals.items())


def test_a_signal_that_leaps_by_itself_drops_out_with_the_others() -> None:
    torque = 30.0 * np.sign(np.sin(np.outer(TIME, [9.0, 11.0, 13.0])))
    signals = {"q": dropped(ANGLES, 0.0, 200, 202), "tau": dropped(torque, 0.0, 200, 202)}
    found, _ = without_dropouts(signals)
    assert found["tau"].num_samples == TIME.size - 2


def test_an_angle_that_holds_zero_was_not_measured() -> None:
    rows = np.arange(7, 600, 40)
    values = ANGLES.copy()
    values[rows, 2] = 0.0
    found, notes = without_dropouts({"q": Signal(TIME, values)})
    far = rows[np.abs(ANGLES[rows, 2]) > 0.2]  # where the joint itself is near zero, it may be one
    assert far.size > 8
    assert not np.isin(TIME[far], found["q"].time).any()
    assert found["q"].num_samples >= TIME.size - rows.size
    assert [one.values["signal"] for one in notes] == ["q"]
    through = ANGLES - ANGLES[300]  # which passes through zero
    assert without_dropouts({"q": Signal(TIME, through)})[1] == []


def test_whole_turns_are_taken_out() -> None:
    counted, wrapped = ANGLES.copy(), ANGLES.copy()
    counted[350:, 1] += 2.0 * np.pi
    wrapped[:, 3] = np.mod(ANGLES[:, 3], 2.0 * np.pi)
    robot = load_robot("panda")
    for values in (counted, wrapped):
        found, (said,) = turns_taken_out({"q": Signal(TIME, values)}, None)
        steps = np.abs(np.diff(found["q"].values, axis=0))
        assert steps.max() < 0.1
        assert said.code == "turns-taken-out"
        off = (found["q"].values - ANGLES) / (2.0 * np.pi)
        np.testing.assert_allclose(off, np.rint(off), atol=1e-9)
    bounded = np.pad(ANGLES, ((0, 0), (0, 3)))
    bounded[:, 3] -= 2.0  # between the limits of -3.07 and -0.07
    jumping = bounded.copy()
    jumping[100:, 3] += 2.0 * np.pi
    found, _ = turns_taken_out({"q": Signal(TIME, jumping)}, robot)
    np.testing.assert_allclose(found["q"].values, bounded, atol=1e-9)
    for sound in (ANGLES, np.degrees(ANGLES), np.round(TIME[:, None] * 40.0)):  # degrees, and a counter of steps
        assert turns_taken_out({"q": Signal(TIME, sound)}, None)[1] == []


def test_degrees_in_some_joints() -> None:
    robot, rng = load_robot("ur5e"), np.random.default_rng(3)
    angles = 1.2 * np.sin(np.outer(TIME, [1.0, 0.7, 1.3, 2.0, 0.4, 0.9])) + rng.normal(0.0, 1e-4, (TIME.size, 6))
    mixed = np.hstack([angles[:, :3], np.degrees(angles[:, 3:])])
    found, (said,) = some_angles_from_degrees({"q": Signal(TIME, mixed)}, robot)
    np.testing.assert_allclose(found["q"].values, angles, atol=1e-9)
    assert said.values["joints"] == "4, 5, 6"
    still = angles * [1.0, 1.0, 1.0, 1.0, 0.01, 1.0] + rng.normal(0.0, 1e-4, (TIME.size, 6))
    for other in (angles, np.degrees(still)):  # nothing, or all of them, one of which hardly moves
        found, notes = some_angles_from_degrees({"q": Signal(TIME, other)}, robot)
        assert found["q"].values is other or np.array_equal(found["q"].values, other)
        assert notes == []

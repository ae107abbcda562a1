"""Samples in which nothing was measured go; what a sensor can have measured stays."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.recording.screening import without_dropouts
from iparam.recording.signal import Signal

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

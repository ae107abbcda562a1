"""Sensor samples fall on steps of the physics, and their times are those of the steps."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iparam.errors import InputError
from iparam.simulation import ComputedTorque, SensorRates


def test_rates_that_divide_give_every_nth_step() -> None:
    np.testing.assert_array_equal(SensorRates.all_at(500.0).steps(2000.0, 20)["wrench"], np.arange(0, 21, 4))


def test_the_rates_of_the_document() -> None:
    np.testing.assert_array_equal(SensorRates.all_at(100.0).steps(240.0, 12)["joints"], [0, 2, 5, 7, 10, 12])


@given(physics=st.floats(10.0, 1e4), share=st.floats(0.01, 1.0), last=st.integers(0, 5000))
def test_samples_are_nearest_and_never_repeat(physics: float, share: float, last: int) -> None:
    rate = physics * share
    steps = SensorRates.all_at(rate).steps(physics, last)["imu"]
    assert steps[0] == 0
    assert steps[-1] <= last
    assert (np.diff(steps) > 0).all()
    assert np.abs(steps / physics - np.arange(steps.size) / rate).max() <= 0.5 / physics * (1.0 + 1e-9)


@pytest.mark.parametrize("rate", [0.0, -1.0, np.inf, np.nan])
def test_refusals(rate: float) -> None:
    with pytest.raises(InputError, match="sensor_rate"):
        SensorRates.all_at(rate)


def test_the_controller_slows_down_with_the_physics() -> None:
    stiffness, damping = ComputedTorque().gains(1.0 / 2000.0)
    assert stiffness == pytest.approx((2.0 * np.pi * 50.0) ** 2)
    assert damping == pytest.approx(2.0 * 2.0 * np.pi * 50.0)
    slow, _ = ComputedTorque().gains(1.0 / 240.0)
    assert np.sqrt(slow) / 240.0 == pytest.approx(0.4)

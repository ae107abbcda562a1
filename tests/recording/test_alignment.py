"""Alignment of streams of different rates, and the delay between motion and wrench."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iparam
from iparam.errors import InputError, UnknownNameError
from iparam.motion import estimate_delay
from iparam.recording import Recording, Signal, align
from iparam.trajectory import WindowedFourierTrajectory

PHI = np.array([2.0, 0.06, -0.04, 0.2, 0.03, 0.002, -0.001, 0.04, 0.003, 0.02])


def two_rates() -> Recording:
    fast, slow = np.arange(1000) / 500, 0.05 + np.arange(100) / 60
    made = Recording().with_signal("q", time=fast, values=np.sin(4 * fast)[:, None])
    return made.with_signal("wrench", time=slow, values=np.cos(4 * slow)[:, None] * np.ones(6))


def test_signals_meet_at_the_stamps_of_the_first() -> None:
    made = two_rates()
    found = align(made, ["wrench", "q"])
    assert np.array_equal(found.time, made.signal("wrench").time)
    assert np.array_equal(found["wrench"], made.signal("wrench").values)
    assert np.abs(found["q"][:, 0] - np.sin(4 * found.time)).max() < 1e-8
    assert found.remarks == ()
    with pytest.raises(UnknownNameError, match="wrench, q"):
        found["tau"]


def test_a_common_rate_covers_the_common_time() -> None:
    found = align(two_rates(), ["q", "wrench"], rate=100.0)
    assert found.time[0] == 0.05
    assert found.time[-1] <= two_rates().signal("wrench").time[-1]
    assert np.allclose(np.diff(found.time), 0.01)
    assert np.abs(found["wrench"][:, 0] - np.cos(4 * found.time)).max() < 1e-5
    rough = align(two_rates(), ["q", "wrench"], rate=100.0, method="linear")
    assert 1e-5 < np.abs(rough["wrench"][:, 0] - np.cos(4 * rough.time)).max() < 1e-3


@settings(max_examples=40, deadline=None)
@given(coefficients=st.lists(st.floats(-3, 3), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_cubic_motion_is_aligned_exactly(coefficients: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = np.polynomial.Polynomial(coefficients)
    stamps = np.cumsum(rng.uniform(0.9, 1.1, 30))
    made = Recording().with_signal("custom", Signal(stamps, p(stamps)))
    times = np.sort(rng.uniform(stamps[0], stamps[-1], 50))
    found = align(made, ["custom"], times=times)
    assert np.allclose(found["custom"][:, 0], p(times), rtol=1e-9, atol=1e-7)


def test_nothing_is_extrapolated_or_made_up_in_gaps() -> None:
    stamps = np.concatenate([np.arange(0, 1, 0.01), np.arange(2, 3, 0.01)])
    made = Recording().with_signal("custom", Signal(stamps, stamps**2))
    found = align(made, ["custom"], times=np.linspace(-1, 4, 501))
    assert ((found.time <= 0.99) | (found.time >= 2)).all()
    assert np.allclose(found["custom"][:, 0], found.time**2)
    assert [one.code for one in found.remarks] == ["times-not-covered", "samples-in-gaps"]
    assert found.remarks[1].values["signal"] == "custom"


def test_what_align_refuses() -> None:
    made = two_rates()
    for names, options, message in (
        ([], {}, "at least one"),
        (["q"], {"rate": 1.0, "times": [0.0]}, "not both"),
        (["q"], {"rate": 0.0}, "positive"),
        (["q"], {"times": [1.0, 0.5]}, "increasing"),
    ):
        with pytest.raises(InputError, match=message):
            align(made, names, **options)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="cubic, linear"):
        align(made, ["q"], method="sinc")  # type: ignore[arg-type]
    apart = made.with_signal("gyro", time=[1e6, 1e6 + 1], values=np.zeros((2, 3)))
    with pytest.raises(InputError, match="two clocks"):
        align(apart, ["q", "gyro"])


def loaded_motion(delay: float, seed: int, wrench_rate: float = 500.0, noisy: bool = True) -> Recording:
    """A load on an excited arm; the wrench of time t is stamped t + delay."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(scale=0.4, size=(2, 6, 5))
    family = WindowedFourierTrajectory(np.array([0, -1.2, 1.4, -1.6, -1.4, 0]), a, b, 0.1, 10.0)
    joints, sensor = family.sample(500.0), family.sample(wrench_rate)
    wrench = iparam.wrench_regressor(iparam.load_robot("ur5e"), sensor.q, sensor.dq, sensor.ddq) @ PHI
    wrench += [1.5, -1.0, 0.5, 0.05, -0.08, 0.02]
    q = joints.q
    if noisy:
        q = q + rng.normal(scale=5e-5, size=q.shape)
        wrench = wrench + rng.normal(size=wrench.shape) * [0.5, 0.5, 0.5, 0.05, 0.05, 0.05]
    made = Recording("ur5e").with_signal("q", time=joints.time, values=q)
    return made.with_signal("wrench", time=sensor.time + delay, values=wrench)


@pytest.mark.parametrize(("delay", "rate"), [(0.008, 500.0), (-0.0031, 125.0), (0.0, 500.0), (0.0457, 240.0)])
def test_a_delay_is_found_with_an_unknown_load(delay: float, rate: float) -> None:
    found = estimate_delay(loaded_motion(delay, seed=3, wrench_rate=rate), iparam.load_robot("ur5e"))
    assert abs(found.seconds - delay) < 0.5e-3
    assert abs(found.seconds - delay) < 4 * found.standard_deviation
    assert found.standard_deviation < 0.5e-3


@pytest.mark.thorough
def test_the_stated_spread_of_the_delay_is_honest() -> None:
    robot = iparam.load_robot("ur5e")
    found = [estimate_delay(loaded_motion(0.008, seed), robot, max_delay=0.02) for seed in range(6)]
    normalised = [(delay.seconds - 0.008) / delay.standard_deviation for delay in found]
    assert 0.2 < np.sqrt(np.mean(np.square(normalised))) < 2.0


def test_noise_free_data_give_the_delay_to_microseconds() -> None:
    found = estimate_delay(loaded_motion(0.008, seed=1, noisy=False), iparam.load_robot("ur5e"))
    assert abs(found.seconds - 0.008) < 1e-5


def test_a_delay_that_cannot_be_found() -> None:
    robot = iparam.load_robot("ur5e")
    with pytest.raises(InputError, match="larger than max_delay"):
        estimate_delay(loaded_motion(0.05, seed=1), robot, max_delay=0.02)
    with pytest.raises(InputError, match="max_delay must be positive"):
        estimate_delay(loaded_motion(0.0, seed=1), robot, max_delay=0.0)
    made = loaded_motion(0.0, seed=1)
    short = dataclasses.replace(made, signals={k: s.slice(0, 0.2) for k, s in made.signals.items()})  # type: ignore[misc]
    with pytest.raises(InputError, match="at least 20"):
        estimate_delay(short, robot)

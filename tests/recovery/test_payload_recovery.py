"""Simulate, identify, compare with the truth."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.estimation import accuracy, identify_payload
from iparam.motion.sources import AccelerometerMotion, SetPointMotion
from iparam.recording import Recording, Signal
from iparam.sensing import noise_preset

pytestmark = pytest.mark.recovery

LOADS = ["box of 8.1 kg", "tilted cylinder", "two-stage cylinder", "wedge.obj"]


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("name", LOADS)
def test_ideal_sensors(run, payloads, ur5e, name: str) -> None:
    """The paper's test on physics: real tracking error, no noise."""
    result = run(name)
    estimate = identify_payload(result.recording, ur5e)
    report = accuracy(estimate.phi, payloads[name].parameters.phi)
    assert report.mass_percent <= 0.01
    assert report.center_of_mass_distance <= 0.05e-3
    assert report.inertia_percent.max() <= 0.1
    assert estimate.physically_consistent


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("preset", ["ur5e", "harsh"])
def test_noisy_sensors(run, payloads, ur5e, preset: str) -> None:
    name = "box of 2 kg"
    truth = payloads[name].parameters.phi
    recording = noise_preset(preset).apply(run(name).recording, 5)
    estimate = identify_payload(recording, ur5e, delay=None if preset == "harsh" else 0.0)
    assert (np.abs(estimate.phi - truth) <= 4.0 * estimate.standard_deviation.phi).all()
    assert accuracy(estimate.phi, truth).mass_percent < (0.2 if preset == "ur5e" else 2.0)
    assert estimate.physically_consistent


@pytest.mark.thorough
def test_the_intervals_of_a_drifting_sensor_hold(run, payloads, ur5e) -> None:
    """All faults of the preset at once; with white noise and a constant bias the rms of these is 2.7."""
    truth = payloads["box of 2 kg"].parameters.phi
    scores = []
    for seed in range(3):
        recording = noise_preset("harsh").apply(run("box of 2 kg").recording, seed)
        estimate = identify_payload(recording, ur5e, delay=None)
        assert estimate.refutation is None
        scores.append((estimate.phi - truth)[:4] / estimate.standard_deviation.phi[:4])
        assert estimate.physically_consistent
    assert np.sqrt(np.mean(np.square(scores))) < 1.5
    assert np.abs(scores).max() < 4.0


@pytest.mark.parametrize("source", [SetPointMotion(), AccelerometerMotion()], ids=lambda source: type(source).__name__)
def test_other_sources_of_motion(run, payloads, ur5e, source) -> None:
    name = "box of 2 kg"
    truth = payloads[name].parameters.phi
    recording = noise_preset("ur5e").apply(run(name).recording, 2)
    estimate = identify_payload(recording, ur5e, motion=source)
    assert (np.abs(estimate.phi - truth) <= 4.5 * estimate.standard_deviation.phi).all()
    assert accuracy(estimate.phi, truth).mass_percent < 0.3


def test_zeroed_sensor(run, payloads, ur5e) -> None:
    result = run("box of 2 kg")
    wrench = result.recording.signal("wrench")
    zeroed = result.recording.with_signal("wrench", time=wrench.time, values=wrench.values - wrench.values[0])
    estimate = identify_payload(zeroed, ur5e, bias="zeroed")
    report = accuracy(estimate.phi, payloads["box of 2 kg"].parameters.phi)
    assert report.mass_percent <= 0.01
    assert report.center_of_mass_distance <= 0.05e-3
    assert estimate.sensor_bias is not None
    assert np.abs(estimate.sensor_bias.force).max() < 1e-3, "the zeroing was exact"


@pytest.mark.thorough
def test_the_intervals_of_a_zeroed_sensor_hold(run, payloads, ur5e) -> None:
    """The mean of 50 noisy samples was taken for zero: its error is in every sample after it."""
    name = "box of 2 kg"
    ideal, truth = run(name).recording, payloads[name].parameters.phi
    # A quarter of the samples: the error of the zero is still several times what their noise averages to.
    wrench, angles = (
        Signal(one.time[::4], one.values[::4], one.unit, one.frame) for one in map(ideal.signal, ("wrench", "q"))
    )
    rest, deviation = ideal.signal("wrench").values[0], np.array([0.5] * 3 + [0.05] * 3)
    squares = []
    for seed in range(12):
        random = np.random.default_rng(seed)
        zero = rest + deviation * random.standard_normal((50, 6)).mean(axis=0)
        values = wrench.values - zero + deviation * random.standard_normal(wrench.values.shape)
        q = angles.values + 5e-5 * random.standard_normal(angles.values.shape)
        noisy = Recording("ur5e", metadata={"source": "simulation"}).with_signal(
            "wrench", time=wrench.time, values=values
        )
        noisy = noisy.with_signal("q", time=angles.time, values=q)
        estimate = identify_payload(noisy, ur5e, bias="zeroed")
        squares.append(((estimate.phi - truth) / estimate.standard_deviation.phi) ** 2)
    covered = np.mean(np.array(squares) < 1.96**2)
    assert 0.90 < covered < 0.99
    assert (np.mean(squares, axis=0)[:4] < 2.0).all(), "mass and first moments suffer most from a wrong zero"

"""Identification while the arm moves."""

from __future__ import annotations

import time

import numpy as np
import pytest

from iparam.errors import InputError, UnknownNameError
from iparam.estimation import OnlineIdentifier, OnlineSettings
from iparam.sensing import noise_preset

pytestmark = pytest.mark.recovery

DEVIATION = np.array([0.5] * 3 + [0.05] * 3)


@pytest.mark.parametrize("method", ["rtls", "rls"])
def test_a_short_motion_with_a_zeroed_sensor(run, payloads, ur5e, method: str) -> None:
    """1.5 s planned for the purpose: mass within 1 %, centre of mass within 2 mm at its end."""
    result, truth = run("box of 2 kg", "short_ur5e"), payloads["box of 2 kg"].parameters
    assert result.recording.duration == pytest.approx(1.5)
    ideal = result.recording.signal("wrench").values
    for seed in range(4):
        recording = noise_preset("ur5e").apply(result.recording, seed)
        # Zeroed at rest with the load on: the mean of a tenth of a second before the motion.
        rest = ideal[0] + DEVIATION * np.random.default_rng(seed).standard_normal((50, 6)).mean(axis=0)
        bias = recording.signal("wrench").values.mean(axis=0) - ideal.mean(axis=0)
        identifier, estimate = OnlineIdentifier(ur5e, OnlineSettings(bias="zeroed", method=method)), None
        angles, wrench = recording.signal("q"), recording.signal("wrench")
        for k in range(angles.num_samples):
            estimate = identifier.step(angles.time[k], angles.values[k], wrench.values[k] - bias - rest)
        assert estimate is not None
        assert identifier.restarts == 0
        assert abs(estimate.mass / truth.mass - 1.0) < 0.01
        assert np.linalg.norm(estimate.center_of_mass - truth.center_of_mass) < 2e-3
        assert (estimate.derived_deviation > 0.0).all()


def test_grasp_and_release_are_noticed(run, ur5e, grasp, payloads) -> None:
    stamps, angles, loaded = grasp
    motion = run("box of 2 kg").true_motion
    import iparam

    extra = iparam.InertialParameters.box(1.0, (0.05, 0.05, 0.05)).phi
    more = iparam.wrench_regressor(ur5e, motion.q, motion.dq, motion.ddq) @ extra
    random = np.random.default_rng(0)
    q = angles + 5e-5 * random.standard_normal(angles.shape)
    held = (stamps > 3.0) & (stamps < 6.5)
    y = loaded + more * held[:, None] + DEVIATION * random.standard_normal(loaded.shape)
    identifier, found = OnlineIdentifier(ur5e, OnlineSettings(bias="none")), []
    masses = {}
    for k, stamp in enumerate(stamps):
        before = identifier.restarts
        estimate = identifier.step(stamp, q[k], y[k])
        if identifier.restarts > before:
            found.append(stamp)
        if estimate is not None:
            masses[round(float(stamp), 3)] = (estimate.mass, estimate.derived_deviation[0])
    assert len(found) == 2
    assert 3.0 < found[0] < 3.2
    assert 6.5 < found[1] < 6.7
    for stamp, mass in ((2.9, 2.0), (6.4, 3.0), (9.9, 2.0)):
        value, deviation = masses[stamp]
        assert abs(value - mass) < max(5.0 * deviation, 0.02)
        assert deviation < 0.05


def test_with_an_accelerometer(run, payloads, ur5e) -> None:
    recording = noise_preset("ur5e").apply(run("box of 2 kg").recording, 1)
    identifier, estimate = OnlineIdentifier(ur5e), None
    signals = recording.signals
    for k in range(2500):
        sample = (signals[name].values[k] for name in ("q", "wrench", "accelerometer"))
        estimate = identifier.step(signals["q"].time[k], *sample)
    assert estimate is not None
    assert abs(estimate.mass - 2.0) < 0.02


def test_a_step_is_fast(run, ur5e) -> None:
    """The bound is 0.5 ms of a core's time at the 99th percentile; ten times that here, for shared cores."""
    recording = run("box of 2 kg").recording
    identifier = OnlineIdentifier(ur5e)
    angles, wrench = recording.signal("q"), recording.signal("wrench")
    spent = []
    for k in range(1000):
        start = time.thread_time()
        identifier.step(angles.time[k], angles.values[k], wrench.values[k])
        spent.append(time.thread_time() - start)
    assert np.percentile(spent[100:], 99) < 5e-3


def test_at_rest_nothing_is_claimed(ur5e) -> None:
    identifier, random = OnlineIdentifier(ur5e), np.random.default_rng(0)
    pose = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.3])
    for k in range(300):
        q = pose + 5e-5 * random.standard_normal(6)
        estimate = identifier.step(
            0.002 * k, q, np.array([0.0, 0, 20, 0, 0, 0]) + DEVIATION * random.standard_normal(6)
        )
        if estimate is not None:
            assert estimate.derived_deviation[0] > 0.2 * abs(estimate.mass - 2.0)


def test_refusals(ur5e) -> None:
    with pytest.raises(UnknownNameError):
        OnlineSettings(method="magic")  # type: ignore[arg-type]
    with pytest.raises(InputError):
        OnlineSettings(wrench_deviation=(1.0,))
    identifier = OnlineIdentifier(ur5e)
    identifier.step(0.0, np.zeros(6), np.zeros(6))
    with pytest.raises(InputError, match="later"):
        identifier.step(0.0, np.zeros(6), np.zeros(6))

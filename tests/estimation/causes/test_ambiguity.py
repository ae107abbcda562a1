"""What is estimated along, where another cause that fits as well gives another load, is not trusted alone. What
somebody states is believed (`tests/laws/test_statement_laws.py`), so that the choice is named before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.recording import Recording
from iparam.sensing import Correction

Run = Callable[..., Recording]


def off_by(estimate: iparam.Estimate, load: iparam.InertialParameters) -> float:
    return float(np.max(np.abs(estimate.phi - load.phi) / estimate.standard_deviation.phi))


@pytest.mark.thorough
def test_torques_too_large_may_be_forces_too_small(
    sound_run: Run, robot: iparam.Robot, load: iparam.InertialParameters
) -> None:
    recording = sound_run(edit=lambda w, _: w * np.repeat([1.0, 1.1], 3))
    found = iparam.identify_payload(recording, robot)
    assert found.refutation is not None
    gains = [one for one in found.causes if one.cause == "sensor-gain"]
    assert len(gains) == 2, "both, each with its own correction"
    assert all("do not tell it from sensor-gain (a gain of" in one.sentence for one in gains)
    masses = []
    for cause in gains:
        put_right = iparam.identify_payload(recording, robot, correction=Correction.from_document(cause.fix))
        assert put_right.refutation is None
        masses.append(put_right.mass)
    np.testing.assert_allclose(sorted(masses), [load.mass, 1.1 * load.mass], rtol=0.01)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("correction", [Correction(clock="estimate"), Correction(gravity="estimate")])
def test_a_weaker_gravity_may_be_a_fast_clock(
    correction: Correction, sound_run: Run, robot: iparam.Robot, load: iparam.InertialParameters
) -> None:
    recording = sound_run(gravity=(0.0, 0.0, -8.5))
    found = iparam.identify_payload(recording, robot)
    assert found.refutation is not None
    named = {one.cause: one for one in found.causes}
    assert named["gravity-direction"].fix["gravity"] == pytest.approx((0.0, 0.0, -8.5), abs=0.05)
    assert "do not tell it from gravity-direction (a load of" in named["clock-rate"].sentence
    put_right = iparam.identify_payload(recording, robot, correction=correction)
    assert put_right.assessment["verdict"] != "good"
    assert off_by(put_right, load) < 4.0


def test_one_channel_that_differs_from_five_is_the_wrong_one(
    sound_run: Run, robot: iparam.Robot, load: iparam.InertialParameters
) -> None:
    factors = np.array([1.0, 1.2, 1.0, 1.0, 1.0, 1.0])
    recording = sound_run(edit=lambda w, _: w * factors)
    put_right = iparam.identify_payload(recording, robot, correction=Correction(wrench_scale=tuple(1.0 / factors)))
    assert put_right.assessment["verdict"] == "good"
    assert off_by(put_right, load) < 4.0


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("wrong", ["sensor_offset", "wrench_scale"])
def test_what_takes_over_another_mistake_is_held_against_it(
    wrong: str, sound_run: Run, robot: iparam.Robot, load: iparam.InertialParameters
) -> None:
    """A clock that is fast, of which a place or gains of the sensor explain a part: too much to see the rest."""
    found = iparam.identify_payload(sound_run(clock=1.012), robot, correction=Correction(**{wrong: "estimate"}))
    assert off_by(found, load) < 2.0
    assert {"clock-rate", "gravity-direction"} & {one.cause for one in found.causes}


def test_a_sound_recording_stays_sound_whatever_is_estimated_along(
    sound_run: Run, robot: iparam.Robot, load: iparam.InertialParameters
) -> None:
    for name in ("sensor_rotation", "sensor_offset", "wrench_scale", "gravity", "clock"):
        found = iparam.identify_payload(sound_run(), robot, correction=Correction(**{name: "estimate"}))
        assert off_by(found, load) < 4.0
        assert found.causes == ()


def test_typed_gains_are_known_as_well_as_the_recording_tells(
    sound_run: Run, robot: iparam.Robot, load: iparam.InertialParameters
) -> None:
    recording = sound_run(edit=lambda w, _: w * np.array([1.1, 1.0, 1.0, 1.0, 0.9, 1.15]))
    estimated = iparam.identify_payload(recording, robot, correction=Correction(wrench_scale="estimate"))
    typed = iparam.identify_payload(
        recording, robot, correction=Correction(wrench_scale=estimated.correction.wrench_scale)
    )
    assert off_by(typed, load) < 4.0
    np.testing.assert_allclose(typed.standard_deviation.phi, estimated.standard_deviation.phi, rtol=0.1)
    assert "gains-of-this-run" in [one.code for one in typed.remarks]

"""The doctor: facts about a recording, and the judgement of `identify_payload`, which it never contradicts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.estimation import Checkup, examine_recording
from iparam.estimation.checkup.examination import LEVELS
from iparam.recording import Recording
from iparam.sensing import Correction


@pytest.fixture(scope="module")
def recorded(synthetic_recording, excitation) -> Recording:
    return synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)


def finding(found: Checkup, name: str) -> str:
    (check,) = [check for check in found.checks if check.name == name]
    return check.finding


def test_a_sound_recording_is_green(recorded, ur5e) -> None:
    found = examine_recording(recorded, ur5e)
    assert [(check.name, check.level) for check in found.checks if check.level] == [("load", "green")]
    assert found.level == "green"
    assert found.causes == ()
    names = [check.name for check in found.checks]
    assert names == [
        *("signals", "gaps", "stamps", "wrench", "channels", "noise", "outliers", "rests"),
        *("arm", "gravity", "frames", "excitation", "load"),
    ]
    assert found.to_document()["verdict"] == "good"


def wrench_of(recorded: Recording, change: Callable[[np.ndarray], np.ndarray]) -> Recording:
    signal = recorded.signal("wrench")
    return recorded.with_signal("wrench", time=signal.time, values=change(signal.values.copy()))


def dead(values: np.ndarray) -> np.ndarray:
    values[:, 1] = 0.3
    return values


def spiky(values: np.ndarray) -> np.ndarray:
    values[::50, 2] += 50.0
    return values


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    ("change", "name", "word"),
    [
        (lambda values: values * [1, 1, 1, 1e3, 1e3, 1e3], "wrench", "e+03 N m"),
        (dead, "channels", "fy never changed"),
        (lambda values: np.clip(values, -12.0, 12.0), "channels", "at a limit of the sensor"),
        (spiky, "outliers", "samples jump"),
    ],
)
def test_facts_show_what_was_spoilt_and_the_judgement_is_that_of_identify(
    recorded, ur5e, change, name: str, word: str
) -> None:
    spoilt = wrench_of(recorded, change)
    found = examine_recording(spoilt, ur5e)
    assert word in finding(found, name)
    assert found.level == LEVELS[iparam.identify_payload(spoilt, ur5e).assessment["verdict"]]


def test_signals_gaps_and_arms(recorded, ur5e) -> None:
    alone = examine_recording(recorded.without_signal("wrench"), ur5e)
    assert alone.level == "red"
    assert "wrench" not in finding(alone, "signals")
    wrench, q = recorded.signal("wrench"), recorded.signal("q")
    kept = (wrench.time < 3.0) | (wrench.time > 3.5)
    gap = recorded.with_signal("wrench", time=wrench.time[kept], values=wrench.values[kept])
    assert "q none; wrench 1, the longest 0.5" in finding(examine_recording(gap, ur5e), "gaps")
    slow = recorded.with_signal("q", time=q.time[::4], values=q.values[::4])
    assert "q 25 Hz" in finding(examine_recording(slow, ur5e), "signals")
    far = recorded.with_signal("q", time=q.time, values=q.values + np.array([0, 0, 7, 0, 0, 0])).without_signal(
        "target_q"
    )
    assert "joint 3" in finding(examine_recording(far, ur5e), "arm")
    still = examine_recording(recorded.slice(0.0, 0.2), ur5e)
    assert still.level == "red"


def test_a_correction_is_tried_out(recorded, ur5e) -> None:
    reversed_ = wrench_of(recorded, lambda values: -values)
    found = examine_recording(reversed_, ur5e)
    assert found.level == "red"
    assert found.estimate is not None
    assert found.estimate.assessment["causes"][0]["fix"] == {"measures": "reaction"}
    assert examine_recording(reversed_, ur5e, correction=Correction(measures="reaction")).level == "green"
    wrong = examine_recording(recorded, ur5e, correction=Correction(joint_sign=(1,)))
    assert (wrong.level, wrong.estimate) == ("red", None)
    assert iparam.estimation.examine_recording is examine_recording


def test_a_sensor_that_was_not_zeroed_is_judged_with_the_bias_that_is_said(recorded, ur5e) -> None:
    """As `identify payload --bias none` judges it."""
    offset = wrench_of(recorded, lambda values: values + np.repeat([5.0, 0.2], 3))
    assert examine_recording(offset, ur5e).level == "green"
    assert examine_recording(offset, ur5e, bias="none").level == "red"

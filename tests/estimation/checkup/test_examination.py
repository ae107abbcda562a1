"""The checks of a recording: a sound one is green, and each spoilt one is red or amber where it was spoilt."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import iparam
from iparam.estimation import Checkup, examine_recording
from iparam.recording import Recording
from iparam.sensing import Correction


@pytest.fixture(scope="module")
def recorded(synthetic_recording, excitation) -> Recording:
    return synthetic_recording(excitation.q, excitation.dq, excitation.ddq, rate=100.0)


def level_of(found: Checkup, name: str) -> str:
    return max((check.level for check in found.checks if check.name == name), key=["green", "amber", "red"].index)


def test_a_sound_recording_is_green(recorded, ur5e) -> None:
    found = examine_recording(recorded, ur5e)
    assert [check for check in found.checks if check.level != "green"] == []
    assert found.level == "green"
    assert found.causes == ()
    names = [check.name for check in found.checks]
    assert names == [
        *("signals", "gaps", "stamps", "units", "channels", "noise", "outliers", "rests"),
        *("arm", "gravity", "frames", "excitation", "delay", "load"),
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
    ("change", "check", "level"),
    [
        (lambda values: values * [1, 1, 1, 1e3, 1e3, 1e3], "units", "red"),
        (dead, "channels", "red"),
        (lambda values: np.clip(values, -12.0, 12.0), "channels", "amber"),
        (spiky, "outliers", "amber"),
    ],
)
def test_what_is_spoilt_shows_where_it_was(recorded, ur5e, change, check: str, level: str) -> None:
    assert level_of(examine_recording(wrench_of(recorded, change), ur5e), check) == level


def test_signals_gaps_and_arms(recorded, ur5e) -> None:
    alone = examine_recording(recorded.without_signal("wrench"), ur5e)
    assert alone.level == "red"
    assert "no wrench" in alone.checks[0].finding
    wrench, q = recorded.signal("wrench"), recorded.signal("q")
    kept = (wrench.time < 3.0) | (wrench.time > 3.5)
    gap = recorded.with_signal("wrench", time=wrench.time[kept], values=wrench.values[kept])
    assert level_of(examine_recording(gap, ur5e), "gaps") == "amber"
    slow = recorded.with_signal("q", time=q.time[::4], values=q.values[::4])
    assert level_of(examine_recording(slow, ur5e), "signals") == "amber"
    far = recorded.with_signal("q", time=q.time, values=q.values + np.array([0, 0, 7, 0, 0, 0])).without_signal(
        "target_q"
    )
    assert level_of(examine_recording(far, ur5e), "arm") == "amber"
    still = examine_recording(recorded.slice(0.0, 0.2), ur5e)
    assert still.level == "red"


def test_a_correction_is_tried_out(recorded, ur5e) -> None:
    reversed_ = wrench_of(recorded, lambda values: -values)
    found = examine_recording(reversed_, ur5e)
    assert level_of(found, "load") == "red"
    assert "--measures reaction" in found.causes[0]
    assert examine_recording(reversed_, ur5e, correction=Correction(measures="reaction")).level == "green"
    wrong = examine_recording(recorded, ur5e, correction=Correction(joint_sign=(1,)))
    assert wrong.checks[0].name == "correction"
    assert wrong.level == "red"
    assert iparam.estimation.examine_recording is examine_recording

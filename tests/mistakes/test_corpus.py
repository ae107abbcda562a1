"""A part of the corpus on every change, of all families; `benchmarks/bench_mistakes.py` runs the whole of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

from iparam.errors import IparamError
from iparam.estimation import examine_recording, identify_payload
from iparam.estimation.checkup.examination import LEVELS
from iparam.sensing import Tolerances
from mistakes.corpus import case
from mistakes.judgement import judge
from mistakes.unlisted import unlisted_cases
from mistakes.workbench import Workbench

NAMED = (
    "sensor-offset/small@ur5e-slender",
    "joint-order/small@panda-slender",
    "clock-rate/small@ur5e-extreme",
    "external-force/gross@ur5e-slender",
)
"""Told apart on these arms and loads, and put right by what is proposed."""

PUT_RIGHT = (
    "contact/gross@ur5e-compact",
    "saturation/gross@ur5e-extreme",
    "held-samples/middling@ur5e-compact",
    "low-pass/gross@ur5e-slender",
)
"""Found, and left out or compensated before anything is fitted: the result may be used, and says what was done."""


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("name", NAMED)
def test_a_mistake_is_seen_named_and_put_right(name: str) -> None:
    outcome = judge(case(name))
    assert not outcome.breaks_the_law, outcome
    assert outcome.rank in (1, 2), outcome
    assert outcome.fix, outcome
    assert outcome.is_restored, outcome
    assert outcome.believed, outcome


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["loose-load/gross@panda-extreme"])
def test_what_hardly_shows_is_refuted_or_counted(name: str) -> None:
    """A light load that swings is no rigid one."""
    outcome = judge(case(name))
    assert not outcome.breaks_the_law, outcome
    assert outcome.verdict != "good", outcome


def test_a_sensor_that_is_as_far_out_as_its_tolerance_is_counted() -> None:
    """Eight millimetres of the sensor look like a load that is nearer."""
    log = case("sensor-offset/small@panda-extreme").log()
    found = identify_payload(log.recording, log.robot, tolerances=Tolerances(place=0.008))
    (load,) = log.loads
    assert np.abs((found.phi - load.phi) / found.standard_deviation.phi).max() < 4.0


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize(
    "name", ["warming/middling@ur5e-compact", "bent/middling@ur5e-slender", "tilt-and-place/middling@panda-compact"]
)
def test_a_mistake_that_is_on_no_list_is_not_trusted_if_it_is_wrong(name: str) -> None:
    """Gains that change in time, or with the load, and two mistakes at once, each of which hides behind the other."""
    outcome = judge(next(each for each in unlisted_cases() if each.name == name))
    assert not outcome.breaks_the_law, outcome
    assert outcome.verdict == "refuted", outcome


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize("name", ["much-drift@ur5e-compact", "drift@panda-extreme", "drift-and-delay@ur5e-slender"])
def test_what_drifts_is_noise(name: str) -> None:
    kind, place = name.split("@")
    outcome = judge(next(each for each in unlisted_cases() if each.name == f"{kind}/middling@{place}"))
    assert outcome.harmless, outcome
    assert set(outcome.causes) <= {"delay"}, outcome


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", ["base-axes/middling@panda-compact", "too-little-motion/gross@ur5e-slender"])
def test_what_hides_the_whole_load_is_named(name: str) -> None:
    outcome = judge(case(name))
    assert outcome.verdict == "refuted", outcome
    assert outcome.rank in (1, 2), outcome


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("name", PUT_RIGHT)
def test_what_was_put_right_is_named(name: str) -> None:
    outcome = judge(case(name))
    assert outcome.harmless, outcome
    assert outcome.rank in (1, 2), outcome


@pytest.mark.thorough(keep=2)
@pytest.mark.parametrize(
    "name",
    [
        *("units/gross@ur5e-compact", "saturation/gross@ur5e-extreme", "channel-dead/middling@ur5e-compact"),
        *("outliers/middling@ur5e-compact", "held-samples/middling@ur5e-compact", "clock-rate/small@panda-slender"),
        *("too-little-motion/gross@ur5e-slender", "gravity-direction/small@ur5e-compact"),
    ],
)
def test_the_doctor_never_contradicts_identify(name: str) -> None:
    """Green for good, amber for usable, red for refuted or refused; and one row for each subject."""
    log = case(name).log()
    try:
        verdict = identify_payload(log.recording, log.robot, tolerances="exact").assessment["verdict"]
    except IparamError:
        verdict = "refuted"
    found = examine_recording(log.recording, log.robot)
    assert found.level == LEVELS[verdict], found.checks
    names = [check.name for check in found.checks if check.name != "remark"]
    assert len(names) == len(set(names))
    assert not any(check.level == "green" for check in found.checks if found.level != "green")


@pytest.mark.parametrize(("arm", "payload", "noise"), [("ur5e", "slender", "ur5e"), ("panda", "extreme", "ideal")])
def test_a_sound_log_is_accused_of_nothing(arm: str, payload: str, noise: str) -> None:
    bench = Workbench(arm, payload, seed=7, noise=noise)
    found = identify_payload(bench.sound, bench.robot, tolerances="exact")
    assert found.assessment["causes"] == []
    assert found.assessment["verdict"] != "refuted"
    assert np.isfinite(found.mass)

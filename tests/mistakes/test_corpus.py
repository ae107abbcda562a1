"""A part of the corpus on every change, of all families; `benchmarks/bench_mistakes.py` runs the whole of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("mujoco")

from iparam.estimation import identify_payload
from mistakes.corpus import case
from mistakes.judgement import judge
from mistakes.workbench import Workbench

NAMED = (
    "wrench-sign/gross@panda-compact",
    "units/gross@ur5e-compact",
    "sensor-rotation/middling@panda-compact",
    "sensor-offset/gross@ur5e-compact",
    "base-axes/small@ur5e-compact",
    "gravity-direction/middling@ur5e-extreme",
    "clock-rate/middling@ur5e-extreme",
    "re-zeroed/middling@ur5e-compact",
    "contact/middling@ur5e-compact",
)
"""Told apart on these arms and loads, and put right by what is proposed."""

PUT_RIGHT = (
    "delay/middling@ur5e-compact",
    "held-samples/middling@ur5e-compact",
    "outliers/middling@panda-compact",
)
"""Found, and left out or compensated before anything is fitted: the result may be used, and says what was done."""


@pytest.mark.parametrize("name", NAMED)
def test_a_mistake_is_seen_named_and_put_right(name: str) -> None:
    outcome = judge(case(name))
    assert not outcome.breaks_the_law, outcome
    assert outcome.rank in (1, 2), outcome
    assert outcome.options, outcome
    assert outcome.is_restored, outcome
    assert outcome.believed, outcome


def test_a_small_mistake_that_others_explain_as_well_is_named_and_counted() -> None:
    """A degree of turn may be something else: what is proposed is then no value, and the intervals are wider."""
    outcome = judge(case("sensor-rotation/small@panda-compact"))
    assert not outcome.breaks_the_law, outcome
    assert outcome.rank in (1, 2), outcome


@pytest.mark.parametrize("name", PUT_RIGHT)
def test_what_was_put_right_is_named(name: str) -> None:
    outcome = judge(case(name))
    assert outcome.harmless, outcome
    assert outcome.rank in (1, 2), outcome


@pytest.mark.parametrize(("arm", "payload", "noise"), [("ur5e", "slender", "ur5e"), ("panda", "extreme", "ideal")])
def test_a_sound_log_is_accused_of_nothing(arm: str, payload: str, noise: str) -> None:
    bench = Workbench(arm, payload, seed=7, noise=noise)
    found = identify_payload(bench.sound, bench.robot)
    assert found.assessment["causes"] == []
    assert found.assessment["verdict"] != "refuted"
    assert np.isfinite(found.mass)

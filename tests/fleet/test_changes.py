"""Steps and drifts: found where they are, and not where there is only noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from iparam.fleet.changes import changes_of, fleet_changes
from iparam.fleet.history import Series, series_of

Rows = Callable[..., list[dict[str, Any]]]


def test_noise_alone_is_no_change(rows: Rows) -> None:
    """Over 200 histories of 40 recordings; also where the scatter is five times what each recording says of itself."""
    for scatter in (0.001, 0.005):
        found = 0
        for seed in range(100):
            masses = 2.0 + scatter * np.random.default_rng(seed).normal(size=40)
            (series,) = series_of(rows(masses, seed=seed))
            found += len(changes_of(series))
        assert found <= 2


@pytest.mark.parametrize("count", [5, 8, 14])
def test_few_recordings_show_no_more_than_they_can(rows: Rows, count: int) -> None:
    """A scatter that is known from few recordings only is no reason to see changes; a tool that is swapped is."""
    found, swapped = 0, 0
    for seed in range(100):
        noise = 0.001 * np.random.default_rng(seed).normal(size=count)
        for deviation in (0.001, 0.0001):
            found += len(changes_of(series_of(rows(2.0 + noise, deviation=deviation, seed=seed))[0]))
        steps = changes_of(series_of(rows(2.0 + noise + 0.1 * (np.arange(count) >= count // 2), seed=seed))[0])
        swapped += [(change.kind, change.last) for change in steps] == [("step", count // 2)]
    assert found <= 1
    assert swapped >= 97


def test_recordings_that_say_more_or_less_are_no_change(rows: Rows) -> None:
    """Each has a deviation of its own, as real ones have: it weighs a recording, it does not scale the load."""
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        deviations = 0.004 * rng.uniform(0.7, 1.4, 34)
        table = rows(2.0 + deviations * rng.normal(size=34), seed=seed)
        for row, deviation in zip(table, deviations, strict=True):
            row["mass_deviation"] = deviation
        found += len(changes_of(series_of(table)[0]))
        changed = [row | {"mass": row["mass"] + 0.03 * (place >= 20)} for place, row in enumerate(table)]
        assert [change.kind for change in changes_of(series_of(changed)[0])][:1] == ["step"]
    assert found <= 1


def test_steps_are_found_where_they_are(rows: Rows) -> None:
    rng = np.random.default_rng(1)
    masses = np.r_[np.full(15, 2.0), np.full(10, 2.3), np.full(15, 2.1)] + 0.002 * rng.normal(size=40)
    (series,) = series_of(rows(masses))
    changes = changes_of(series)
    assert [(change.kind, change.first, change.last) for change in changes] == [("step", 14, 15), ("step", 24, 25)]
    assert "the mass goes from 2" in changes[0].sentence
    assert "2026-11-01 15:00 UTC" in changes[0].sentence


def test_a_drift_is_no_chain_of_steps(rows: Rows) -> None:
    masses = 2.0 + 0.0005 * np.arange(40) + 0.001 * np.random.default_rng(2).normal(size=40)
    (series,) = series_of(rows(masses))
    (change,) = changes_of(series)
    assert change.kind == "drift"
    assert "the mass drifts by +0.0" in change.sentence


def test_a_sensor_that_drifts_and_one_that_is_zeroed(rows: Rows) -> None:
    rng = np.random.default_rng(3)
    bias = 0.05 * rng.normal(size=(40, 6))
    bias[:, 2] += np.linspace(0.0, 2.0, 40)  # drifts
    bias[20:, 0] += 3.0  # zeroed
    (series,) = series_of(rows(2.0 + 0.001 * rng.normal(size=40), bias=bias))
    (change,) = changes_of(series)
    assert change.kind == "bias drift"
    assert "bias fz drifts by +" in change.sentence


def fleet(rows: Rows, seed: int, scatters: list[float], step: float = 0.0, count: int = 5) -> list[Series]:
    """Arms with one tool, each with few recordings and a scatter of its own; the step is arm 00's."""
    rng = np.random.default_rng(seed)
    table = []
    for arm, scatter in enumerate(scatters):
        masses = 2.0 + scatter * rng.normal(size=count)
        masses[count // 2 :] += step * scatter * (arm == 0)
        table += rows(masses, f"{arm:02d}", seed=seed + arm)
    return series_of(table)


def test_other_arms_with_the_tool_tell_what_few_recordings_cannot(rows: Rows) -> None:
    """A step of 16 scatters in five recordings, which an arm alone can hardly show."""
    alone = among = 0
    for seed in range(20):
        arms = fleet(rows, 100 * seed, [0.001] * 10, 16.0)
        alone += bool(changes_of(arms[0]))
        seen = fleet_changes(arms)
        assert {change.series.arm for change in seen} <= {"00"}
        among += any(change.kind == "step" for change in seen)
    assert alone <= 4
    assert among >= 16


def test_arms_that_are_not_alike_tell_little_of_each_other(rows: Rows) -> None:
    """One that scatters more than the others has not changed for that."""
    false = 0
    for seed in range(40):
        scatters = 0.002 * np.exp(0.7 * np.random.default_rng(seed).normal(size=8))
        false += len({change.series.arm for change in fleet_changes(fleet(rows, 100 * seed, list(scatters)))})
    assert false <= 3  # of 320


def test_two_arms_are_judged_each_by_itself(rows: Rows) -> None:
    arms = fleet(rows, 1, [0.001, 0.001], 60.0)
    assert [(change.series.arm, change.sentence) for change in fleet_changes(arms)] == [
        (arm.arm, change.sentence) for arm in arms for change in changes_of(arm)
    ]
    assert fleet_changes(arms)

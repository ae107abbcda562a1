"""Steps, drifts and outliers: found where they are, and not where there is only noise."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from iparam.fleet.history import BIAS, COMPARED, changes_of, dated_series_of, outliers_of, series_of

START = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)


def rows(masses: np.ndarray, arm: str = "a", deviation: float = 0.001, bias: np.ndarray | None = None, seed: int = 0):
    rng = np.random.default_rng(seed)
    found: list[dict[str, Any]] = []
    for place, mass in enumerate(masses):
        row: dict[str, Any] = {"robot": "ur5e", "arm": arm, "tool": "saw", "verdict": "good"}
        row |= {"source": f"{arm}/{place:03d}", "recorded": START + datetime.timedelta(hours=place)}
        centre = [0.01, 0.0, 0.08] + 1e-4 * rng.normal(size=3)
        row |= dict(zip(COMPARED, [mass, *centre], strict=True))
        row |= dict(zip((f"{name}_deviation" for name in COMPARED), [deviation, 1e-4, 1e-4, 1e-4], strict=True))
        row |= dict(zip(BIAS, rng.normal(size=6) if bias is None else bias[place], strict=True))
        found.append(row)
    return found


def test_noise_alone_is_no_change() -> None:
    """Over 200 histories of 40 recordings; also where the scatter is five times what each recording says of itself."""
    for scatter in (0.001, 0.005):
        found = 0
        for seed in range(100):
            masses = 2.0 + scatter * np.random.default_rng(seed).normal(size=40)
            (series,) = series_of(rows(masses, seed=seed))
            found += len(changes_of(series))
        assert found <= 2


@pytest.mark.parametrize("count", [5, 8, 14])
def test_few_recordings_show_no_more_than_they_can(count: int) -> None:
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


def test_recordings_that_say_more_or_less_are_no_change() -> None:
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


def test_steps_are_found_where_they_are() -> None:
    rng = np.random.default_rng(1)
    masses = np.r_[np.full(15, 2.0), np.full(10, 2.3), np.full(15, 2.1)] + 0.002 * rng.normal(size=40)
    (series,) = series_of(rows(masses))
    changes = changes_of(series)
    assert [(change.kind, change.first, change.last) for change in changes] == [("step", 14, 15), ("step", 24, 25)]
    assert "the mass goes from 2" in changes[0].sentence
    assert "2026-11-01 15:00 UTC" in changes[0].sentence


def test_a_drift_is_no_chain_of_steps() -> None:
    masses = 2.0 + 0.0005 * np.arange(40) + 0.001 * np.random.default_rng(2).normal(size=40)
    (series,) = series_of(rows(masses))
    (change,) = changes_of(series)
    assert change.kind == "drift"
    assert "the mass drifts by +0.0" in change.sentence


def test_a_sensor_that_drifts_and_one_that_is_zeroed() -> None:
    rng = np.random.default_rng(3)
    bias = 0.05 * rng.normal(size=(40, 6))
    bias[:, 2] += np.linspace(0.0, 2.0, 40)  # drifts
    bias[20:, 0] += 3.0  # zeroed
    (series,) = series_of(rows(2.0 + 0.001 * rng.normal(size=40), bias=bias))
    (change,) = changes_of(series)
    assert change.kind == "bias drift"
    assert "bias fz drifts by +" in change.sentence


def test_an_arm_unlike_the_others_is_an_outlier() -> None:
    rng = np.random.default_rng(4)
    table = [row for arm in "abcdef" for row in rows(2.0 + 0.002 * rng.normal(size=8), arm)]
    table += rows(2.2 + 0.002 * rng.normal(size=2), "g")
    found = outliers_of(series_of(table))
    assert sorted(outlier.source for outlier in found) == ["g/000", "g/001"]
    assert "the mass 2.2" in found[0].sentence
    assert "the fleet's median is 2" in found[0].sentence


@pytest.mark.parametrize("change", [{"verdict": "refuted"}, {"recorded": None}, {"mass": None}])
def test_what_cannot_be_compared_is_left_out(change: dict[str, Any]) -> None:
    table = rows(np.full(3, 2.0))
    table[1] |= change
    (series,) = series_of(table)
    assert series.sources == ("a/000", "a/002")
    assert changes_of(series) == []


def test_times_of_files_are_no_history() -> None:
    """A recording that was copied later than the others is no step at that time."""
    table = rows(np.r_[np.full(6, 2.0), 2.3])
    assert changes_of(series_of(table)[0])
    for row in table:
        row["recorded_from"] = "name"
    table[-1]["recorded_from"] = "store"
    (dated,) = dated_series_of(table)
    assert len(dated.times) == 6
    assert not changes_of(dated)
    assert [outlier.source for outlier in outliers_of(series_of(table))] == [table[-1]["source"]]

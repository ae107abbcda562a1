"""Steps, drifts and outliers: found where they are, and not where there is only noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from iparam.fleet.history import Finding, changes_of, counted_errors, groups_of, outliers_of, series_of

Rows = Callable[..., list[dict[str, Any]]]


def changes(rows: list[dict[str, Any]]) -> list[Finding]:
    (series,) = series_of(rows)
    return changes_of(series)


@pytest.mark.parametrize("count", [5, 8, 14, 40])
def test_noise_alone_is_no_change(rows: Rows, count: int) -> None:
    """Also where the scatter is five times what each recording says of itself, or a tenth of it."""
    found = sum(
        bool(changes(rows(2.0 + scatter * np.random.default_rng(seed).normal(size=count), seed=seed)))
        for scatter in (0.0001, 0.001, 0.005)
        for seed in range(100)
    )
    assert found <= 2  # of 300, where 0.3 are to be expected


@pytest.mark.parametrize("count", [8, 14])
def test_a_tool_that_is_swapped_between_few_recordings(rows: Rows, count: int) -> None:
    for seed in range(50):
        masses = 2.0 + 0.001 * np.random.default_rng(seed).normal(size=count) + 0.1 * (np.arange(count) >= count // 2)
        (step,) = changes(rows(masses, seed=seed))
        assert (step.kind, step.sources) == ("step", (f"a/{count // 2 - 1:03d}", f"a/{count // 2:03d}"))


def test_recordings_that_say_more_or_less_are_no_change(rows: Rows) -> None:
    """Each has a deviation of its own, as real ones have: it weighs a recording, it does not scale the load."""
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        deviations = 0.004 * rng.uniform(0.7, 1.4, 34)
        table = rows(2.0 + deviations * rng.normal(size=34), seed=seed)
        for row, deviation in zip(table, deviations, strict=True):
            row["mass_deviation"] = deviation
        found += len(changes(table))
        changed = [row | {"mass": row["mass"] + 0.03 * (place >= 20)} for place, row in enumerate(table)]
        assert [change.kind for change in changes(changed)] == ["step"]
    assert found <= 1


def test_steps_are_found_where_they_are(rows: Rows) -> None:
    rng = np.random.default_rng(1)
    for levels in ((2.0, 2.3, 2.1), (2.0, 2.3, 2.0)):  # swapped, and swapped back
        masses = np.repeat(levels, [15, 10, 15]) + 0.002 * rng.normal(size=40)
        first, second = changes(rows(masses))
        assert (first.kind, first.sources) == ("step", ("a/014", "a/015"))
        assert (second.kind, second.sources) == ("step", ("a/024", "a/025"))
        assert "the mass goes from 2" in first.sentence
        assert "2026-11-01 15:00 UTC" in first.sentence


def test_a_drift_is_no_chain_of_steps(rows: Rows) -> None:
    masses = 2.0 + 0.0005 * np.arange(40) + 0.001 * np.random.default_rng(2).normal(size=40)
    (change,) = changes(rows(masses))
    assert (change.kind, change.sources) == ("drift", ("a/000", "a/039"))
    assert "the mass drifts by 0.0" in change.sentence


def test_a_sensor_that_drifts_and_one_that_is_zeroed(rows: Rows) -> None:
    rng = np.random.default_rng(3)
    masses, bias = 2.0 + 0.001 * rng.normal(size=40), 0.05 * rng.normal(size=(40, 6))
    zeroed = bias.copy()
    zeroed[20:, 0] += 3.0
    assert changes(rows(masses, bias=zeroed)) == []
    bias[:, 2] += np.linspace(0.0, 2.0, 40)
    (change,) = changes(rows(masses, bias=bias))
    assert change.kind == "bias drift"
    assert "bias fz drifts by" in change.sentence


def test_an_arm_unlike_the_others_is_an_outlier(rows: Rows) -> None:
    rng = np.random.default_rng(4)
    table = [row for arm in "abcdef" for row in rows(2.0 + 0.002 * rng.normal(size=8), arm)]
    table += rows(2.2 + 0.002 * rng.normal(size=2), "g")
    found = outliers_of(series_of(table))
    assert sorted(outlier.sources for outlier in found) == [("g/000",), ("g/001",)]
    assert "the mass is 2.2" in found[0].sentence
    assert outliers_of(series_of(rows(np.array([2.0, 2.0, 9.0])))) == []  # too few to say which differs


@pytest.mark.parametrize("change", [{"verdict": "refuted"}, {"mass": None}])
def test_what_cannot_be_compared_is_left_out(rows: Rows, change: dict[str, Any]) -> None:
    table = rows(np.full(3, 2.0))
    table[1] |= change
    (series,) = series_of(table)
    assert series.sources == ("a/000", "a/002")
    assert changes_of(series) == []


def test_recordings_without_a_time_are_in_no_history_but_may_be_outliers(rows: Rows) -> None:
    table = rows(np.r_[2.0 + 0.001 * np.random.default_rng(5).normal(size=12), 2.3, 2.3])
    assert changes(table)
    for row in table[-2:]:
        row["recorded"] = None
    assert changes(table) == []
    assert len(outliers_of(series_of(table))) == 2


def test_counts(rows: Rows) -> None:
    table = rows(np.array([2.0, 2.1, 2.2, 9.0]))
    table[3]["verdict"] = "refuted"
    error = {**dict.fromkeys(table[0]), "robot": "ur5e", "source": "x"}
    table += [
        error | {"source": f"{n}.csv", "error": f"{n} rows", "error_kind": "refused", "error_place": "a.py:1"}
        for n in range(3)
    ]
    table += [error | {"error": "no robot", "error_kind": "refused", "error_place": "a.py:2"}]
    bad, good = groups_of(table)
    assert (bad.arm, bad.recordings, bad.errors, np.isnan(bad.mass)) == ("", 4, 4, True)
    assert (good.arm, good.recordings, good.good, good.refuted, good.errors) == ("a", 4, 3, 1, 0)
    assert (good.mass, good.mass_scatter) == pytest.approx((2.1, 0.14826))
    assert counted_errors(table) == [("0.csv: 0 rows", 3), ("x: no robot", 1)]

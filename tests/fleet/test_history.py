"""Histories of loads, and outliers: what is compared with what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from iparam.fleet.changes import changes_of
from iparam.fleet.history import dated_series_of, fleets_of, outliers_of, series_of

Rows = Callable[..., list[dict[str, Any]]]


def test_an_arm_unlike_the_others_is_an_outlier(rows: Rows) -> None:
    rng = np.random.default_rng(4)
    table = [row for arm in "abcdef" for row in rows(2.0 + 0.002 * rng.normal(size=8), arm)]
    table += rows(2.2 + 0.002 * rng.normal(size=2), "g")
    found = outliers_of(series_of(table))
    assert sorted(outlier.source for outlier in found) == ["g/000", "g/001"]
    assert "the mass 2.2" in found[0].sentence
    assert "the fleet's median is 2" in found[0].sentence


@pytest.mark.parametrize("change", [{"verdict": "refuted"}, {"recorded": None}, {"mass": None}])
def test_what_cannot_be_compared_is_left_out(rows: Rows, change: dict[str, Any]) -> None:
    table = rows(np.full(3, 2.0))
    table[1] |= change
    (series,) = series_of(table)
    assert series.sources == ("a/000", "a/002")
    assert changes_of(series) == []


def test_times_of_files_are_no_history(rows: Rows) -> None:
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


def test_a_copy_counts_once_for_an_arm_and_tool(rows: Rows) -> None:
    """The same file under another name says nothing about the scatter."""
    table = rows(2.0 + 0.001 * np.arange(5))
    for row in table:
        row["checksum"] = row["source"]
    copies = [row | {"source": f"copy/{row['source']}"} for row in table]
    elsewhere = [row | {"arm": "b"} for row in copies[:1]]
    (series, other) = series_of([*copies, *table, *elsewhere])
    assert series.sources == tuple(row["source"] for row in table)
    assert (other.arm, len(other.times)) == ("b", 1)
    assert [len(one.times) for one in fleets_of([series, other])["ur5e", "saw"]] == [5, 1]
    assert fleets_of([other]) == {}

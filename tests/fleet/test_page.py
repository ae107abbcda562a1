"""The page of a fleet: what it says, and that nothing in a table can do anything in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError
from iparam.fleet import FleetTable, write_fleet_report

EVIL = "x/<b>é</b> javascript:1.parquet"


@pytest.fixture
def filled(rows: Callable[..., list[dict[str, Any]]], tmp_path: Path) -> FleetTable:
    table = FleetTable(tmp_path)
    masses = np.r_[np.full(10, 2.0), np.full(10, 2.3)] + 0.002 * np.random.default_rng(1).normal(size=20)
    some = rows(masses, "a1")
    sentence = "The reversed wrench <script>alert(1)</script> fits"
    some.append({"source": EVIL, "verdict": "refuted", "causes": ["wrench-sign"], "cause_sentences": [sentence]})
    some += [{"source": f"b/{n}.csv", "robot": "ur5e", "error": f"b/{n}.csv has no column 'time'"} for n in range(3)]
    table.write({row["source"]: row for row in some})
    return table


def text_of(page: Path) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8")).replace("&#39;", "'").split())


def test_what_a_page_says(filled: FleetTable) -> None:
    page = write_fleet_report(filled.folder)
    text, source = text_of(page), page.read_text(encoding="utf-8")
    assert page == filled.folder / "report.html"
    assert "24 recordings of 3 arms and tools: 20 good, 0 usable, 1 refuted by their own data, 3 without" in text
    assert "1 change over time, 0 outliers." in text
    assert re.search(r"the mass goes from (2|1\.99\d|2\.00\d*) kg to (2\.3|2\.29\d|2\.30\d*) kg", text)
    assert "before 2026-11-01 10:00 UTC" in text
    assert "ur5e a1 saw 20 20 0 0 0" in text
    assert "1 wrench-sign" in text
    assert "3 b/0.csv: b/0.csv has no column 'time'" in text
    assert "same options" not in text
    assert source.count("<img") + source.count("<svg") >= 1
    assert "<script" not in source
    assert "<b>é" not in source


def test_what_is_not_alike_or_not_dated_is_said(filled: FleetTable) -> None:
    rows = filled.rows()
    changes = {"a1/000": {"settings": "{}"}, "a1/001": {"recorded": None}}
    filled.write({name: {**row, **changes.get(name, {})} for name, row in rows.items()})
    text = text_of(write_fleet_report(filled.folder, filled.folder / "page.html"))
    assert "Not all rows were made with the same options: 23, 1 rows" in text
    assert "1 recording does not say when it was recorded" in text


def test_nothing_is_said_to_be_the_same_where_nothing_was_compared(tmp_path: Path) -> None:
    FleetTable(tmp_path).write({"a.csv": {"source": "a.csv", "error": "a.csv has no column 'time'"}})
    assert text_of(write_fleet_report(tmp_path)).count("There is nothing to compare") == 2


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"has no table.parquet"):
        write_fleet_report(tmp_path)
    with pytest.raises(InputError, match=r"ends in .html"):
        write_fleet_report(tmp_path, tmp_path / "page.txt")

"""The page of a fleet: what it says, what it links to, and that nothing in a table can do anything in it."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError
from iparam.fleet import REPORTS, FleetTable, report_name, write_fleet_report
from iparam.fleet.history import COMPARED

START = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
EVIL = "x/<b>é</b> javascript:1.parquet"


def filled(folder: Path) -> None:
    masses = np.r_[np.full(10, 2.0), np.full(10, 2.3)] + 0.002 * np.random.default_rng(1).normal(size=20)
    with FleetTable(folder) as table:
        for place, mass in enumerate(masses):
            row: dict[str, Any] = dict(zip(COMPARED, [mass, 0.01, 0.0, 0.08 + 1e-6 * place], strict=True))
            row |= dict.fromkeys((f"{name}_deviation" for name in COMPARED), 0.001)
            row |= {"source": f"a/{place:02d}", "recorded": START + datetime.timedelta(days=place), "verdict": "good"}
            table.add(row | {"robot": "ur5e", "arm": "a1", "tool": "saw"})
        sentence = "The reversed wrench <script>alert(1)</script> fits"
        refuted = {"verdict": "refuted", "causes": ["wrench-sign"], "cause_sentences": [sentence], "sentence": "No."}
        table.add({"source": EVIL, **refuted})
        for number in range(3):
            table.add(
                {
                    "source": f"b/{number}.csv",
                    "robot": "ur5e",
                    "error": f"b/{number}.csv has no column 'time'",
                    "error_kind": "refused",
                }
            )


def test_what_a_page_says(tmp_path: Path) -> None:
    filled(tmp_path)
    page = write_fleet_report(tmp_path).read_text(encoding="utf-8")
    text = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "24 recordings of 3 robots and tools: 20 good, 0 usable, 1 refuted by their own data, 3 without" in text
    assert "3 without a result. 1 change over time, 0 outliers." in text
    assert re.search(r"the mass goes from (2|1\.99\d|2\.00\d*) kg to (2\.3|2\.29\d|2\.30\d*) kg", text)
    assert "before 2026-11-11 00:00 UTC: was the tool swapped or changed?" in text
    assert "ur5e a1 saw 20 20 0 0 0" in text
    assert "1 wrench-sign" in text
    assert "3 e.g. b/0.csv has no column 'time'" in text.replace("&#39;", "'")
    assert "has not come to its end" not in text
    assert "same options" not in text
    assert "ur5e (arm and tool unknown) 3 0 0 0 3" in text
    assert "errors" in text
    assert "<script" not in page
    assert "<b>é" not in page
    assert "Full reports" in text
    assert 'href="reports' not in page


def test_what_is_not_finished_or_not_alike_is_said(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / "pieces").mkdir()  # as a run leaves it that was killed
    with FleetTable(tmp_path / "other") as table:
        for number in range(3):
            settings = '{"bias": "none", "layout": "{arm}"}' if number else f'{{"layout": "{number}"}}'
            table.add({"source": str(number), "settings": settings})
    page = write_fleet_report(tmp_path).read_text(encoding="utf-8")
    assert "has not come to its end" in page
    page = write_fleet_report(tmp_path / "other").read_text(encoding="utf-8")
    assert "Not all rows were made with the same options: 2 with bias none; 1 with the usual ones." in page
    assert "has not come to its end" not in page


def test_links_to_full_reports_that_were_made(tmp_path: Path) -> None:
    filled(tmp_path)
    (tmp_path / REPORTS).mkdir()
    (tmp_path / REPORTS / report_name(EVIL)).write_text("")
    page = write_fleet_report(tmp_path).read_text(encoding="utf-8")
    (address,) = re.findall(r'href="(reports[^"]*)"', page)
    assert not re.search(r"[<>:]", address)
    assert len({report_name(name) for name in ("a/b", "a-b", "a_b", "ab")}) == 4
    other = write_fleet_report(tmp_path, tmp_path / REPORTS / "page.html").read_text(encoding="utf-8")
    assert f'href="{address.partition("/")[2]}"' in other


def test_what_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"has no recordings.parquet"):
        write_fleet_report(tmp_path)
    with pytest.raises(InputError, match=r"ends in .html"):
        write_fleet_report(tmp_path, tmp_path / "page.txt")


def test_nothing_is_said_to_be_the_same_where_nothing_was_compared(tmp_path: Path) -> None:
    with FleetTable(tmp_path) as table:
        table.add({"source": "a.csv", "error": "a.csv has no column 'time'", "error_kind": "refused"})
    text = write_fleet_report(tmp_path).read_text(encoding="utf-8")
    assert text.count("There is nothing to compare") == 2
    filled(tmp_path)
    text = write_fleet_report(tmp_path).read_text(encoding="utf-8")
    assert "There is nothing to compare" not in text
    assert "no time but that of the file" not in text
    with FleetTable(tmp_path) as table:
        table.add(
            {"source": "c.parquet", "robot": "ur5e", "verdict": "good", "recorded": START, "recorded_from": "store"}
        )
    text = write_fleet_report(tmp_path).read_text(encoding="utf-8")
    assert "1 recording has no time but that of the file" in text
    assert "which arm it is of" in text

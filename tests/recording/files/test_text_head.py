"""What stands before the rows of a table: titles, a delimiter for spreadsheets, units below the header; and dates."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from iparam.recording import Recording

HEADER = "time,q0,q1,fx,fy,fz,tx,ty,tz"
TIME = np.arange(40) / 100.0
TABLE = np.column_stack([TIME, np.sin(np.outer(TIME, np.arange(1, 9)))])


def rows(table: np.ndarray = TABLE, stamps: list[str] | None = None, delimiter: str = ",", point: str = ".") -> str:
    cells = [[f"{value:.9f}".replace(".", point) for value in row] for row in table]
    if stamps is not None:
        cells = [[stamp, *row[1:]] for stamp, row in zip(stamps, cells, strict=True)]
    return "".join(delimiter.join(row) + "\n" for row in cells)


def read(path: Path, text: str) -> Recording:
    path.write_text(text)
    found = Recording.load(path)
    np.testing.assert_allclose(found.signal("q").time - found.signal("q").time[0], TIME, atol=1e-6)
    np.testing.assert_allclose(found.signal("q").values, TABLE[:, 1:3], atol=1e-8)
    np.testing.assert_allclose(found.signal("wrench").values, TABLE[:, 3:], atol=1e-8)
    return found


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("sep=,\n", 1),
        ("Recorded by the lab, 3 May\nArm: 7\n\n", 3),
        ("Title\nDate,2024-05-03\nRate [Hz],100\n", 3),
        ("Arm,,,Sensor,,,,,\n", 1),
    ],
)
def test_lines_before_the_header_are_left_out(before: str, count: int, tmp_path: Path) -> None:
    found = read(tmp_path / "log.csv", before + HEADER + "\n" + rows())
    assert [(one.code, one.values["count"]) for one in found.remarks] == [("lines-skipped", count)]


@pytest.mark.parametrize("before", ["", "Recorded by the lab\n"])
def test_a_row_of_units_counts(before: str, tmp_path: Path) -> None:
    units = "ms,deg,[deg],N,N,N,Nmm,N mm,"
    size = np.array([1e3, *np.degrees([1.0, 1.0]), 1.0, 1.0, 1.0, 1e3, 1e3, 1.0])
    found = read(tmp_path / "log.csv", f"{before}{HEADER}\n{units}\n{rows(TABLE * size)}")
    said = [one.values["signals"] for one in found.remarks if one.code == "units-converted"]
    assert said == ["time from ms, q from deg, wrench from Nmm"]


def test_a_row_of_other_words_is_a_garbled_one(tmp_path: Path) -> None:
    table = np.column_stack([np.arange(400) / 100.0, np.zeros((400, 8)) + np.arange(400)[:, None] % 7])
    (tmp_path / "log.csv").write_text(f"{HEADER}\na,b,c,d,e,f,g,h,i\n{rows(table)}")
    found = Recording.load(tmp_path / "log.csv")
    said = [one.values for one in found.remarks if one.code == "rows-with-text"]
    assert said == [{"count": 1, "example": "'a'", "lines": "2"}]
    assert found.signal("q").num_samples == 400


@pytest.mark.parametrize(
    "form", ["%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%f+02:00", "%H:%M:%S.%fZ", '"%H:%M:%S,%f"']
)
def test_dates_and_times_of_day_are_seconds(form: str, tmp_path: Path) -> None:
    stamps = [(datetime(2024, 5, 3, 11, 59, 59, 800000) + timedelta(seconds=float(t))).strftime(form) for t in TIME]
    delimiter, point = (";", ",") if "," in form else (",", ".")
    header = HEADER.replace(",", delimiter)
    found = read(tmp_path / "log.csv", f"{header}\n{rows(stamps=stamps, delimiter=delimiter, point=point)}")
    assert "date-times" in [one.code for one in found.remarks]

"""What a reader says about a file: headers of other names, the unit of its time, and the part that is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from iparam.errors import FileFormatError, InputError, UnknownNameError
from iparam.recording import Recording
from iparam.recording.files.reading import ColumnMap

HEADERS = ["stamp", *(f"pos_{i}" for i in range(1, 13)), *(f"effort_{i}" for i in range(1, 13)), "pos[0]"]
TABLE = np.column_stack([np.arange(40) / 100, np.random.default_rng(0).normal(size=(40, len(HEADERS) - 1))])


def write_csv(path: Path, headers: list[str] = HEADERS, table: np.ndarray = TABLE) -> Path:
    lines = [",".join(headers), *(",".join(repr(float(value)) for value in row) for row in table)]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_parquet(path: Path) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(dict(zip(HEADERS, TABLE.T, strict=True))), path)
    return path


@pytest.mark.parametrize("write", [write_csv, write_parquet])
@pytest.mark.parametrize(
    "given",
    [
        "time=stamp,q=pos_*,tau=effort_*",
        " time = stamp , q=pos_?, pos_??, tau=effort_*",
        {"time": "stamp", "q": "pos_*", "tau": [f"effort_{i}" for i in range(1, 13)]},
    ],
)
def test_headers_are_found_by_name_and_pattern_in_natural_order(write: Any, given: Any, tmp_path: Path) -> None:
    found = Recording.load(write(tmp_path / "log"), map=given, angles="radians")
    np.testing.assert_array_equal(found.signal("q").time, TABLE[:, 0])
    np.testing.assert_array_equal(found.signal("q").values, TABLE[:, 1:13])  # pos_2 before pos_10
    np.testing.assert_array_equal(found.signal("tau").values, TABLE[:, 13:25])


def test_lists_keep_their_order_and_brackets_mean_themselves(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv")
    found = Recording.load(path, map="time=stamp,q=pos_3,pos_1,pos[0]", angles="radians")
    np.testing.assert_array_equal(found.signal("q").values, TABLE[:, [3, 1, 25]])
    assert Recording.load(path, map="time=stamp,q0=pos_2", angles="radians").num_joints == 1
    assert ColumnMap.parse("q=pos[0]").assign(HEADERS, "log") == {"q": [25]}


def test_what_is_mapped_takes_the_place_of_the_files_own_column(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", ["time", "q0", "measured", "tau0"], TABLE[:, :4])
    found = Recording.load(path, map={"q": "measured"}, angles="radians")
    np.testing.assert_array_equal(found.signal("q").values, TABLE[:, 2:3])
    np.testing.assert_array_equal(found.signal("tau").values, TABLE[:, 3:4])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("q=joint_*", r"map 'q=joint_\*' matches no column of .*log\.csv; its columns: stamp, pos_1, .*effort_12"),
        ("time=stamp,q=pos_*,tau=pos_1", r"takes the column 'pos_1' of .* for both q and tau; its columns: stamp,"),
        ("time=stamp,q=pos_1,pos_1", r"'pos_1' of .* for both q and q"),
        ("time=stamp,wrench=pos_*", r"gives 12 columns to wrench, which has 6 \(fx, fy.*: pos_1, pos_2"),
        ("time=pos_*", r"gives 12 columns to time, which has 1"),
        ("q0=pos_*,time=stamp", r"gives 12 columns to q0"),
        ("q=pos_1,q=pos_2", "names q more than once"),
        ("", "must be entries such as"),
        ("pos_*", "must be entries such as"),
        ("q=,time=stamp", "has no header for q"),
        ("2q=pos_*", "a signal's name is letters"),
        ({}, "map is empty"),
        ({"q": []}, "has no header for q"),
        ({"q": [3]}, "has no header for q"),
        (["q"], "must be a text or a mapping, got list"),
    ],
)
def test_a_map_that_does_not_fit_is_refused_with_the_headers(given: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        Recording.load(write_csv(tmp_path / "log.csv"), map=given)


def test_without_a_time_the_way_out_is_a_map(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv", ["my_clock", *HEADERS[1:]])
    with pytest.raises(FileFormatError, match=r"has no column 'time'; its columns: my_clock, .*map = time=my_clock"):
        Recording.load(path)
    with pytest.raises(InputError, match="columns is for a table without header, and map for one with headers"):
        Recording.load(path, columns="time,q", map="q=pos_*")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("0:10", range(10)),
        ("10:", range(10, 40)),
        (":-35", range(5)),
        ("-3:", range(37, 40)),
        ("::5", range(0, 40, 5)),
        ("3:100:7", range(3, 40, 7)),
        (slice(4, 6), range(4, 6)),
    ],
)
@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_a_range_of_rows(write: Any, rows: Any, expected: range, tmp_path: Path) -> None:
    found = Recording.load(write(tmp_path / "log"), map="time=stamp,q=pos_*", rows=rows, angles="radians")
    np.testing.assert_array_equal(found.signal("q").values, TABLE[list(expected), 1:13])
    np.testing.assert_array_equal(found.signal("q").time, TABLE[list(expected), 0])


@pytest.mark.parametrize("rows", ["", "5", "a:b", "1:2:3:4", "::0", slice(0, 5, -1), slice(0.5, 2), 7, "9" * 30 + ":"])
def test_what_is_no_range_of_rows_is_refused(rows: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        Recording.load(write_csv(tmp_path / "log.csv"), map="time=stamp,q=pos_*", rows=rows)
    assert (refused.value.argument, refused.value.value) == ("rows", rows)


def test_a_range_without_rows_or_times_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "log.csv")
    with pytest.raises(InputError, match=r" 40 .*log\.csv") as refused:
        Recording.load(path, map="time=stamp,q=pos_*", rows="50:60")
    assert (refused.value.argument, refused.value.value) == ("rows", "50:60")
    with pytest.raises(InputError, match=r"time_range 1 2 has no sample of .* time runs from 0 to 0\.39 s"):
        Recording.load(path, map="time=stamp,q=pos_*", time_range=(1, 2), angles="radians")
    for odd in ((2, 1), (0, np.nan), (1,), ("a", "b"), 3):
        with pytest.raises(InputError, match="time_range"):
            Recording.load(path, map="time=stamp,q=pos_*", time_range=odd)  # type: ignore[arg-type]


def test_a_range_of_time_counts_in_seconds(tmp_path: Path) -> None:
    table = TABLE.copy()
    table[:, 0] *= 1e3
    path = write_csv(tmp_path / "log.csv", table=table)
    options: dict[str, Any] = {"map": "time=stamp,q=pos_*", "time_unit": "ms", "angles": "radians"}
    found = Recording.load(path, time_range=(0.1, 0.2), **options)
    np.testing.assert_allclose(found.signal("q").time, np.arange(10, 21) / 100, rtol=1e-15)
    np.testing.assert_array_equal(found.signal("q").values, TABLE[10:21, 1:13])
    with pytest.raises(UnknownNameError, match="s, ms, us, ns, min"):
        Recording.load(path, map="time=stamp,q=pos_*", time_unit="h")  # type: ignore[arg-type]


def test_milliseconds_are_divided_and_rounded_once(tmp_path: Path) -> None:
    stamps = np.array([1.0, 3.0, 1708857503929.0, 1708857503932.0])
    lines = ["time,q0", *(f"{stamp!r},0.5" for stamp in stamps.tolist())]
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    found = Recording.load(tmp_path / "log.csv", time_unit="ms")
    np.testing.assert_array_equal(found.signal("q").time, stamps / 1000)

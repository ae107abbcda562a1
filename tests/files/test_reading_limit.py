"""Files are read in blocks: in little memory, with the same outcome wherever a block ends, and up to a stated bound."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from iparam.errors import FileFormatError, InputError
from iparam.files.reading_limit import DEFAULT, VARIABLE, TooLargeError, check_size, read_bounded, reading_limit
from iparam.recording import Recording
from iparam.recording.files import number_rows
from iparam.recording.files.table import listed

NAMES = ["time", *(f"q{i}" for i in range(6)), "fx", "fy", "fz", "tx", "ty", "tz"]


def table(rows: int) -> pyarrow.Table:
    generator = np.random.default_rng(0)
    return pyarrow.table([np.arange(rows) / 500.0, *generator.normal(size=(12, rows))], names=NAMES)


def csv_of(data: pyarrow.Table, end: str = "\n") -> str:
    rows = zip(*(column.to_pylist() for column in data.columns), strict=True)
    return end.join([",".join(NAMES), *(",".join(map(repr, row)) for row in rows), ""])


def test_one_byte_more_tells_that_there_are_more(tmp_path: Path) -> None:
    place = tmp_path / "five"
    place.write_bytes(b"12345")
    assert read_bounded(place, 5, "it", "a file") == b"12345"
    assert read_bounded(place, 3, "it", "a file") == b"1234"
    with pytest.raises(FileFormatError, match="it is a directory; give a file"):
        read_bounded(tmp_path, 5, "it", "a file")
    with pytest.raises(FileFormatError, match="it does not exist; give a file"):
        read_bounded(tmp_path / "none", 5, "it", "a file")


def test_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reading_limit() == DEFAULT * 2**30
    monkeypatch.setenv(VARIABLE, "0.5")
    assert reading_limit() == 2**29
    check_size(2**29, "x", "something")
    with pytest.raises(TooLargeError, match=r"x holds something, 0\.75 GiB, more than the 0\.5 GiB .*_LIMIT=1"):
        check_size(3 * 2**28, "x", "something")
    for bad in ("many", "0", "-1", "nan", "inf"):
        monkeypatch.setenv(VARIABLE, bad)
        with pytest.raises(InputError, match=f"must be a positive number of GiB, got '{bad}'"):
            reading_limit()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_what_is_beyond_the_bound_is_refused_before_it_is_read(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"run{suffix}"
    constants = pyarrow.table([pyarrow.repeat(0.0, 100_000)] * len(NAMES), names=NAMES)
    if suffix == ".csv":
        path.write_text(",".join(NAMES) + "\n" + "0,0,0,0,0,0,0,0,0,0,0,0,0\n" * 100_000, encoding="ascii")
    else:
        pyarrow.parquet.write_table(constants, path)
        assert path.stat().st_size < 20_000  # of 10 MB
    monkeypatch.setenv(VARIABLE, "0.009")
    tracemalloc.start()
    with pytest.raises(TooLargeError, match=r"100000 rows of 13 numbers, 0\.0127 GiB, more than the 0\.009 .*IPARAM_"):
        Recording.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e7  # the numbers alone are as much
    monkeypatch.setenv(VARIABLE, "0.013")
    assert Recording.load(path).signal("q").num_samples == 1  # all at the same time


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_memory_is_a_small_multiple_of_the_numbers(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(number_rows, "BLOCK", 1 << 16)
    data, path = table(20_000), tmp_path / f"run{suffix}"
    if suffix == ".csv":
        path.write_text(csv_of(data), encoding="ascii")
    else:
        pyarrow.parquet.write_table(data, path, row_group_size=1000)
    Recording.load(path)  # once before, for what is imported and kept
    tracemalloc.start()
    found = Recording.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.signal("wrench").num_samples == 20_000
    assert peak < 3.0 * data.num_rows * data.num_columns * 8


FAULTS = {
    "sound": lambda lines: lines,
    "a word": lambda lines: [*lines[:9], lines[9].replace("0.", "x", 1), *lines[10:]],
    "short rows": lambda lines: [line[:20] if i % 7 == 3 else line for i, line in enumerate(lines)],
    "empty lines": lambda lines: [line if i % 5 or not i else "" for i, line in enumerate(lines)],
    "cut": lambda lines: [*lines[:-2], lines[-2][:-3]],
    "no last line end": lambda lines: lines[:-1],
    "holes": lambda lines: [lines[0], *(",".join([line.split(",")[0], *[""] * 12]) for line in lines[1:-1]), ""],
}


@pytest.mark.thorough(keep=7)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_where_a_block_ends_makes_no_difference(
    fault: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = FAULTS[fault](csv_of(table(40)).split("\n"))
    path = tmp_path / "run.csv"
    path.write_bytes(end.join(lines).encode("ascii"))

    def outcome() -> tuple[object, ...]:
        try:
            found = Recording.load(path)
        except FileFormatError as error:
            return (str(error),)
        return found.remarks, {name: (s.time.tolist(), s.values.tolist()) for name, s in found.signals.items()}

    whole = outcome()
    for size in (1, 2, 3, 100, 255, 256, 1000):
        monkeypatch.setattr(number_rows, "BLOCK", size)
        assert outcome() == whole, size


def test_a_line_without_end_is_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_rows, "LONGEST_LINE", 1000)
    monkeypatch.setattr(number_rows, "BLOCK", 256)
    path = tmp_path / "run.csv"
    path.write_text("time,q0\n0,1\n" + "1" * 5000 + "\n", encoding="ascii")
    with pytest.raises(FileFormatError, match="line 3 is longer than"):
        Recording.load(path)


def test_many_places_are_listed_quickly() -> None:
    assert listed([]) == ""
    assert listed([3]) == "3"
    assert listed([1, 2, 3, 7, 9, 10]) == "1-3, 7, 9-10"
    assert listed(range(0, 20, 2)) == "0, 2, 4, 6, 8, 10, 12, 14 and 2 more places"
    tracemalloc.start()
    text = listed(np.arange(0, 2_000_000, 2))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert text.endswith("14 and 999992 more places")
    assert peak < 5 * 8 * 1_000_000

"""`FleetTable`: pieces that survive, rows that are never there twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iparam.errors import FileFormatError, FileWriteError, InputError, IparamError
from iparam.fleet import FleetTable, table

if os.name != "nt":
    import resource


def test_rows_are_on_disk_in_pieces_and_in_one_file_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "ROWS_A_PIECE", 3)
    with FleetTable(tmp_path / "new" / "fleet") as rows:
        for name in "gcbadfe":
            rows.add({"source": name, "mass": 1.0})
        assert FleetTable(rows.folder).read()["source"].to_pylist() == list("abcdfg")  # as after a crash now
    assert sorted(path.name for path in rows.folder.iterdir()) == ["recordings.parquet"]
    assert pq.read_table(rows.folder / "recordings.parquet")["source"].to_pylist() == list("abcdefg")
    assert rows.read(["mass"]).column_names == ["source", "mass"]


def test_an_exception_loses_nothing_and_newer_rows_count(tmp_path: Path) -> None:
    def interrupted() -> None:
        with FleetTable(tmp_path) as rows:
            rows.add({"source": "a", "mass": 1.0})
            rows.add({"source": "b", "mass": 1.0})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not (tmp_path / "recordings.parquet").exists()
    with FleetTable(tmp_path) as rows:
        rows.add({"source": "a", "mass": 2.0})
    found = FleetTable(tmp_path).read().to_pylist()
    assert [(row["source"], row["mass"]) for row in found] == [("a", 2.0), ("b", 1.0)]
    with FleetTable(tmp_path) as rows:
        rows.add({"source": "b", "mass": 3.0})
    assert FleetTable(tmp_path).read(["mass"])["mass"].to_pylist() == [2.0, 3.0]


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_no_room_says_how_it_goes_on(tmp_path: Path) -> None:
    def full() -> None:
        with FleetTable(tmp_path) as rows:
            rows.add({"source": "a"})
            rows.flush()
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
            rows.add({"source": "b"})
            rows.flush()

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(IparamError, match=r"File too large. The rows before are kept: .* with resume=True"):
            full()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert FleetTable(tmp_path).unfinished
    assert FleetTable(tmp_path).read()["source"].to_pylist() == ["a"]
    with FleetTable(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["recordings.parquet"]
    assert not FleetTable(tmp_path).unfinished


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"has no recordings.parquet"):
        FleetTable(tmp_path).read()
    pq.write_table(pa.table({"source": ["a"]}), tmp_path / "recordings.parquet")
    with pytest.raises(FileFormatError, match="is a Parquet file of another program, not a table of a fleet"):
        FleetTable(tmp_path).read()
    other = pa.table({"source": ["a"]}).replace_schema_metadata({"iparam": "iparam-fleet/7"})
    pq.write_table(other, tmp_path / "recordings.parquet")
    with pytest.raises(FileFormatError, match=r"is a table of another version of iparam \(iparam-fleet/7\)"):
        FleetTable(tmp_path).check()
    (tmp_path / "recordings.parquet").unlink()
    (tmp_path / "recordings.parquet").mkdir()
    with pytest.raises(FileFormatError, match="is no file"):
        FleetTable(tmp_path).check()
    with pytest.raises(FileWriteError, match="cannot be deleted"):
        FleetTable(tmp_path).clear()
    (tmp_path / "file").write_text("")
    with pytest.raises(IparamError, match="cannot be written"), FleetTable(tmp_path / "file"):
        pass


@pytest.mark.skipif(os.name == "nt", reason="locks of POSIX")
def test_two_runs_do_not_write_into_one_folder(tmp_path: Path) -> None:
    with FleetTable(tmp_path / "t") as one:
        one.add({"source": "a"})
        with pytest.raises(InputError, match="another run is writing into"), FleetTable(tmp_path / "t"):
            pass
    with FleetTable(tmp_path / "t") as two:
        two.add({"source": "b"})
    assert two.read()["source"].to_pylist() == ["a", "b"]
    assert [path.name for path in (tmp_path / "t").iterdir()] == ["recordings.parquet"]
    (tmp_path / "file").touch()
    with pytest.raises(FileWriteError, match="cannot be written: Not a directory"), FleetTable(tmp_path / "file" / "t"):
        pass


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda whole: whole[:-3], "its end is missing, or overwritten"),
        (lambda whole: whole[: len(whole) // 2], "its end is missing, or overwritten"),
        (lambda whole: b"\0" * 100 + whole[100:], "it does not begin as a Parquet file does"),
        (lambda whole: whole.replace(b"arm1/saw", b"arm2/saw", 1), "what it holds does not fit its checksums"),
        (lambda whole: b"", "it is empty"),
    ],
    ids=["end", "half", "begin", "middle", "empty"],
)
@pytest.mark.parametrize("file", ["recordings.parquet", "pieces"])
def test_damage_is_said_and_costs_no_more_than_it_must(tmp_path: Path, damage: Any, told: str, file: str) -> None:
    """What is not damaged stays, and counts again once the rest is out of the way."""

    def cut_off(name: str) -> None:
        with FleetTable(tmp_path) as rows:
            rows.add({"source": name})
            raise KeyboardInterrupt

    with FleetTable(tmp_path) as rows:
        rows.add({"source": "arm1/saw"})
    with pytest.raises(KeyboardInterrupt):
        cut_off("arm1/saw 2")
    (piece,) = (tmp_path / "pieces").iterdir()
    path, left = (piece, ["arm1/saw"]) if file == "pieces" else (tmp_path / file, ["arm1/saw 2"])
    broken = damage(path.read_bytes())
    path.write_bytes(broken)
    with pytest.raises(FileFormatError, match=f"{path.name} is damaged: {told}. Nothing was changed.*or move it away"):
        FleetTable(tmp_path).read()
    assert path.read_bytes() == broken
    path.rename(tmp_path / "away")
    assert FleetTable(tmp_path).read()["source"].to_pylist() == left


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_no_room_for_the_first_row(tmp_path: Path) -> None:
    """Nothing is said to be kept where there is nothing."""

    def full() -> None:
        with FleetTable(tmp_path) as rows:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
            rows.add({"source": "a"})
            rows.flush()

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(IparamError, match=r"File too large. No row was written before: .* with resume=True"):
            full()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_table_with_fewer_columns_has_the_others_empty(tmp_path: Path) -> None:
    with FleetTable(tmp_path) as rows:
        rows.add({"source": "a", "mass": 1.0})
    path = tmp_path / "recordings.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["stated_arm", "causes"]), path)
    (row,) = FleetTable(tmp_path).rows()
    assert (row["mass"], row["stated_arm"], row["causes"]) == (1.0, None, None)
    assert len(FleetTable(tmp_path).rows(["mass"])) == 1

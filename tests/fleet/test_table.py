"""`FleetTable`: one file, replaced in one step, and never mistaken for another."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from iparam.errors import FileFormatError, FileWriteError
from iparam.fleet import FleetTable
from iparam.fleet.table import SCHEMA


def test_rows_come_back_by_source(tmp_path: Path) -> None:
    table = FleetTable(tmp_path / "new" / "fleet")
    when = datetime.datetime(2026, 11, 3, tzinfo=datetime.UTC)
    with table.held():
        table.write({name: {"source": name, "mass": 1.5, "recorded": when, "causes": ["x"]} for name in "cab"})
    rows = table.rows()
    assert list(rows) == ["a", "b", "c"]
    assert set(rows["a"]) == set(SCHEMA.names)
    assert (rows["b"]["mass"], rows["b"]["recorded"], rows["b"]["causes"]) == (1.5, when, ["x"])
    assert rows["c"]["verdict"] is None
    assert [path.name for path in table.folder.iterdir()] == ["table.parquet"]


def test_what_is_no_table_stays_as_it_is(tmp_path: Path) -> None:
    table = FleetTable(tmp_path)
    with pytest.raises(FileFormatError, match=r"has no table.parquet"):
        table.rows()
    table.write({"a": {"source": "a", "mass": 1.0, "sentence": "x" * 1000}})
    whole = table.path.read_bytes()
    place = whole.index(b"PAR1") + 200
    for damaged in (b"", b"PAR1 cut off", whole[:-100], whole[:place] + b"\xff\xff\xff" + whole[place + 3 :]):
        table.path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=r"is damaged, or no Parquet file"):
            table.rows()
        assert table.path.read_bytes() == damaged
    pq.write_table(pa.table({"x": [1]}), table.path)
    with pytest.raises(FileFormatError, match=r"is not a table of a fleet"):
        table.rows()
    pq.write_table(pa.table({"x": [1]}).replace_schema_metadata({"iparam": "iparam-fleet/1"}), table.path)
    with pytest.raises(FileFormatError, match=r"is a table of another version"):
        table.rows()


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(FileWriteError, match="cannot be written"), FleetTable(tmp_path / "file" / "x").held():
        pass

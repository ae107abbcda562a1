"""Rows found on the pages of a database are those that SQLite itself finds."""

from __future__ import annotations

import contextlib
import io
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from iparam.bridges.bag.storage.sqlite_file import ends_inside_page, rows_of_pages

INTEGERS = [
    0,
    1,
    -1,
    127,
    -128,
    128,
    32767,
    -32769,
    2**23,
    -(2**23) - 1,
    2**31,
    2**47,
    -(2**47) - 1,
    2**63 - 1,
    -(2**63),
]


@pytest.mark.parametrize("page_size", [512, 4096, 65536])
def test_all_rows_of_a_sound_database(tmp_path: Path, page_size: int) -> None:
    generator = np.random.default_rng(page_size)
    sizes = [
        *range(0, 400, 13),
        *range(page_size - 60, page_size + 20, 3),
        *range(4 * page_size, 5 * page_size, page_size // 9),
    ]
    path = tmp_path / "a.db3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute(f"PRAGMA page_size = {page_size}")
        base.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, fraction REAL, word TEXT, data BLOB)")
        base.execute("BEGIN")
        for i, size in enumerate(sizes):
            row = (INTEGERS[i % len(INTEGERS)], float(generator.normal()), "Länge" * (i % 5), generator.bytes(size))
            base.execute("INSERT INTO t (number, fraction, word, data) VALUES (?, ?, ?, ?)", row)
        base.execute("COMMIT")
        expected = {row[0]: list(row[1:]) for row in base.execute("SELECT * FROM t")}
    with path.open("rb") as stream:
        assert not ends_inside_page(stream)
        found = {
            number: values[1:] for number, values in rows_of_pages(stream) if len(values) == 5 and values[0] is None
        }
    assert found == expected
    assert len(found) == len(sizes)


@pytest.mark.parametrize("contents", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\0" * 200, b"x" * 5000])
def test_what_is_no_database_has_no_rows(contents: bytes) -> None:
    stream = io.BytesIO(contents)
    assert list(rows_of_pages(stream)) == []
    assert ends_inside_page(stream)


def test_rows_that_continue_in_a_circle_end(tmp_path: Path) -> None:
    path = tmp_path / "a.db3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA page_size = 512")
        base.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, data BLOB)")
        base.execute("INSERT INTO t (data) VALUES (?)", (bytes(100_000),))
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 512):
        data[512 * page : 512 * page + 4] = (page + 1).to_bytes(4, "big")  # every page continues on itself
    rows = list(rows_of_pages(io.BytesIO(bytes(data))))
    assert all(len(values) != 2 or values[1] is None for _, values in rows)

"""Every kind of bag gives the same recording; damaged, unfinished and hostile ones are refused with a way out."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag2 import CompressionMode

import iparam
from iparam.bridges.bag import open_bag, read_bag
from iparam.errors import FileFormatError, IparamError

START = 1_700_000_000_123_456_789
COUNT = 60
Fill = Callable[..., None]

KINDS = {
    "mcap": ("mcap", None),
    "sqlite3": ("sqlite3", None),
    "mcap-messages": ("mcap", CompressionMode.MESSAGE),
    "sqlite3-messages": ("sqlite3", CompressionMode.MESSAGE),
    "mcap-file": ("mcap", CompressionMode.FILE),
    "sqlite3-file": ("sqlite3", CompressionMode.FILE),
    "mcap-chunks": ("mcap", CompressionMode.STORAGE),
}


def check_values(recording: iparam.Recording) -> None:
    """That a recording is the one that `fill` makes, to the bit."""
    i, joint = np.arange(COUNT)[:, None], np.arange(6)
    np.testing.assert_array_equal(recording.signal("q").values, 0.3 * np.sin(0.01 * i + joint))
    np.testing.assert_array_equal(recording.signal("dq").values, np.broadcast_to(0.01 * joint, (COUNT, 6)))
    np.testing.assert_array_equal(recording.signal("wrench").values[:, 0], 0.1 * np.arange(COUNT))
    np.testing.assert_array_equal(recording.signal("q").time, 2_000_000 * np.arange(COUNT) / 1e9)
    np.testing.assert_array_equal(recording.signal("wrench").time, (2_000_000 * np.arange(COUNT) + 500_000) / 1e9)
    assert recording.metadata["bag"]["time_origin_ns"] == START


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("given", ["folder", "folder without metadata", "file"])
def test_every_kind_of_bag_gives_the_same_recording(maker: Any, fill: Fill, kind: str, given: str) -> None:
    fill(maker, COUNT)
    storage, compression = KINDS[kind]
    path = maker.write("bag", storage, compression)
    if given != "folder":
        (path / "metadata.yaml").unlink()
    if given == "file":
        (path,) = path.iterdir()
    recording = read_bag(path, "ur5e")
    check_values(recording)
    assert recording.metadata["bag"]["storage"] == [storage]
    assert ("bag-unfinished" in [one.code for one in recording.remarks]) == (given == "folder without metadata")
    topics = {topic["topic"]: (topic["messages"], topic["samples"]) for topic in recording.metadata["bag"]["topics"]}
    assert topics == {"/joint_states": (COUNT, COUNT), "/wrench": (COUNT, COUNT)}


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_a_bag_in_several_files_is_read_in_their_order(maker: Any, fill: Fill, storage: str) -> None:
    fill(maker, COUNT)
    everything = maker.messages
    folder = maker.folder / "split"
    folder.mkdir()
    for part in range(12):
        maker.messages = everything[10 * part : 10 * part + 10]
        (path,) = maker.write(f"part_{part}", storage).glob("part_*")
        shutil.copy(path, folder / f"split_{part}{path.suffix}")
    recording = read_bag(folder, "ur5e")
    check_values(recording)
    assert len(recording.remarks) == len(read_bag(maker.folder / "part_0", "ur5e").remarks) + 1  # no metadata.yaml
    (path,) = folder.glob("split_3.*")
    path.write_bytes(b"")
    with pytest.raises(FileFormatError, match=r"split_3\.\w+ is empty"):
        open_bag(folder)


def test_the_metadata_file_stands_for_its_folder(maker: Any, fill: Fill) -> None:
    fill(maker, COUNT)
    check_values(read_bag(maker.write() / "metadata.yaml", "ur5e"))


@pytest.mark.parametrize("name", ["a?mode=rwc", "b#c", "d%41", "e f'g"])
def test_names_that_mean_something_to_sqlite(maker: Any, fill: Fill, name: str) -> None:
    fill(maker, COUNT)
    folder = maker.folder / name
    maker.write("bag", "sqlite3").rename(folder)
    (folder / "bag.db3").rename(folder / f"{name}.db3")
    check_values(read_bag(folder, "ur5e"))
    assert sorted(file.name for file in maker.folder.iterdir()) == [name]


# -------------------------------------------------------------------------------------- damaged and unfinished bags
@pytest.mark.parametrize(("storage", "tool"), [("mcap", "mcap recover"), ("sqlite3", "sqlite3 bag.db3 .recover")])
@pytest.mark.parametrize("share", [0.05, 0.6, 0.99])
def test_a_cut_bag_names_the_tool_that_repairs_it(
    maker: Any, fill: Fill, storage: str, tool: str, share: float
) -> None:
    fill(maker, 1500)
    folder = maker.write(storage=storage)
    (path,) = (file for file in folder.iterdir() if file.suffix in (".mcap", ".db3"))
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(FileFormatError) as caught:
        open_bag(folder)
    assert tool in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_flipped_bits_never_end_in_a_traceback(maker: Any, fill: Fill, storage: str) -> None:
    fill(maker, 60)
    folder = maker.write(storage=storage)
    (path,) = (file for file in folder.iterdir() if file.suffix in (".mcap", ".db3"))
    data = path.read_bytes()
    generator = np.random.default_rng(3)
    for _ in range(8):
        damaged = bytearray(data)
        for place in generator.integers(0, len(data), 3):
            damaged[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(damaged)
        with contextlib.suppress(IparamError):
            read_bag(path, "ur5e")


@pytest.mark.parametrize("beside", ["bag.db3-wal", "bag.db3-journal"])
def test_a_database_that_was_not_closed_names_the_command_that_closes_it(maker: Any, fill: Fill, beside: str) -> None:
    fill(maker, 20)
    folder = maker.write(storage="sqlite3")
    (folder / beside).write_bytes(b"x" * 100)
    with pytest.raises(FileFormatError, match=rf"{beside} beside it.*sqlite3 .*bag\.db3 'PRAGMA journal_mode=DELETE'"):
        open_bag(folder)


def test_that_command_closes_it(maker: Any, fill: Fill) -> None:
    fill(maker, COUNT)
    path = maker.write(storage="sqlite3") / "bag.db3"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE later(id)")
        left = maker.folder / "left.db3"
        shutil.copy(path, left)
        shutil.copy(f"{path}-wal", f"{left}-wal")
    with pytest.raises(FileFormatError, match="was not closed"):
        open_bag(left)
    with contextlib.closing(sqlite3.connect(left, isolation_level=None)) as base:
        base.execute("PRAGMA journal_mode=DELETE")
    check_values(read_bag(left, "ur5e"))


# ------------------------------------------------------------------------------------- descriptions of a stranger
@pytest.mark.parametrize(
    "contents",
    ["{[", "", "rosbag2_bagfile_information: 3", "a: &a [*a, *a]", "[" * 100_000, "? [a]\n: b"],
    ids=lambda contents: contents[:24],
)
def test_metadata_that_is_wrong_is_passed_over(maker: Any, fill: Fill, contents: str) -> None:
    fill(maker, COUNT)
    folder = maker.write()
    (folder / "metadata.yaml").write_text(contents)
    recording = read_bag(folder, "ur5e")
    check_values(recording)
    assert "bag-metadata-damaged" in [one.code for one in recording.remarks]


def test_metadata_that_counts_other_messages(maker: Any, fill: Fill) -> None:
    fill(maker, 10)
    metadata = maker.write() / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("message_count: 20", "message_count: 25"))
    (said,) = open_bag(metadata).remarks
    assert (said.code, said.values["stated"], said.values["count"]) == ("bag-counts-differ", "25", 20)


@pytest.mark.parametrize("custom", ["x", "3", "[a, b]", "{a: [1], iparam: {b: c}}", "2020-01-01"])
def test_custom_data_of_any_type(maker: Any, fill: Fill, custom: str) -> None:
    fill(maker, COUNT)
    folder = maker.write()
    metadata = folder / "metadata.yaml"
    good = "\n".join(line for line in metadata.read_text().splitlines() if "custom_data" not in line)
    metadata.write_text(f"{good}\n  custom_data: {custom}\n")
    check_values(read_bag(folder, "ur5e"))
    assert open_bag(folder).remarks == ()


# --------------------------------------------------------------------------------------- contents that are too much
def database(path: Path, *statements: str) -> Path:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        for statement in statements:
            base.execute(statement)
    return path


TOPICS = "CREATE TABLE topics(id INTEGER PRIMARY KEY, name, type, serialization_format)"
ENDLESS = (
    "CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
    "SELECT id, 1 AS topic_id, 1 AS timestamp, x'00' AS data FROM n"
)
COMPUTED = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data AS (zeroblob(900000000)))"
ROWS = "INSERT INTO messages VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1)"


@pytest.mark.parametrize("statements", [(ENDLESS,), (COMPUTED, ROWS)], ids=["an endless view", "computed blobs"])
def test_a_database_that_computes_ends_in_an_error(
    tmp_path: Path, statements: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPARAM_READ_LIMIT", "0.5")
    insert = "INSERT INTO topics VALUES (1, '/a', 'sensor_msgs/msg/JointState', 'cdr')"
    path = database(tmp_path / "a.db3", TOPICS, *statements, insert)
    with pytest.raises(FileFormatError, match=r"a\.db3"):
        open_bag(path)


def test_more_messages_than_memory_is_meant_for(maker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zeros that are packed a thousand times: far more in memory than in the file."""
    for i in range(40):
        maker.raw("/robot_description", "std_msgs/msg/String", START + i, b"\0\1\0\0" + bytes(10_000_000))
    path = maker.write("bag", "mcap", CompressionMode.STORAGE)
    assert sum(file.stat().st_size for file in path.iterdir()) < 1_000_000
    monkeypatch.setenv("IPARAM_READ_LIMIT", "0.05")
    with pytest.raises(FileFormatError):
        open_bag(path)


def test_a_packed_file_is_unpacked_up_to_the_bound(
    maker: Any, fill: Fill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(maker, 100)
    folder = maker.write("packed", "mcap", CompressionMode.FILE)
    monkeypatch.setenv("IPARAM_READ_LIMIT", "0.00001")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(FileFormatError, match="IPARAM_READ_LIMIT"):
        open_bag(folder, kept_types=())
    assert not list(tmp_path.glob("iparam-bag-*"))

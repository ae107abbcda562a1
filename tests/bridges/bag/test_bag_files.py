"""Damaged and unfinished bags: read as far as they go, never with a traceback, and told what was lost."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
import struct
import tempfile
import zlib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import lz4.frame
import numpy as np
import pytest
from rosbags.rosbag2 import CompressionMode

import iparam
from iparam.bridges.bag import open_bag, read_bag
from iparam.bridges.bag.storage import mcap_file
from iparam.errors import FileFormatError, IparamError

UR = iparam.load_robot("ur5e").joint_names
START = 1_700_000_000_000_000_000
Fill = Callable[..., None]


# ---------------------------------------------------------------------- an MCAP writer of its own, from the format
def record(opcode: int, contents: bytes) -> bytes:
    return struct.pack("<BQ", opcode, len(contents)) + contents


def text(value: str) -> bytes:
    return struct.pack("<I", len(value.encode())) + value.encode()


def pack(data: bytes, compression: str) -> bytes:
    return lz4.frame.compress(data) if compression == "lz4" else data


def mcap_bytes(
    messages: list[tuple[str, str, int, bytes]],
    compression: str = "",
    per_chunk: int = 10,
    checksum: bool = True,
    language: str = "",
) -> bytes:
    """An unindexed file: magic, header, chunks (or bare messages if per_chunk is 0), data end, footer, magic."""
    topics = list(dict.fromkeys((topic, kind) for topic, kind, _, _ in messages))
    head = b""
    for number, (topic, kind) in enumerate(topics, 1):
        schema = struct.pack("<H", number) + text(kind) + text(language) + struct.pack("<I", 0)
        head += record(0x03, schema)
        head += record(0x04, struct.pack("<HH", number, number) + text(topic) + text("cdr") + struct.pack("<I", 0))
    records = [
        record(0x05, struct.pack("<HIQQ", topics.index((topic, kind)) + 1, i, log, log) + data)
        for i, (topic, kind, log, data) in enumerate(messages)
    ]
    body = head + b"".join(records) if not per_chunk else b""
    for start in range(0, len(records), per_chunk) if per_chunk else ():
        contents = (head if start == 0 else b"") + b"".join(records[start : start + per_chunk])
        crc = zlib.crc32(contents) if checksum else 0
        packed = pack(contents, compression)
        chunk = struct.pack("<QQQI", 0, 0, len(contents), crc) + text(compression) + struct.pack("<Q", len(packed))
        body += record(0x06, chunk + packed)
        body += record(0x07, struct.pack("<HI", 1, 0))  # a message index, of which nothing is needed
    magic = b"\x89MCAP0\r\n"
    end = record(0x0F, struct.pack("<I", 0)) + record(0x02, struct.pack("<QQI", 0, 0, 0))
    return magic + record(0x01, text("ros2") + text("a test")) + body + end + magic


def counts_of_cuts(path: Path, data: bytes, cuts: list[int]) -> list[int]:
    """Messages read of the first so many bytes of a file; what is not whole has to be said."""
    counts = []
    for cut in cuts:
        path.write_bytes(data[:cut])
        try:
            contents = open_bag(path)
        except FileFormatError:  # nothing at all can be read
            counts.append(0)
            continue
        counts.append(sum(log.count for log in contents.logs))
        assert cut == len(data) or contents.notes
        for log in contents.logs:
            assert len(log.payloads) == log.count
    return counts


def even_cuts(size: int, number: int = 40) -> list[int]:
    return sorted({*np.linspace(0, size, number).astype(int).tolist(), size - 1, size - 8, size - 9, size})


def assert_grows(counts: list[int], total: int) -> None:
    assert all(first <= second for first, second in pairwise(counts))
    assert counts[0] == 0
    assert counts[-1] == total
    assert len(set(counts)) > 5  # more of the file is more of its messages


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_a_cut_mcap_of_rosbags_gives_what_it_has(maker: Any, fill: Fill, compression: str) -> None:
    fill(maker, 4000)
    mode = CompressionMode.STORAGE if compression == "zstd" else None
    path = maker.write(compression=mode) / "bag.mcap"
    data = path.read_bytes()
    counts = counts_of_cuts(path, data, even_cuts(len(data)))
    assert_grows(counts, 8000)


@pytest.mark.parametrize("per_chunk", [0, 37, 1000])
@pytest.mark.parametrize("compression", ["", "lz4"])
def test_a_cut_mcap_of_another_writer_gives_what_it_has(
    maker: Any, fill: Fill, compression: str, per_chunk: int
) -> None:
    fill(maker, 300)
    data = mcap_bytes(maker.messages, compression, per_chunk)
    counts = counts_of_cuts(maker.folder / "a.mcap", data, even_cuts(len(data)))
    if compression and per_chunk == 1000:
        assert counts[-1] == 600  # lz4 gives its first block only when it is whole
        assert counts == sorted(counts)
    else:
        assert_grows(counts, 600)


def test_a_cut_inside_a_chunk_keeps_every_whole_message_before_it(maker: Any, fill: Fill) -> None:
    """Exactly: a bare file of one chunk, cut behind every record of it and one byte before."""
    fill(maker, 20)
    data = mcap_bytes(maker.messages, per_chunk=1000)
    path = maker.folder / "a.mcap"
    ends = []
    for _, _, log, payload in maker.messages:
        marker = struct.pack("<QQ", log, log) + payload
        assert data.count(marker) == 1
        ends.append(data.index(marker) + len(marker))
    assert counts_of_cuts(path, data, ends) == list(range(1, 41))
    assert counts_of_cuts(path, data, [end - 1 for end in ends]) == list(range(40))


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_the_recording_of_a_cut_bag_is_the_beginning_of_the_whole_one(maker: Any, fill: Fill, storage: str) -> None:
    fill(maker, 1500)
    folder = maker.write(storage=storage)
    whole = read_bag(folder, "ur5e")
    (path,) = (file for file in folder.iterdir() if file.suffix in (".mcap", ".db3"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    (folder / "metadata.yaml").unlink()
    part = read_bag(folder, "ur5e")
    for name in ("q", "wrench"):
        short, full = part.signal(name), whole.signal(name)
        assert 750 < short.num_samples < 1250
        at = np.searchsorted(full.time, short.time)
        np.testing.assert_array_equal(full.time[at], short.time)
        np.testing.assert_array_equal(full.values[at], short.values)
    assert any("has no metadata.yaml" in warning for warning in part.warnings)
    assert any("breaks off" in w or "read page by page" in w for w in part.warnings)
    found = sum(topic["messages"] for topic in part.metadata["bag"]["topics"])
    assert any(f"{found} messages" in warning for warning in part.warnings)


def test_a_bag_that_was_cut_says_so(maker: Any, fill: Fill, tmp_path: Path) -> None:
    fill(maker, 50)
    data = next(maker.write().glob("*.mcap")).read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(data[: len(data) // 2])
    (note,) = open_bag(cut).notes
    assert re.search(r"breaks off in the record that begins at byte \d+ of \d+: .* [1-9]\d* messages were read", note)
    cut.write_bytes(data[:100])
    with pytest.raises(FileFormatError, match=r"no messages of type sensor_msgs/msg/JointState.*it was cut"):
        read_bag(cut, "ur5e")
    cut.write_bytes(data[:5])
    with pytest.raises(FileFormatError, match="was cut off after 5 bytes, before its first message: copy it again"):
        open_bag(cut)


def test_a_chunk_with_a_wrong_checksum_is_left_out(maker: Any, fill: Fill) -> None:
    fill(maker, 50)
    data = bytearray(mcap_bytes(maker.messages, per_chunk=10))
    place = data.index(maker.messages[42][3]) + 60  # inside a message of the fifth chunk
    data[place] ^= 0x40
    path = maker.folder / "a.mcap"
    path.write_bytes(data)
    contents = open_bag(path)
    assert sum(log.count for log in contents.logs) == 90
    assert any("1 chunks whose contents do not match their checksum" in note for note in contents.notes)
    assert any("1 gaps" in warning for warning in read_bag(path, "ur5e").warnings)


def test_a_chunk_that_cannot_be_unpacked_is_left_out(maker: Any, fill: Fill) -> None:
    fill(maker, 50)
    path = maker.folder / "a.mcap"
    data = mcap_bytes(maker.messages, "lz4", per_chunk=10)
    starts = [i for i in range(len(data)) if data.startswith(b"\x04\x22\x4d\x18", i)]  # lz4's frames
    assert len(starts) == 10
    path.write_bytes(data[: starts[4]] + b"\xff" * 40 + data[starts[4] + 40 :])
    contents = open_bag(path)
    assert sum(log.count for log in contents.logs) == 90
    assert any("cannot be unpacked" in note for note in contents.notes)
    path.write_bytes(data.replace(b"\x03\0\0\0lz4", b"\x03\0\0\0xyz"))
    assert any("compressed by 'xyz'" in note for note in open_bag(path).notes)


def test_a_stated_size_is_not_believed(maker: Any, fill: Fill) -> None:
    """A chunk that claims to unpack to more than any memory costs none."""
    fill(maker, 5)
    data = bytearray(mcap_bytes(maker.messages, "lz4", per_chunk=10, checksum=False))
    chunk = data.index(b"\x03\0\0\0lz4") - 28
    data[chunk + 16 : chunk + 24] = struct.pack("<Q", 1 << 62)
    path = maker.folder / "a.mcap"
    path.write_bytes(data)
    contents = open_bag(path)
    assert contents.logs == ()
    assert contents.notes


def test_space_reserved_behind_the_data_is_no_data(maker: Any, fill: Fill) -> None:
    fill(maker, 30)
    path = maker.folder / "a.mcap"
    data = mcap_bytes(maker.messages, per_chunk=10)
    written = len(data) - 50  # the data end, the footer and the magic bytes have not been reached
    path.write_bytes(data[:written] + b"\0" * 5000)
    contents = open_bag(path)
    assert sum(log.count for log in contents.logs) == 60
    assert f"breaks off in the record that begins at byte {written} of {written + 5000}" in contents.notes[0]


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_flipped_bits_never_end_in_a_traceback(maker: Any, fill: Fill, storage: str) -> None:
    fill(maker, 60)
    folder = maker.write(storage=storage)
    (path,) = (file for file in folder.iterdir() if file.suffix in (".mcap", ".db3"))
    data = path.read_bytes()
    generator = np.random.default_rng(3)
    for _ in range(40):
        damaged = bytearray(data)
        for place in generator.integers(0, len(data), 3):
            damaged[place] ^= 1 << int(generator.integers(8))
        path.write_bytes(damaged)
        with contextlib.suppress(IparamError):
            read_bag(path, "ur5e")


# ------------------------------------------------------------------------------------------------------- SQLite
def test_a_cut_sqlite_bag_gives_what_it_has(maker: Any, fill: Fill) -> None:
    fill(maker, 1500)
    path = maker.write(storage="sqlite3") / "bag.db3"
    data = path.read_bytes()
    pages = [page * 4096 for page in range(0, len(data) // 4096, 11)]
    assert_grows(counts_of_cuts(path, data, sorted({*even_cuts(len(data), 30), *pages})), 3000)


def test_messages_that_span_pages_are_recovered(maker: Any) -> None:
    """200 joints do not fit a page of 4096 bytes, and 2000 not two of them."""
    names = [*UR, *(f"finger_{i}" for i in range(2000))]
    for i in range(20):
        few = names if i % 2 else names[:200]
        maker.joints(START + i * 2_000_000, few, [0.01 * i + 1e-4 * joint for joint in range(len(few))])
    path = maker.write(storage="sqlite3") / "bag.db3"
    whole = read_bag(path, "ur5e").signal("q").values
    data = path.read_bytes()
    path.write_bytes(data[:-4096])  # an index page, or the last of a message
    part = read_bag(path, "ur5e")
    assert part.signal("q").num_samples >= 19
    np.testing.assert_array_equal(part.signal("q").values, whole[: part.signal("q").num_samples])


def crashed_copy(maker: Any, mode: str, committed: int, pending: int) -> Path:
    """A bag as a crash leaves it: some messages committed, more on their way to the disk."""
    base_path = maker.folder / "live.db3"
    topics = list(dict.fromkeys((topic, kind) for topic, kind, _, _ in maker.messages))
    with contextlib.closing(sqlite3.connect(base_path, isolation_level=None)) as base:
        base.execute(f"PRAGMA journal_mode = {mode}")
        base.execute("PRAGMA cache_size = 5")  # pages: so that a transaction reaches the disk before its end
        base.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)")
        base.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)")
        base.execute("CREATE INDEX timestamp_idx ON messages (timestamp ASC)")
        for number, (topic, kind) in enumerate(topics, 1):
            base.execute("INSERT INTO topics VALUES (?, ?, ?, 'cdr')", (number, topic, kind))
        rows = [(topics.index((topic, kind)) + 1, log, data) for topic, kind, log, data in maker.messages]
        insert = "INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)"
        base.execute("BEGIN")
        base.executemany(insert, rows[:committed])
        base.execute("COMMIT")
        base.execute("BEGIN")
        base.executemany(insert, rows[committed : committed + pending])
        left = maker.folder / "left"
        left.mkdir()
        for file in maker.folder.glob("live.db3*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, left / file.name)
        base.execute("ROLLBACK")
    return left / "live.db3"


@pytest.mark.parametrize(("mode", "beside"), [("wal", "live.db3-wal"), ("delete", "live.db3-journal")])
def test_what_a_crash_left_beside_the_database_is_used(maker: Any, fill: Fill, mode: str, beside: str) -> None:
    fill(maker, 500)
    path = crashed_copy(maker, mode, 600, 400)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert beside in before
    contents = open_bag(path)
    assert sum(log.count for log in contents.logs) == 600
    assert any(f"{beside} beside it was used" in note for note in contents.notes)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before
    assert read_bag(path, "ur5e").signal("q").num_samples == 300


def test_a_crash_without_a_journal_costs_no_committed_message(maker: Any, fill: Fill) -> None:
    """As rosbag2 records by default: the journal is in memory, and gone."""
    fill(maker, 1500)
    path = crashed_copy(maker, "memory", 2000, 900)
    contents = open_bag(path)
    assert 2000 <= sum(log.count for log in contents.logs) <= 2900
    assert read_bag(path, "ur5e").signal("q").num_samples >= 1000


# ------------------------------------------------------------------------------------------------------- folders
def test_a_bag_in_several_files_is_read_in_their_order(maker: Any, fill: Fill) -> None:
    fill(maker, 120)
    everything = maker.messages
    folder = maker.folder / "split"
    folder.mkdir()
    for part in range(12):
        data = mcap_bytes(everything[20 * part : 20 * part + 20])
        (folder / f"split_{part}.mcap").write_bytes(data)
    recording = read_bag(folder, "ur5e")
    assert recording.signal("q").num_samples == 120
    assert len(recording.warnings) == 1  # no metadata.yaml; nothing out of order
    (folder / "split_3.mcap").write_bytes(b"")
    recording = read_bag(folder, "ur5e")
    assert recording.signal("q").num_samples == 110
    assert any("split_3.mcap is empty; the bag's other files were read" in w for w in recording.warnings)


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize("mode", [CompressionMode.FILE, CompressionMode.MESSAGE])
def test_compressed_bags_are_read(maker: Any, fill: Fill, storage: str, mode: CompressionMode) -> None:
    fill(maker, 100)
    plain = read_bag(maker.write("plain", storage), "ur5e")
    folder = maker.write("packed", storage, mode)
    packed = read_bag(folder, "ur5e")
    assert packed.warnings == plain.warnings
    for name in ("q", "dq", "wrench"):
        np.testing.assert_array_equal(packed.signal(name).values, plain.signal(name).values)
        np.testing.assert_array_equal(packed.signal(name).time, plain.signal(name).time)
    if mode is CompressionMode.FILE:
        (path,) = folder.glob("*.zstd")
        for part in (20, path.stat().st_size // 2):
            path.write_bytes(path.read_bytes()[:part])
            with contextlib.suppress(FileFormatError):
                assert any("cut or damaged" in note for note in open_bag(folder).notes)


def test_metadata_that_is_wrong_does_no_harm(maker: Any, fill: Fill) -> None:
    fill(maker, 10)
    folder = maker.write()
    metadata = folder / "metadata.yaml"
    good = metadata.read_text()
    for contents, expected in (
        ("{[", "is damaged and was not used"),
        ("a: &a [*a, *a]", "is damaged and was not used"),
        ("rosbag2_bagfile_information: 3", "is damaged and was not used"),
        ("", "is damaged and was not used"),
        (good.replace("message_count: 20", "message_count: 25"), "counts 25 messages, 20 were found"),
        (good.replace("- bag.mcap", "- ../../bag_7.mcap"), "names files that are not there: bag_7.mcap"),
    ):
        metadata.write_text(contents)
        recording = read_bag(folder, "ur5e")
        assert recording.signal("q").num_samples == 10
        assert any(expected in warning for warning in recording.warnings), recording.warnings
    metadata.write_bytes(b"\xff\xfe\0")
    assert any("is damaged" in warning for warning in read_bag(folder, "ur5e").warnings)
    metadata.write_text(good)
    assert read_bag(metadata, "ur5e").warnings == read_bag(folder, "ur5e").warnings == ()


@pytest.mark.parametrize("kind", ["sensor_msgs::msg::dds_::JointState_", "sensor_msgs/JointState"])
def test_other_spellings_of_a_type_are_understood(maker: Any, fill: Fill, kind: str) -> None:
    fill(maker, 5)
    spelled = [(t, kind if k.endswith("JointState") else k, log, d) for t, k, log, d in maker.messages]
    path = maker.folder / "a.mcap"
    path.write_bytes(mcap_bytes(spelled))
    assert read_bag(path, "ur5e").signal("q").num_samples == 5


# ------------------------------------------------------------------------------------- descriptions of a stranger
def alias_bomb(key: str) -> str:
    """Nine to the power of ten words in a few hundred bytes."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise("abcdefghij")]
    return "\n".join([*lines, "rosbag2_bagfile_information:", f"  {key}: *j"])


@pytest.mark.parametrize(
    "contents",
    [
        alias_bomb("relative_file_paths"),
        alias_bomb("custom_data"),
        "[" * 100_000,
        "{a: " * 10_000,
        "- " * 1_000,
        "[" + "a, " * 100_000,
        "x" * (1 << 21),
        "rosbag2_bagfile_information: {relative_file_paths: x}",
        "rosbag2_bagfile_information: {relative_file_paths: [[bag.mcap]]}",
        "? [a]\n: b",
    ],
    ids=lambda contents: contents[:24],
)
def test_a_hostile_description_is_passed_over(maker: Any, fill: Fill, contents: str) -> None:
    fill(maker, 10)
    folder = maker.write()
    (folder / "metadata.yaml").write_text(contents)
    found = open_bag(folder)
    assert sum(log.count for log in found.logs) == 20
    assert any("is damaged and was not used" in note for note in found.notes)


@pytest.mark.parametrize("custom", ["x", "3", "[a, b]", "{a: [1], iparam: {b: c}}", "2020-01-01", "!!python/none x"])
def test_custom_data_of_any_type(maker: Any, fill: Fill, custom: str) -> None:
    fill(maker, 10)
    folder = maker.write()
    metadata = folder / "metadata.yaml"
    good = "\n".join(line for line in metadata.read_text().splitlines() if "custom_data" not in line)
    metadata.write_text(f"{good}\n  custom_data: {custom}\n")
    recording = read_bag(folder, "ur5e")
    assert recording.signal("q").num_samples == 10
    assert recording.warnings == ()


def database(path: Path, *statements: str) -> Path:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as base:
        for statement in statements:
            base.execute(statement)
    return path


MESSAGES = "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data)"
TOPICS = "CREATE TABLE topics(id, name, type, serialization_format)"


def test_a_topic_without_a_number_is_passed_over(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.db3",
        TOPICS,
        MESSAGES,
        "INSERT INTO topics VALUES (NULL, '/a', 'a/msg/A', 'cdr'), ('x', '/b', 'a/msg/A', 'cdr')",
        "INSERT INTO topics VALUES (3, NULL, 'a/msg/A', 'cdr'), (4, '/d', x'00', 'cdr'), (5, '/e', 'a/msg/A', NULL)",
        "INSERT INTO messages VALUES (1, 5, 10, x'00'), (2, NULL, 11, x'00'), (3, 5, 'then', x'00')",
    )
    found = open_bag(path)
    assert [(log.topic.name, log.count) for log in found.logs] == [("/e", 1)]
    assert any("2 damaged messages" in note for note in found.notes)


ENDLESS = (
    "CREATE VIEW Messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
    "SELECT id, 1 AS topic_id, 1 AS timestamp, x'00' AS data FROM n"
)


@pytest.mark.parametrize(
    "statements",
    [
        (TOPICS, ENDLESS),
        (
            TOPICS,
            "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, data AS (zeroblob(900000000)))",
            "INSERT INTO messages VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1)",
        ),
    ],
    ids=["an endless view", "computed blobs"],
)
def test_a_database_that_computes_is_not_asked(tmp_path: Path, statements: tuple[str, ...]) -> None:
    insert = "INSERT INTO topics VALUES (1, '/a', 'sensor_msgs/msg/JointState', 'cdr')"
    path = database(tmp_path / "a.db3", *statements, insert)
    with pytest.raises(FileFormatError, match=r"is no table|has computed columns"):
        open_bag(path)


def test_what_sqlite_gave_before_it_met_the_damage_is_not_counted_twice(maker: Any, fill: Fill) -> None:
    fill(maker, 2000)
    (path,) = maker.write("bag", "sqlite3").glob("*.db3")
    data = bytearray(path.read_bytes())
    for page in range(len(data) // 4096 - 1, 0, -1):
        if data[4096 * page] == 0x0D and len(data) - 4096 * page > 100_000:  # a page of rows, far behind the first
            data[4096 * page + 3 : 4096 * page + 8] = b"\xff" * 5
            break
    path.write_bytes(data)
    found = open_bag(path)
    assert any("it was read page by page" in note for note in found.notes)
    assert 3800 < sum(log.count for log in found.logs) <= 4000
    for log in found.logs:
        assert len(set(log.times)) == log.count == len(log.payloads)


# --------------------------------------------------------------------------------------- contents that are too much
@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_more_messages_than_memory_is_meant_for(
    maker: Any, fill: Fill, storage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(maker, 200)
    folder = maker.write("bag", storage)
    assert read_bag(folder, "ur5e").signal("q").num_samples == 200
    monkeypatch.setenv("IPARAM_READ_LIMIT", "0.00002")  # 21 kB
    with pytest.raises(FileFormatError, match=r"bag holds at least \d+ messages.*IPARAM_READ_LIMIT=1"):
        read_bag(folder, "ur5e")
    assert len(open_bag(folder, kept_types=()).logs) == 2  # counting takes next to nothing


def test_a_packed_file_is_unpacked_up_to_the_bound(
    maker: Any, fill: Fill, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fill(maker, 100)
    folder = maker.write("packed", "mcap", CompressionMode.FILE)
    monkeypatch.setenv("IPARAM_READ_LIMIT", "0.00001")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(FileFormatError, match="packed contents of at least this size"):
        open_bag(folder, kept_types=())
    assert not list(tmp_path.glob("iparam-bag-*"))


def test_chunks_that_unpack_to_far_more_than_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(1 << 20)
    packed = lz4.frame.compress(zeros)
    chunk = struct.pack("<QQQI", 0, 0, len(zeros), 0) + text("lz4") + struct.pack("<Q", len(packed)) + packed
    path = tmp_path / "a.mcap"
    path.write_bytes(b"\x89MCAP0\r\n" + record(0x06, chunk) * 10)
    monkeypatch.setenv("IPARAM_READ_LIMIT", "0.002")
    with pytest.raises(FileFormatError, match="chunks that are packed more than 100 times"):
        open_bag(path)
    monkeypatch.setattr(mcap_file, "MOST_PACKED", 1000)  # LZ4 packs up to 255 times
    assert open_bag(path).logs == ()


@pytest.mark.parametrize("bound", ["LARGEST_CHUNK", "LARGEST_MESSAGE"])
def test_a_record_larger_than_any_writer_makes_is_damage(
    maker: Any, fill: Fill, bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(maker, 20)
    path = maker.folder / "a.mcap"
    path.write_bytes(mcap_bytes(maker.messages, per_chunk=10 if bound == "LARGEST_CHUNK" else 0))
    assert sum(log.count for log in open_bag(path).logs) == 40
    monkeypatch.setattr(mcap_file, bound, 150)
    found = open_bag(path)
    assert sum(log.count for log in found.logs) < 40
    assert any("chunks whose contents" in note or "damaged records" in note for note in found.notes)

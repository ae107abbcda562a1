"""What can be wrong inside a binary file: Parquet, STL, glTF, SQLite, MCAP, zstd."""

from __future__ import annotations

import io
import json
import random
import re
import sqlite3
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from attack.corpus.bad_texts import bad_json
from attack.corpus.hostile import HOSTILE


# ------------------------------------------------------------------------------------------------------ Parquet
def bad_parquet(contents: bytes) -> Iterator[tuple[str, bytes]]:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(io.BytesIO(contents))
    rows = table.num_rows

    def packed(table: Any, **options: Any) -> bytes:
        stream = io.BytesIO()
        pyarrow.parquet.write_table(table, stream, **options)
        return stream.getvalue()

    def with_column(place: int, column: Any, name: str | None = None) -> bytes:
        return packed(table.set_column(place, name or table.column_names[place], column))

    number = pyarrow.float64()
    columns = {
        "integers above 2^53": pyarrow.array([2**53 + 1 + i for i in range(rows)]),
        "integers above 2^63": pyarrow.array([2**63 + i for i in range(rows)], pyarrow.uint64()),
        "halves": pyarrow.array([1.0] * rows, pyarrow.float16()),
        "decimals": pyarrow.array(list(range(rows)), pyarrow.decimal128(38, 0)),
        "texts": pyarrow.array([HOSTILE] * rows),
        "bytes": pyarrow.array([b"\xff"] * rows),
        "truths": pyarrow.array([True] * rows),
        "dates": pyarrow.array(list(range(rows)), pyarrow.timestamp("ns")),
        "lists": pyarrow.array([[1.0]] * rows),
        "objects": pyarrow.array([{"a": 1.0}] * rows),
        "labels": pyarrow.array(["a"] * rows).dictionary_encode(),
        "nothing": pyarrow.nulls(rows),
        "missing numbers": pyarrow.nulls(rows, number),
        "not numbers": pyarrow.array([float("nan")] * rows),
        "infinite numbers": pyarrow.array([float("inf")] * rows),
        "huge numbers": pyarrow.array([1e308] * rows),
        "zeros": pyarrow.array([0.0] * rows),
    }
    for name, column in columns.items():
        yield f"times: {name}", with_column(0, column)
        yield f"a column: {name}", with_column(1, column)
    for name in ("time", "q99999999", "q-1", HOSTILE, ""):
        yield f"a column called {name[:10]!r}", with_column(1, table.column(1), name)
    yield "names of an enemy beside the others", packed(table.append_column(HOSTILE, columns["zeros"]))
    yield "texts of an enemy beside the others", packed(table.append_column(HOSTILE, columns["texts"]))
    yield "names that are no text", contents.replace(b"time", b"\xff\xfe\x9b\x1b")
    yield "a name that is no text", contents.replace(b"q1", b"\xff\x9b")
    yield "no rows", packed(table.slice(0, 0))
    yield "no columns", packed(pyarrow.table({}))
    yield "a column", packed(table.select([0]))
    yield "a thousand columns", packed(pyarrow.table({f"q{i}": [0.0] for i in range(1000)} | {"time": [0.0]}))
    yield "a count of rows that is a lie", _with_larger_integers(contents, rows)
    yield "no description", packed(table.replace_schema_metadata({}))
    description = (table.schema.metadata or {}).get(b"iparam")
    if description is not None:  # other tables are read in blocks, and a long one is not refused
        yield "rows of 16 GB", _parquet_bomb(table.column_names)
        for name, text in bad_json(description):
            yield f"description: {name}", packed(table.replace_schema_metadata({b"iparam": text}))
        yield "a description that is no text", packed(table.replace_schema_metadata({b"iparam": b"\xff\xfe"}))


def _parquet_bomb(names: list[str], numbers: int = 1 << 31) -> bytes:
    """A file of some kilobytes that holds so many ``numbers``, all of them 0."""
    import pyarrow
    import pyarrow.parquet

    stream, rows = io.BytesIO(), 1 << 20
    zeros = pyarrow.array(np.zeros(rows))
    batch = pyarrow.table([zeros] * len(names), names=names)
    pyarrow.parquet.write_table(batch, stream, row_group_size=rows, compression="zstd")
    return _with_more_row_groups(stream.getvalue(), numbers // (rows * len(names)), rows)


def _with_more_row_groups(contents: bytes, count: int, rows: int) -> bytes:
    """The same file with an index that lists its only group of rows ``count`` times."""
    size = int.from_bytes(contents[-8:-4], "little")
    start = len(contents) - 8 - size
    index = contents[start:-8]
    found = {number: (first, last) for number, first, last in _thrift_fields(index)}
    (count_start, count_end), (groups_start, groups_end) = found[3], found[4]
    assert _varint(2 * rows) == index[count_start:count_end]
    group = index[groups_start + 1 : groups_end]  # behind the list's head, which counts one
    index = b"".join(
        (
            index[:count_start],
            _varint(2 * rows * count),
            index[count_end:groups_start],
            b"\xfc" + _varint(count) + group * count,
            index[groups_end:],
        )
    )
    return contents[:start] + index + struct.pack("<I", len(index)) + contents[-4:]


def _with_larger_integers(contents: bytes, value: int) -> bytes:
    """The same file with an index in which every ``value`` is enormous."""
    size = int.from_bytes(contents[-8:-4], "little")
    start = len(contents) - 8 - size
    index = contents[start:-8].replace(_varint(2 * value), _varint(2 << 40))
    return contents[:start] + index + struct.pack("<I", len(index)) + contents[-4:]


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def _thrift_fields(data: bytes, at: int = 0) -> Iterator[tuple[int, int, int]]:
    """The fields of a structure in Thrift's compact protocol: number, and where the value begins and ends."""
    number = 0
    while data[at]:
        kind, step = data[at] & 15, data[at] >> 4
        number += step
        assert step, "a field's number in its long form"
        end = _thrift_end(data, at + 1, kind)
        yield number, at + 1, end
        at = end


def _thrift_end(data: bytes, at: int, kind: int) -> int:
    """Where a value ends."""
    if kind in (1, 2):  # a truth value is in its head
        return at
    if kind == 3:
        return at + 1
    if kind in (4, 5, 6):
        return _thrift_integer(data, at)[1]
    if kind == 7:
        return at + 8
    if kind == 8:
        size, at = _thrift_integer(data, at)
        return at + size
    if kind in (9, 10):
        size, kind, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = _thrift_integer(data, at)
        for _ in range(size):
            at = _thrift_end(data, at, kind) if kind not in (1, 2) else at + 1
        return at
    assert kind == 12, kind
    *_, end = (at, *(end for _, _, end in _thrift_fields(data, at)))
    return end + 1


def _thrift_integer(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


# ---------------------------------------------------------------------------------------------------------- STL
def bad_stl(contents: bytes) -> Iterator[tuple[str, bytes]]:
    if contents.startswith(b"solid"):
        for word in ("nan", "inf", "1e308", "x", "", "1 2"):
            yield f"numbers {word!r}", re.sub(rb"-?\d+\.\d+(e-?\d+)?", word.encode(), contents)
        yield "a loop without an end", contents.replace(b"endloop", b"")
        yield "no facets", b"solid x\nendsolid x\n"
        yield "a name of an enemy", contents.replace(b"solid", b"solid " + HOSTILE.encode().replace(b"\r", b""), 1)
        return
    for count in (0, 1, 11, 13, 2**31, 2**32 - 1):
        yield f"{count} triangles", contents[:80] + struct.pack("<I", count) + contents[84:]
    for value in (float("nan"), float("inf"), 3e38, 1e-45, 0.0):
        triangle = struct.pack("<12fH", *[value] * 12, 0)
        yield f"coordinates {value}", contents[:84] + triangle * 12
        yield f"a triangle of {value}", contents[:84] + triangle + contents[134:]
    yield "the head of a text", b"solid" + contents[5:]
    yield "only a head", contents[:84]


def bad_glb(contents: bytes) -> Iterator[tuple[str, bytes]]:
    """What can be wrong in a binary glTF: JSON that counts what the bytes behind it hold."""
    length = int.from_bytes(contents[12:16], "little")
    document, rest = json.loads(contents[20 : 20 + length]), contents[20 + length :]

    def packed(**changed: Any) -> bytes:
        text = json.dumps({**document, **changed}).encode()
        text += b" " * (-len(text) % 4)
        chunk = struct.pack("<II", len(text), 0x4E4F534A) + text
        return b"glTF" + struct.pack("<II", 2, 12 + len(chunk) + len(rest)) + chunk + rest

    accessors = document["accessors"]
    for count in (0, -1, 400_000_000, 2**62, "x", None, 1.5):
        counted = [{**accessor, "count": count} for accessor in accessors]
        yield f"a count of {count}", packed(accessors=counted)
        empty = [{key: value for key, value in one.items() if key != "bufferView"} for one in counted]
        yield f"a count of {count} without bytes", packed(accessors=empty)
        sparse = {
            "count": 1,
            "indices": {"bufferView": 0, "componentType": 5125},
            "values": {"bufferView": 0},
        }
        yield (
            f"a count of {count} of which one is there",
            packed(accessors=[{**one, "sparse": sparse} for one in empty]),
        )
    for key in ("byteOffset", "byteLength", "byteStride", "buffer"):
        for value in (-1, 2**62, "x"):
            yield f"{key} {value}", packed(bufferViews=[{**view, key: value} for view in document["bufferViews"]])
    mesh = next(node["mesh"] for node in document["nodes"] if "mesh" in node)
    doubling = [{"children": [place + 1, place + 1]} for place in range(40)]
    yield "nodes of nodes", packed(nodes=[*doubling, {"mesh": mesh}], scenes=[{"nodes": [0]}])
    yield "a node in itself", packed(nodes=[{"children": [0], "mesh": mesh}], scenes=[{"nodes": [0]}])
    yield (
        "a chain of nodes",
        packed(
            nodes=[*({"children": [place + 1]} for place in range(20_000)), {"mesh": mesh}], scenes=[{"nodes": [0]}]
        ),
    )
    yield "one mesh many times", packed(nodes=[{"mesh": mesh}] * 20_000, scenes=[{"nodes": list(range(20_000))}])
    yield "a buffer from a file", packed(buffers=[{"uri": "/dev/zero", "byteLength": 400}])
    yield "a picture", packed(images=[{"uri": "/dev/zero"}], textures=[{"source": 0}])
    for key in document:
        yield f"without {key}", packed(**{key: None})


# --------------------------------------------------------------------------------------------------------- bags
_ENDLESS_VIEW = (
    "DROP TABLE messages; CREATE VIEW messages(id, topic_id, timestamp, data) AS "
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, 1, i, x'' FROM n"
)


def bad_sqlite(contents: bytes) -> Iterator[tuple[str, bytes]]:
    page = int.from_bytes(contents[16:18], "big")
    for number in (0, 1, 2, 3, len(contents) // page - 1):
        for name, filling in (
            ("zeros", bytes(page)),
            ("ones", b"\xff" * page),
            ("garbage", random.Random(number).randbytes(page)),
        ):
            yield f"page {number}: {name}", contents[: number * page] + filling + contents[(number + 1) * page :]
            inside = slice(number * page + (100 if number == 0 else 0), number * page + 200)
            yield (
                f"head of page {number}: {name}",
                contents[: inside.start] + filling[: inside.stop - inside.start] + contents[inside.stop :],
            )
    for size in (0, 1, 256, 65535):
        yield f"pages of {size} bytes", contents[:16] + size.to_bytes(2, "big") + contents[18:]
    yield "an odd end", contents[:-777]
    hostile = HOSTILE.replace("'", "''")
    for script in (
        "DROP TABLE messages",
        "DROP TABLE topics",
        "DELETE FROM messages",
        "DELETE FROM topics",
        "ALTER TABLE messages RENAME COLUMN data TO x",
        f"UPDATE topics SET name = '{hostile}' || id",
        f"UPDATE topics SET type = '{hostile}'",
        f"UPDATE topics SET serialization_format = '{hostile}'",
        "UPDATE topics SET name = NULL, type = NULL, serialization_format = NULL",
        "UPDATE topics SET name = x'ff9b', type = x'ff', serialization_format = 1",
        "UPDATE topics SET name = CAST(x'ff9b1b' AS TEXT), type = CAST(x'ff9b1b' AS TEXT)",
        "UPDATE topics SET name = 'a'",
        "UPDATE topics SET type = 'sensor_msgs/msg/JointState'",
        "UPDATE topics SET type = 'geometry_msgs/msg/WrenchStamped'",
        "UPDATE messages SET timestamp = 'x'",
        "UPDATE messages SET timestamp = -9223372036854775808",
        "UPDATE messages SET timestamp = 9223372036854775807",
        "UPDATE messages SET timestamp = 1.5",
        "UPDATE messages SET timestamp = NULL",
        "UPDATE messages SET timestamp = 0",
        "UPDATE messages SET topic_id = 99",
        "UPDATE messages SET topic_id = NULL",
        "UPDATE messages SET topic_id = 'x'",
        "UPDATE messages SET data = NULL",
        "UPDATE messages SET data = 'text'",
        "UPDATE messages SET data = x''",
        "UPDATE messages SET data = x'0001'",
        "UPDATE messages SET data = substr(data, 1, 40)",
        "UPDATE messages SET data = zeroblob(1000)",
        "UPDATE messages SET data = x'ffffffff' || substr(data, 5)",
        "UPDATE messages SET data = substr(data, 1, 12) || x'ffffffff' || substr(data, 17)",
        "DROP TABLE messages; CREATE VIEW messages AS SELECT 1 AS id, 1 AS topic_id, 1 AS timestamp, x'' AS data",
        _ENDLESS_VIEW,
        "DROP TABLE topics; CREATE VIEW topics AS SELECT 'x' AS id, 1 AS name, 1 AS type, 1 AS serialization_format",
    ):
        changed = _sql(contents, script)
        if changed is not None:
            yield script[:90], changed


def _sql(contents: bytes, script: str) -> bytes | None:
    """The database after some statements; None if it has no such table or column."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base"
        path.write_bytes(contents)
        base = sqlite3.connect(path)
        try:
            base.executescript(f"PRAGMA journal_mode = DELETE; {script};")
        except sqlite3.Error:
            return None
        finally:
            base.close()
        return path.read_bytes()


def bad_mcap(contents: bytes) -> Iterator[tuple[str, bytes]]:
    records = list(mcap_records(contents))
    for opcode in sorted({record[0] for record in records}):
        yield f"no records {opcode:#x}", mcap_file([record for record in records if record[0] != opcode])
        yield (
            f"records {opcode:#x} twice",
            mcap_file([one for record in records for one in [record] * (1 + (record[0] == opcode))]),
        )
        yield (
            f"records {opcode:#x} empty",
            mcap_file([(record[0], b"") if record[0] == opcode else record for record in records]),
        )
        yield (
            f"records {opcode:#x} cut",
            mcap_file([(record[0], record[1][:-1]) if record[0] == opcode else record for record in records]),
        )
    yield "backwards", mcap_file(records[::-1])
    yield "a record of 2^63 bytes", contents[:8] + struct.pack("<BQ", 5, 2**63) + contents[8:]
    yield "a chunk of 2^63 bytes", contents[:8] + struct.pack("<BQ", 6, 2**63) + contents[8:]
    yield "a schema of 2^40 bytes", contents[:8] + struct.pack("<BQ", 3, 2**40) + contents[8:]
    yield (
        "no topics' types",
        mcap_file([(record[0], record[1].replace(b"sensor_msgs", b"x\x1b[31m\xff\x9b\x00")) for record in records]),
    )
    yield (
        "names of an enemy",
        mcap_file(
            [(record[0], record[1].replace(b"/joint_states", b"/\x1b]0;own\x07\xc2\x9b1m")) for record in records]
        ),
    )
    for stated in (1 << 20, (1 << 31) - 1, 1 << 40):
        for compression, data in (
            ("zstd", _zstd_bomb(1 << 31)),
            ("lz4", b"\x04\x22\x4d\x18\x40\x40\xc0" + bytes(50)),
            ("", b""),
            ("br", b"x"),
        ):
            name = compression.encode()
            chunk = struct.pack("<QQQI", 0, 1, stated, 0) + struct.pack("<I", len(name)) + name
            chunk += struct.pack("<Q", len(data)) + data
            yield (
                f"a chunk of {stated} bytes, packed by {compression!r}",
                contents[:8] + struct.pack("<BQ", 6, len(chunk)) + chunk + contents[8:],
            )


def mcap_records(contents: bytes) -> Iterator[tuple[int, bytes]]:
    """Opcode and contents of the records of a sound file."""
    place = 8
    while place + 9 <= len(contents) - 8:
        opcode, size = struct.unpack_from("<BQ", contents, place)
        yield opcode, contents[place + 9 : place + 9 + size]
        place += 9 + size


def mcap_file(records: list[tuple[int, bytes]]) -> bytes:
    """A file of records."""
    magic = b"\x89MCAP0\r\n"
    return magic + b"".join(struct.pack("<BQ", opcode, len(body)) + body for opcode, body in records) + magic


def _zstd_bomb(size: int) -> bytes:
    """A few kilobytes that unpack to so many zeros, in several frames."""
    frame = zstd_frame(bytes(1 << 24))
    assert zstd_contents(frame) == bytes(1 << 24)
    return frame * (size >> 24)


def zstd_frame(contents: bytes) -> bytes:
    """Contents packed by zstd."""
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd

    return bytes(zstd.compress(contents))


def zstd_contents(packed: bytes) -> bytes:
    """What zstd packed."""
    try:
        from compression import zstd
    except ImportError:
        from backports import zstd

    return bytes(zstd.decompress(packed))


def bad_zstd(contents: bytes) -> Iterator[tuple[str, bytes]]:
    yield "a database and zeros of 16 GB", contents + _zstd_bomb(1 << 34)
    yield "packed twice", zstd_frame(contents)
    yield "packed five times", zstd_frame(zstd_frame(zstd_frame(zstd_frame(contents))))
    yield "packed prose", zstd_frame(b"prose")
    yield "packed nothing", zstd_frame(b"")
    yield "packed zeros", zstd_frame(bytes(1000))

"""`mutated`: a sound file changed at random, by bytes or by what its format is made of; a seed gives the same again."""

from __future__ import annotations

import copy
import io
import json
import random
import re
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from attack.corpus.bad_binaries import mcap_file, mcap_records, zstd_contents, zstd_frame
from attack.corpus.hostile import HOSTILE

NUMBERS = (
    *("0", "-0.0", "1", "-1", "2", "3", "6", "7", "255", "256", "65536", "0.5", "1e-3", "1e3", "1e9", "1e15", "1e18"),
    *("nan", "inf", "-inf", "NaN", "Infinity", "1e308", "-1e308", "1.8e308", "1e309", "5e-324", "1e-320", "9" * 30),
    *("9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "4294967296"),
    *("2147483648", "1e", ".", "-", "+1", "0x10", "1_000", "１", "1,5", "1.2.3", "true", "null", "None", '""', " ", ""),
)
"""Texts that stand for numbers, or nearly."""

TEXTS = (
    "",
    " ",
    "x",
    HOSTILE,
    "ur5e",
    "ur10e",
    "tool0",
    "base",
    "time",
    "q0",
    "../x",
    "/dev/zero",
    "a\0b",
    "\ud800",
    "é",
    "x" * 3000,
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_BYTES = (
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\n",
    b"\r\n",
    b",",
    b'"',
    b"{",
    b"[",
    b"<",
    b"&",
    b"\x1b[31m",
    b"\xc2\x9b",
)

Mutation = Callable[[bytes, random.Random], bytes]


def mutated(suffix: str, contents: bytes, seed: str) -> bytes:
    """Contents of a file with such a suffix, changed in one or more ways.

    A change that the format's own tools refuse to make leaves the file as it is, so that a mutation may be none.
    """
    draw = random.Random(seed)
    mutations = (*GENERAL, *_OF_FORMAT.get(suffix, ()) * 3)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        contents = draw.choice(mutations)(contents, draw)
    return contents


# -------------------------------------------------------------------------------------------------------- bytes
def _flip_bits(contents: bytes, draw: random.Random) -> bytes:
    changed = bytearray(contents)
    for _ in range(draw.choice((1, 1, 2, 4, 16)) if changed else 0):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def _overwrite(contents: bytes, draw: random.Random) -> bytes:
    piece = draw.choice((draw.choice(_BYTES), draw.randbytes(draw.choice((1, 2, 4, 8, 64)))))
    start = draw.randrange(len(contents) + 1)
    return contents[:start] + piece + contents[start + len(piece) :]


def _insert(contents: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(contents) + 1)
    return contents[:start] + draw.choice(_BYTES) * draw.choice((1, 1, 3, 100)) + contents[start:]


def _cut_out(contents: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(contents) + 1)
    return contents[:start] + contents[start + draw.choice((1, 2, 8, 100, 4096)) :]


def _truncate(contents: bytes, draw: random.Random) -> bytes:
    return contents[: draw.randrange(len(contents) + 1)]


def _repeat(contents: bytes, draw: random.Random) -> bytes:
    start = draw.randrange(len(contents) + 1)
    piece = contents[start : start + draw.choice((1, 10, 100, 1000))]
    return contents[:start] + piece * draw.choice((2, 2, 10)) + contents[start + len(piece) :]


def _swap(contents: bytes, draw: random.Random) -> bytes:
    a, b, c = sorted(draw.randrange(len(contents) + 1) for _ in range(3))
    return contents[:a] + contents[b:c] + contents[a:b] + contents[c:]


def _other_number(contents: bytes, draw: random.Random) -> bytes:
    found = list(_NUMBER.finditer(contents))
    if not found:
        return contents
    number = draw.choice(found)
    return contents[: number.start()] + draw.choice(NUMBERS).encode() + contents[number.end() :]


def _lines(contents: bytes, draw: random.Random) -> bytes:
    lines = contents.splitlines(keepends=True)
    if not lines:
        return contents
    place = draw.randrange(len(lines))
    match draw.randrange(4):
        case 0:
            del lines[place]
        case 1:
            lines.insert(place, draw.choice(lines))
        case 2:
            lines[place] = lines[place][: draw.randrange(len(lines[place]))] + b"\n"
        case _:
            draw.shuffle(lines)
    return b"".join(lines)


GENERAL: tuple[Mutation, ...] = (_flip_bits, _overwrite, _insert, _cut_out, _truncate, _repeat, _swap, _other_number)


# --------------------------------------------------------------------------------------------------------- JSON
def _json(contents: bytes, draw: random.Random) -> bytes:
    try:
        document = json.loads(contents)
    except (ValueError, RecursionError):
        return contents
    return json.dumps(_changed_node(document, draw)).encode()


def _changed_node(node: Any, draw: random.Random) -> Any:
    """A document with a node of it replaced, removed, doubled or renamed."""
    if not isinstance(node, dict | list) or not node or draw.random() < 0.1:
        return _value(draw)
    if isinstance(node, list):
        place = draw.randrange(len(node))
        match draw.randrange(8):
            case 0:
                return node[:place] + node[place + 1 :]
            case 1:
                return node[:place] + [node[place]] * draw.choice((2, 50)) + node[place + 1 :]
            case 2:
                return node[::-1]
        return [_changed_node(item, draw) if i == place else item for i, item in enumerate(node)]
    key = draw.choice(list(node))
    match draw.randrange(8):
        case 0:
            return {name: value for name, value in node.items() if name != key}
        case 1:
            return {draw.choice(TEXTS) if name == key else name: value for name, value in node.items()}
        case 2:
            return {**node, key: node[draw.choice(list(node))]}
    return {**node, key: _changed_node(node[key], draw)}


def _value(draw: random.Random) -> Any:
    numbers = (
        0,
        1,
        -1,
        0.5,
        1e-3,
        1e3,
        1e9,
        1e308,
        -1e308,
        5e-324,
        2**53 + 1,
        2**63,
        10**400,
        float("nan"),
        float("inf"),
    )
    return draw.choice(
        (draw.choice(numbers), draw.choice(numbers), draw.choice(TEXTS), None, True, [], {}, [[]], [1.0, 2.0])
    )


# ------------------------------------------------------------------------------------------------------- tables
def _cells(contents: bytes, draw: random.Random) -> bytes:
    rows = [line.split(b",") for line in contents.split(b"\n")]
    place = draw.randrange(max(len(row) for row in rows))
    some = [row for row in rows if len(row) > place and draw.random() < draw.choice((0.01, 0.1, 1.0))]
    match draw.randrange(7):
        case 0:
            for row in some:
                row[place] = draw.choice(NUMBERS).encode()
        case 1:
            for row in some:
                del row[place]
        case 2:
            for row in rows:
                row.insert(place, row[place] if len(row) > place else b"")
        case 3:
            rows[0][min(place, len(rows[0]) - 1)] = draw.choice(
                ("q0", "fx", "time", "ax", "wx", "tau0", *TEXTS)
            ).encode("utf-8", "replace")
        case 4:
            for row in rows:
                del row[place + 1 :]
        case 5:
            first, last = sorted(draw.randrange(len(rows) + 1) for _ in range(2))
            rows[first:last] = rows[first:last][::-1]
        case _:
            del rows[1 + draw.randrange(len(rows)) :]
    return b"\n".join(b",".join(row) for row in rows)


def _parquet(contents: bytes, draw: random.Random) -> bytes:
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(io.BytesIO(contents))
        place = draw.randrange(table.num_columns)
        name, column = table.column_names[place], table.column(place)
        match draw.randrange(8):
            case 0:
                kinds = (pyarrow.float32(), pyarrow.string(), pyarrow.int64(), pyarrow.bool_(), pyarrow.float16())
                table = table.set_column(place, name, column.cast(draw.choice(kinds), safe=False))
            case 1:
                names = [
                    draw.choice(TEXTS).replace("\ud800", "?") if i == place else n
                    for i, n in enumerate(table.column_names)
                ]
                table = table.rename_columns(names)
            case 2:
                table = table.remove_column(place)
            case 3:
                table = table.append_column(name, column)
            case 4:
                table = table.slice(draw.randrange(table.num_rows + 1), draw.choice((0, 1, 5, 1000)))
            case 5:
                table = table.take([draw.randrange(table.num_rows) for _ in range(draw.choice((1, 5, 200)))])
            case 6:
                values = column.to_pylist()
                for _ in range(draw.choice((1, 10, len(values)))):
                    values[draw.randrange(len(values))] = draw.choice(
                        (None, 0.0, float("nan"), float("inf"), 1e308, -1.0)
                    )
                table = table.set_column(place, name, pyarrow.array(values, pyarrow.float64()))
            case _:
                metadata = dict(table.schema.metadata or {})
                for key in metadata:
                    metadata[key] = draw.choice((_json, _flip_bits))(metadata[key], draw)
                table = table.replace_schema_metadata(metadata)
        stream = io.BytesIO()
        pyarrow.parquet.write_table(table, stream, compression=draw.choice(("zstd", "none", "snappy", "gzip")))
    except (pyarrow.ArrowException, ValueError, TypeError, OSError):
        return contents
    return stream.getvalue()


def _parquet_index(contents: bytes, draw: random.Random) -> bytes:
    """Bits flipped in the index at the end, which everything hangs on."""
    size = int.from_bytes(contents[-8:-4], "little")
    start = max(len(contents) - 8 - size, 0)
    return contents[:start] + _flip_bits(contents[start:], draw)


# ---------------------------------------------------------------------------------------------------------- XML
def _xml(contents: bytes, draw: random.Random) -> bytes:
    try:
        root = ElementTree.fromstring(contents)
        elements = list(root.iter())
        element, other = draw.choice(elements), draw.choice(elements)
        match draw.randrange(6):
            case 0:
                element.append(copy.deepcopy(other))
            case 1:
                for child in list(element)[: draw.choice((1, 100))]:
                    element.remove(child)
            case 2:
                element.tag = draw.choice(("joint", "link", "mimic", "inertial", "x"))
            case 3:
                element.attrib.clear()
            case _:
                for key in element.attrib:
                    text = draw.choice(
                        (draw.choice(NUMBERS), draw.choice(NUMBERS), draw.choice(TEXTS), "base", "flange")
                    )
                    words = element.attrib[key].split() or [""]
                    words[draw.randrange(len(words))] = text
                    element.attrib[key] = " ".join(words)
        return ElementTree.tostring(root)
    except (ElementTree.ParseError, ValueError, RecursionError):
        return contents


# --------------------------------------------------------------------------------------------------------- bags
def _sqlite_page(contents: bytes, draw: random.Random) -> bytes:
    """Bytes changed at the head of a page, which says what is where in it."""
    size = int.from_bytes(contents[16:18], "big") or 65536
    start = size * draw.randrange(len(contents) // size + 1) + draw.choice((0, 0, 100))
    end = start + draw.choice((8, 16, 64))
    return contents[:start] + draw.choice((_flip_bits, _overwrite))(contents[start:end], draw) + contents[end:]


def _sqlite_row(contents: bytes, draw: random.Random) -> bytes:
    table, column = draw.choice(
        (("topics", "name"), ("topics", "type"), ("topics", "id"), ("messages", "timestamp"), ("messages", "topic_id"))
        + (("messages", "data"),) * 4
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base"
        path.write_bytes(contents)
        base = sqlite3.connect(path)
        try:
            rows = base.execute(f"SELECT id, {column} FROM {table}").fetchall()
            for number, old in draw.sample(rows, min(len(rows), draw.choice((1, 5, 1000)))):
                new: Any = draw.choice((None, 1.5, -1, 2**62, 0, "x", HOSTILE, b"\xff"))
                if isinstance(old, bytes) and draw.random() < 0.9:
                    new = draw.choice(GENERAL)(old, draw)
                base.execute(f"UPDATE {table} SET {column} = ? WHERE id = ?", (new, number))
            base.commit()
        except (sqlite3.Error, UnicodeError, OverflowError):
            return contents
        finally:
            base.close()
        return path.read_bytes()


def _mcap(contents: bytes, draw: random.Random) -> bytes:
    try:
        records = list(mcap_records(contents))
    except Exception:
        return contents
    if not records:
        return contents
    kind = draw.choice(sorted({opcode for opcode, _ in records}))
    place = draw.choice([i for i, (opcode, _) in enumerate(records) if opcode == kind])
    opcode, body = records[place]
    match draw.randrange(6):
        case 0:
            del records[place]
        case 1:
            records.insert(draw.randrange(len(records)), (opcode, body))
        case 2:
            records[place] = (draw.randrange(256), body)
        case _:
            head = draw.choice((len(body), 40))  # the numbers and lengths come first
            records[place] = (opcode, draw.choice(GENERAL)(body[:head], draw) + body[head:])
    return mcap_file(records)


def _unpacked(contents: bytes, draw: random.Random) -> bytes:
    """A database changed and packed again."""
    try:
        inner = zstd_contents(contents)
    except Exception:
        return contents
    return zstd_frame(draw.choice((_sqlite_page, _sqlite_row))(inner, draw))


def _words(contents: bytes, draw: random.Random) -> bytes:
    """A word of a text, replaced."""
    found = list(re.finditer(rb"[^\s:\[\]{},]+", contents))
    if not found:
        return contents
    word = draw.choice(found)
    others = (
        b"*a",
        b"&a x",
        b"[",
        b"{}",
        b"- x",
        b"!!python/name:os.system",
        b"<<: *a",
        b"|",
        b">",
        b"? x",
        b"%TAG",
        b"...",
    )
    text = draw.choice(
        (draw.choice(others), draw.choice(NUMBERS).encode(), draw.choice(TEXTS).encode("utf-8", "replace"))
    )
    return contents[: word.start()] + text + contents[word.end() :]


_OF_FORMAT: dict[str, tuple[Mutation, ...]] = {
    ".json": (_json, _json, _other_number),
    ".csv": (_cells, _cells, _lines, _other_number),
    ".txt": (_cells, _cells, _lines, _other_number),
    ".parquet": (_parquet, _parquet, _parquet_index),
    **dict.fromkeys((".urdf", ".xml"), (_xml, _xml, _other_number)),
    ".obj": (_lines, _words, _other_number),
    ".stl": (_lines, _words, _other_number),
    ".db3": (_sqlite_page, _sqlite_row),
    ".mcap": (_mcap, _mcap),
    ".zstd": (_unpacked,),
    ".yaml": (_words, _words, _lines),
    ".toml": (_words, _words, _lines),
}

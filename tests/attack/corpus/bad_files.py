"""Files that are bad in a known way: where they lie, what they are called, and what is in them."""

from __future__ import annotations

import gzip
import os
import random
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from attack.corpus.bad_arrays import bad_mat, bad_npz, bad_ros1
from attack.corpus.bad_binaries import bad_glb, bad_mcap, bad_parquet, bad_sqlite, bad_stl, bad_zstd
from attack.corpus.bad_texts import bad_json, bad_metadata, bad_mjcf, bad_obj, bad_stage, bad_table, bad_urdf
from attack.corpus.hostile import HOSTILE_NAMES
from attack.corpus.sample_files import SAMPLES

Put = Callable[[Path, Path], str]
"""Makes something bad at a path, from the sample that belongs there, and gives the argument to pass."""


# ------------------------------------------------------------------------------------------------------- places
def _missing(path: Path, sample: Path) -> str:
    return path.name


def _folder(path: Path, sample: Path) -> str:
    path.mkdir()
    return path.name


def _pipe(path: Path, sample: Path) -> str:
    os.mkfifo(path)
    return path.name


def _link(target: str) -> Put:
    def put(path: Path, sample: Path) -> str:
        path.symlink_to(target)
        return path.name

    return put


def _link_to_itself(path: Path, sample: Path) -> str:
    path.symlink_to(path.name)
    return path.name


def _beneath_a_file(path: Path, sample: Path) -> str:
    path.write_bytes(b"a file")
    return f"{path.name}/{sample.name}"


def _called(name: str) -> Put:
    return lambda path, sample: name + sample.suffix


METADATA = "metadata.yaml"
PIPE = "a pipe that nobody writes to"

PLACES: dict[str, Put] = {
    "missing": _missing,
    "a folder": _folder,
    PIPE: _pipe,
    "an endless device": _link("/dev/zero"),
    "an empty device": _link("/dev/null"),
    "a file that cannot be read": _link("/proc/self/mem"),
    "a link to itself": _link_to_itself,
    "a dangling link": _link("nowhere"),
    "below a file": _beneath_a_file,
    "a name that is too long": _called("n" * 300),
    "a path that is too long": _called("n/" * 3000),
    "no name": lambda path, sample: "",
}
"""What can be wrong with a path. Makes something at a path, or nothing, and gives the argument to pass."""


# ----------------------------------------------------------------------------------------------------- contents
def _garbage(contents: bytes) -> bytes:
    return random.Random(0).randbytes(1000)


CONTENTS: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda contents: b"",
    "a line end": lambda contents: b"\n",
    "blanks": lambda contents: b" \t\r\n" * 100,
    "garbage": _garbage,
    "prose": lambda contents: "Größe und Maß\n".encode() * 20,
    "zero bytes": lambda contents: bytes(4096),
    "zero bytes inside": lambda contents: contents[:100] + bytes(50) + contents[150:],
    "ones": lambda contents: b"\xff" * 4096,
    "a byte order mark": lambda contents: b"\xef\xbb\xbf" + contents,
    "two byte order marks": lambda contents: b"\xef\xbb\xbf\xef\xbb\xbf" + contents,
    "UTF-16": lambda contents: contents.decode("latin-1").encode("utf-16"),
    "UTF-32": lambda contents: contents.decode("latin-1").encode("utf-32"),
    "Latin-1": lambda contents: contents.replace(b"e", b"\xe9"),
    "half": lambda contents: contents[: len(contents) // 2],
    "all but a byte": lambda contents: contents[:-1],
    "all but 20 bytes": lambda contents: contents[:-20],
    "without its first byte": lambda contents: contents[1:],
    "a tail": lambda contents: contents + _garbage(b""),
    "twice": lambda contents: contents + contents,
    "backwards": lambda contents: contents[::-1],
    "carriage returns": lambda contents: contents.replace(b"\n", b"\r"),
    "no line ends": lambda contents: contents.replace(b"\n", b" "),
    "one long line": lambda contents: b"1," * 500_000,
    "nested lists": lambda contents: b"[" * 200_000,
    "nested objects": lambda contents: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "nested elements": lambda contents: b"<robot>" + b"<a>" * 100_000 + b"</a>" * 100_000 + b"</robot>",
    "a page": lambda contents: b"<!DOCTYPE html><html><body>404</body></html>",
    "packed by gzip": gzip.compress,
    "the head of a picture": lambda contents: b"\x89PNG\r\n\x1a\n" + bytes(100),
    "Parquet's magic": lambda contents: b"PAR1PAR1",
    "Parquet's magic around nothing": lambda contents: b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1",
    "encrypted Parquet's magic": lambda contents: b"PAR1" + bytes(20) + b"PARE",
    "SQLite's magic": lambda contents: b"SQLite format 3\0",
    "MCAP's magic": lambda contents: b"\x89MCAP0\r\n",
    "zstd's magic": lambda contents: b"\x28\xb5\x2f\xfd" + bytes(50),
    "ROS 1's magic": lambda contents: b"#ROSBAG V2.0\n",
    "an instruction to run": lambda contents: b"cos\nsystem\n(S'touch owned'\ntR.",
}
"""What can be wrong with any file's contents, whatever its format."""


@cache
def bad_contents(sample: Path) -> tuple[tuple[str, Put], ...]:
    """What can be wrong inside a file of a sample's own format, in its place."""
    inner = _messages(sample)
    found = [(name, holding(spoiled)) for name, spoiled in SPOILERS[inner.suffix](inner.read_bytes())]
    if sample.is_dir():
        metadata = (sample / METADATA).read_bytes()
        found += [(f"{METADATA}: {name}", holding(spoiled, METADATA)) for name, spoiled in bad_metadata(metadata)]
    return tuple(found)


@cache
def foreign_contents(sample: Path) -> tuple[tuple[str, Put], ...]:
    """What is not of a sample's format, or no longer, in its place: anything, and the formats of other samples."""
    contents = _messages(sample).read_bytes()
    found = [(name, holding(spoil(contents))) for name, spoil in CONTENTS.items()]
    for other, kind in SAMPLES.items():
        if kind != SAMPLES[sample.name]:
            found.append((f"contents of {other}", holding(_messages(sample.with_name(other)).read_bytes())))
    return tuple(found)


def holding(contents: bytes, inner: str = "") -> Put:
    """Puts a file with such contents; in the place of a bag's folder, that folder with the file so."""

    def put(path: Path, sample: Path) -> str:
        if not sample.is_dir():
            path.write_bytes(contents)
            return path.name
        path.mkdir()
        for file in sample.iterdir():
            os.link(file, path / file.name)
        target = path / (inner or _messages(sample).name)
        target.unlink()
        target.write_bytes(contents)
        return path.name

    return put


def _messages(sample: Path) -> Path:
    """The sample; of a bag's folder the file that holds the messages."""
    return next(path for path in sample.iterdir() if path.name != METADATA) if sample.is_dir() else sample


def bad_names(sample: Path) -> tuple[tuple[str, Put], ...]:
    """A sound file under an awkward name."""
    return tuple((f"the name {name[:20]!r}", _named(name + sample.suffix)) for name in HOSTILE_NAMES)


def _named(name: str) -> Put:
    def put(path: Path, sample: Path) -> str:
        target = path.with_name(name)
        if sample.is_dir():
            shutil.copytree(sample, target)
        else:
            os.link(sample, target)
        return name

    return put


def _bad_setup(contents: bytes) -> Iterator[tuple[str, bytes]]:
    """What can be wrong inside a setup."""
    for entry in ("format", "[robot]", "model", "[sensor]", "rotation", "gravity"):
        yield f"without {entry}", contents.replace(entry.encode(), b"x" + entry.encode(), 1)
    for value in ("nan", "inf", "1e999", "9" * 5000, "true", "[]", "[[1]]", "{a = 1}", '"x"', "1979-05-27", "0x10"):
        yield f"gravity of {value[:20]}", contents.replace(b"gravity = 9.81", f"gravity = {value}".encode())
        yield f"a rotation of {value[:20]}", contents.replace(b"[0.0, 0.0, 0.0]", value.encode())
    for name in ("../../etc/passwd", "/dev/zero", "\\u0000", "a" * 9000, ""):
        yield f"a robot {name[:20]}", contents.replace(b'"ur5e"', f'"{name}"'.encode())
        yield f"a gripper {name[:20]}", contents + f'\n[gripper]\nload = "{name}"\n'.encode()


SPOILERS: dict[str, Callable[[bytes], Iterator[tuple[str, bytes]]]] = {
    ".json": bad_json,
    ".csv": bad_table,
    ".txt": bad_table,
    ".parquet": bad_parquet,
    ".npz": bad_npz,
    ".mat": bad_mat,
    ".bag": bad_ros1,
    ".urdf": bad_urdf,
    ".xml": bad_mjcf,
    ".glb": bad_glb,
    ".usda": bad_stage,
    ".obj": bad_obj,
    ".stl": bad_stl,
    ".db3": bad_sqlite,
    ".mcap": bad_mcap,
    ".zstd": bad_zstd,
    ".yaml": bad_metadata,
    ".toml": _bad_setup,
}
"""Suffix -> what can be wrong inside a file of that format."""

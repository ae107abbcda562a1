"""What can be wrong inside files of named arrays, of NumPy and MATLAB, and inside ROS 1 bags."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from attack.corpus.hostile import HOSTILE


class _Owner:
    def __reduce__(self) -> tuple[Any, ...]:
        return open, ("owned", "w")


def _odd_arrays(arrays: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    time, q = arrays["time"], arrays["q"]
    for name, other in {
        "no numbers": np.array([HOSTILE] * time.size),
        "complex": time + 1j,
        "nothing": np.array([]),
        "a number": np.array(3.0),
        "not numbers": np.full(time.size, np.nan),
        "huge": np.full(time.size, 1e308),
        "another length": time[:-1],
        "a cube": np.zeros((3, 4, 5)),
        "truths": time > 1,
    }.items():
        yield f"time: {name}", {**arrays, "time": other}
        yield f"q: {name}", {**arrays, "q": other}
    yield "no time", {"q": q}
    yield "no arrays", {}
    yield "too many joints", {**arrays, "q": np.zeros((time.size, 1500))}


def bad_npz(contents: bytes) -> Iterator[tuple[str, bytes]]:
    arrays = dict(np.load(io.BytesIO(contents), allow_pickle=False))

    def packed(arrays: dict[str, Any]) -> bytes:
        stream = io.BytesIO()
        np.savez_compressed(stream, **arrays)
        return stream.getvalue()

    for name, odd in _odd_arrays(arrays):
        yield name, packed(odd)
    yield "an instruction to run", packed({**arrays, "q": np.array([_Owner()], dtype=object)})
    yield "names of an enemy", packed({**arrays, HOSTILE.replace("/", "_"): arrays["time"]})
    array = "{{'descr': {!r}, 'fortran_order': False, 'shape': {}, }}"
    for text in (
        array.format("<f8", "(9999999999999,)"),
        array.format("<f8", "(0, 9999999999999)"),
        array.format("<U1000000000", "(1,)"),
        array.format("|V0", "(9999999999999,)"),
        "{" * 5000,
        "import os",
        "",
    ):
        head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr("time.npy", head)
        yield f"a header {text[:20]!r}", stream.getvalue()
    yield "as many as there are", _packed_zeros((-1,), 160)
    yield "as many as there are, packed by LZMA", _packed_zeros((1 << 20,), 1, zipfile.ZIP_LZMA)
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (40_000_000,)})
        archive.writestr("time.npy", head.getvalue() + bytes(8 * 4_000_000))
    yield "ten times as many as there are", bomb.getvalue()
    yield "no archive", b"PK\x03\x04" + bytes(100)


def _packed_zeros(shape: tuple[int, ...], count: int, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A .npz whose time is said to be of such a shape, and is so many times 8 MB of zeros."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", packing, compresslevel=1) as archive,
        archive.open("time.npy", "w", force_zip64=True) as member,
    ):
        np.lib.format.write_array_header_1_0(member, {"descr": "<f8", "fortran_order": False, "shape": shape})
        for _ in range(count):
            member.write(bytes(8 << 20))
    return stream.getvalue()


def _element(kind: int, contents: bytes) -> bytes:
    return struct.pack("<II", kind, len(contents)) + contents + bytes(-len(contents) % 8)


def _matrix(kind: int, shape: tuple[int, int], name: bytes, contents: bytes = b"") -> bytes:
    """A matrix of a MAT-file: 1 is a cell array, 6 one of doubles."""
    flags, sizes = struct.pack("<II", kind, 0), struct.pack("<ii", *shape)
    return _element(14, _element(6, flags) + _element(5, sizes) + _element(1, name) + contents)


def bad_mat(contents: bytes) -> Iterator[tuple[str, bytes]]:
    from scipy.io import loadmat, savemat

    arrays = {k: v for k, v in loadmat(io.BytesIO(contents)).items() if not k.startswith("__")}
    arrays["time"] = arrays["time"].reshape(-1)

    def packed(arrays: dict[str, Any]) -> bytes:
        stream = io.BytesIO()
        savemat(stream, arrays, do_compression=True)
        return stream.getvalue()

    for name, odd in _odd_arrays(arrays):
        yield name, packed(odd)
    yield "a cell", packed({**arrays, "q": np.array([arrays["q"], 3], dtype=object)})
    structs: dict[str, Any] = arrays
    for _ in range(30):
        structs = {"inner": structs}
    yield "structs in structs", packed(structs)
    yield "version 7.3", b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(100)
    head = contents[:128]
    for size in (0, 7, 2**31 - 1, 2**32 - 1):
        for kind in (0, 1, 14, 15, 99):
            yield f"an element {kind} of {size} bytes", head + struct.pack("<II", kind, size) + bytes(40)
    matrix = struct.pack("<IIIIII", 6, 8, 6, 0, 5, 8) + struct.pack("<ii", 2**31 - 1, 2**31 - 1)
    matrix += struct.pack("<II", 1, 4) + b"time\0\0\0\0" + struct.pack("<II", 9, 2**31)
    yield "a matrix beyond all bounds", head + struct.pack("<II", 14, len(matrix)) + matrix
    yield "two billion cells", head + _matrix(1, (50_000, 40_000), b"time")
    nested = _matrix(6, (1, 1), b"", _element(9, struct.pack("<d", 1.0)))
    for _ in range(20_000):
        nested = _matrix(1, (1, 1), b"", nested)
    yield "cells in cells", head + nested
    bomb = zlib.compress(struct.pack("<II", 14, 2**31 - 1) + bytes(1 << 27), 9)
    yield "a packed element", head + struct.pack("<II", 15, len(bomb)) + bomb


def bad_ros1(contents: bytes) -> Iterator[tuple[str, bytes]]:
    start = 13
    for field in (b"op=", b"conn=", b"time=", b"topic=", b"size=", b"compression=", b"type=", b"message_definition="):
        yield f"no {field.decode()}", contents.replace(field, b"\0" * len(field))
    yield "another compression", contents.replace(b"compression=lz4", b"compression=xyz")
    yield "not packed", contents.replace(b"compression=lz4", b"compression=bz2")
    yield "names of an enemy", contents.replace(b"/joint_states", b"/\x1b]0;own\x07\xc2\x9b1m"[:13])
    yield "another version", contents.replace(b"V2.0", b"V1.1", 1)
    for size in (0, 3, 2**31, 2**32 - 1):
        yield f"a header of {size} bytes", contents[:start] + struct.pack("<I", size) + contents[start:]
        head = struct.pack("<I", 4) + b"op=\x05" + struct.pack("<I", 17) + b"compression=" + b"none\0"
        chunk = head + struct.pack("<I", 9) + b"size=" + struct.pack("<I", size)
        yield (
            f"a chunk of {size} bytes",
            contents[:start]
            + struct.pack("<I", len(chunk))
            + chunk
            + struct.pack("<I", 8)
            + bytes(8)
            + contents[start:],
        )

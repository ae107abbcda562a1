"""Arrays of NumPy's files, .npy and .npz. Sizes are looked at before anything is unpacked, and nothing is executed."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from iparam.errors import FileFormatError
from iparam.files.reading_limit import check_size

Arrays = dict[str, NDArray[Any]]

MOST_ARRAYS = 10_000
"""Of one file."""

_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""That NumPy writes; others take memory that the file states."""

_STEP = 1 << 20
"""Bytes that are unpacked at a time."""


def single_array(stream: BinaryIO, source: str) -> Arrays:
    """The array of a .npy file, as ``array``; see `zipped_arrays`."""
    return _read([("array", stream)], source)


def zipped_arrays(stream: BinaryIO, source: str) -> Arrays:
    """The arrays of a .npz file by name, read-only; fields of a structured one as ``name.field``.

    Those of Python objects, which could only be unpickled, are empty ones of their type.

    Raises:
        TooLargeError: together they are larger than what is taken into memory.
        FileFormatError: one of them is not as it is said to be.
        Exception: of `zipfile`, `zlib` and NumPy, where it is none.
    """
    with zipfile.ZipFile(stream) as archive:
        if len(archive.infolist()) > MOST_ARRAYS:
            raise FileFormatError(f"{source} has more than {MOST_ARRAYS} members")
        return _read(_members(archive, source), source)


def _members(archive: zipfile.ZipFile, source: str) -> Iterator[tuple[str, BinaryIO]]:
    for entry in archive.infolist():
        if not entry.filename.endswith(".npy"):
            continue
        if entry.compress_type not in _PACKINGS:
            raise FileFormatError(
                f"{source}: {entry.filename} is packed in a way that NumPy does not write: save it anew"
            )
        with archive.open(entry) as member:
            yield entry.filename.removesuffix(".npy"), member  # type: ignore[misc]


def _read(members: Iterable[tuple[str, BinaryIO]], source: str) -> Arrays:
    arrays: Arrays = {}
    total = 0
    for name, member in members:
        version = np.lib.format.read_magic(member)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, by_columns, dtype = read(member)
        if dtype.hasobject:
            arrays[name] = np.empty(0, dtype=object)
            continue
        if min(shape, default=0) < 0:
            raise FileFormatError(f"{source}: {name} is of shape {shape}")
        size = math.prod(shape) * dtype.itemsize
        total += size
        check_size(total, source, f"arrays of {total} bytes")
        array = (
            _contents(member, size, f"{source}: {name}").view(dtype).reshape(shape, order="F" if by_columns else "C")
        )
        if dtype.names is None:
            arrays[name] = array
        else:
            arrays |= {f"{name}.{field}": array[field] for field in dtype.names}
    return arrays


def _contents(member: BinaryIO, size: int, name: str) -> NDArray[np.uint8]:
    """So many bytes, read-only. `zipfile` itself would copy all that it has unpacked with every piece that follows."""
    contents = np.empty(size, dtype=np.uint8)
    for start in range(0, size, _STEP):
        piece = member.read(min(_STEP, size - start))
        if len(piece) != min(_STEP, size - start):
            raise FileFormatError(f"{name} is cut off")
        contents[start : start + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
    contents.setflags(write=False)
    return contents

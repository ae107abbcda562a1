"""Decompression that stops where the data does: what a cut frame still holds is given back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from iparam.bridges.bag.rosbags_backend import DECOMPRESSORS
from iparam.errors import IparamError
from iparam.recording.reading_limit import check_size, reading_limit

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_STEP = 1 << 16
_PART = 1 << 22


def decompress(data: bytes, compression: str, size: int) -> bytes | None:
    """The first ``size`` bytes of a frame, fewer if it is cut or damaged.

    Args:
        data: the frame, or its beginning.
        compression: "zstd", "lz4", or "" for none.
        size: of the contents, as stated beside them: no more is unpacked, however much the frame holds.

    Returns:
        The bytes; None if the compression is unknown.
    """
    if not compression:
        return data[:size]
    if compression not in DECOMPRESSORS:
        return None
    decompressor = DECOMPRESSORS[compression]()
    parts: list[bytes] = []
    found = 0
    # In small steps: a decompressor that meets damage gives nothing of the step in which it does.
    for start in range(0, len(data), _STEP):
        piece = data[start : start + _STEP]
        while found < size and not decompressor.eof:
            try:
                part = decompressor.decompress(piece, size - found)
            except Exception:  # each package has errors of its own for damaged data
                return b"".join(parts)
            parts.append(part)
            found += len(part)
            piece = b""
            if decompressor.needs_input or not part:
                break
        if found >= size or decompressor.eof:
            break
    return b"".join(parts)


def unpack_file(packed: BinaryIO, unpacked: BinaryIO, source: str) -> bool:
    """Decompress a zstd file as far as it goes; whether it went to the end.

    Args:
        packed: the file.
        unpacked: where its contents go.
        source: its name, for messages.
    """
    whole, limit = False, reading_limit()
    decompressor = DECOMPRESSORS["zstd"]()
    while piece := packed.read(_STEP):
        while piece:
            if decompressor.eof:  # a file may be several frames, one after the other
                decompressor = DECOMPRESSORS["zstd"]()
            try:
                for part in _parts(decompressor, piece):
                    if unpacked.write(part) and unpacked.tell() > limit:
                        check_size(unpacked.tell(), source, "packed contents of at least this size")
            except IparamError:
                raise
            except Exception:  # as above
                return False
            whole = decompressor.eof
            piece = decompressor.unused_data if whole else b""
    return whole


def _parts(decompressor: Any, piece: bytes) -> Iterator[bytes]:
    """What a piece of packed data unpacks to, in parts: a few bytes may be gigabytes."""
    yield decompressor.decompress(piece, _PART)
    while not (decompressor.eof or decompressor.needs_input):
        yield decompressor.decompress(b"", _PART)

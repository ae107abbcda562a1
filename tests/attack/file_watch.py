"""`watched`: which files of a folder any process opens, by the kernel's inotify."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterator
from pathlib import Path

_IN_OPEN = 0x20
_HEADER = struct.Struct("iIII")


@contextlib.contextmanager
def watched(folder: Path) -> Iterator[set[str]]:
    """While it lasts, look at a folder; afterwards, the names of what was opened are in the set."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    assert descriptor >= 0, os.strerror(ctypes.get_errno())
    opened: set[str] = set()
    try:
        assert libc.inotify_add_watch(descriptor, os.fsencode(folder), _IN_OPEN) >= 0, os.strerror(ctypes.get_errno())
        yield opened
        with contextlib.suppress(BlockingIOError):
            while events := os.read(descriptor, 1 << 16):
                place = 0
                while place < len(events):
                    length = _HEADER.unpack_from(events, place)[3]
                    name = events[place + _HEADER.size : place + _HEADER.size + length].rstrip(b"\0")
                    opened.add(os.fsdecode(name))
                    place += _HEADER.size + length
    finally:
        os.close(descriptor)

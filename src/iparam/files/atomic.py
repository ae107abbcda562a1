"""Writing files so that a reader finds the old contents or the new ones, whole, and never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO

from iparam.errors import FileWriteError, InputError


def write_atomically(path: str | os.PathLike[str], contents: str | bytes) -> None:
    """Write ``contents`` to ``path``, replacing what is there in one step; see `atomic_file`.

    Args:
        path: of the file; its folder must exist.
        contents: text, written as UTF-8 with the line ends it has, or bytes.
    """
    with atomic_file(path) as stream:
        stream.write(contents.encode("utf-8") if isinstance(contents, str) else contents)


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file to write, which takes the place of ``path`` in one step when the block ends.

    The contents go to a new file in the same folder, are flushed to the disk and renamed over ``path``. If anything
    fails on the way, or the process dies, the old file is untouched. A symbolic link is followed, and an existing
    file keeps its permissions. What is no file (a device, a pipe) is refused: it would be replaced, not written to.

    Args:
        path: of the file; its folder must exist.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a file to write must be given as a path, got {type(path).__name__}")
    if "\0" in os.fspath(path):
        raise InputError(f"cannot write {os.fspath(path)!r}: a path has no null characters")
    try:
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        if os.path.isdir(target):
            raise InputError(f"cannot write {os.fspath(path)!r}: it is a directory; give a file's path")
        if os.path.lexists(target) and not os.path.isfile(target):
            raise InputError(f"cannot write {os.fspath(path)!r}: it is a device, a pipe or a socket, not a file")
        if not os.path.isdir(folder):
            raise InputError(f"cannot write {os.fspath(path)!r}: the folder {folder!r} does not exist; create it first")
        with _replacing(target) as stream:
            yield stream
    except UnicodeError as error:
        raise InputError(f"cannot write {os.fspath(path)!r}: {error}") from error
    except OSError as error:
        raise FileWriteError(f"cannot write {os.fspath(path)!r}: {error.strerror or error}") from error


def check_writable(path: str | os.PathLike[str], name: str) -> None:
    """Refuse a path that nobody could write to as far as permissions tell: before any work that it would lose.

    Args:
        path: of the file, or of the folder that will be made.
        name: of the option or parameter that gave it, for messages.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    while folder != os.path.dirname(folder) and not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        raise InputError(f"{name} {os.fspath(path)}: {folder} is no folder; choose another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileWriteError(
            f"{name} {os.fspath(path)}: the folder {folder} may not be written to (Permission denied); choose "
            "another place, or change its permissions"
        )
    if os.path.lexists(target) and not os.access(target, os.W_OK):
        raise FileWriteError(
            f"{name} {os.fspath(path)} is protected against writing; choose another place, or unprotect it"
        )


@contextlib.contextmanager
def _replacing(target: str) -> Iterator[IO[bytes]]:
    temporary = f"{target}.{secrets.token_hex(6)}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _flush_folder(os.path.dirname(target))


def _flush_folder(folder: str) -> None:
    """Make the renaming itself survive a power cut, where the system can (Windows cannot open a folder)."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

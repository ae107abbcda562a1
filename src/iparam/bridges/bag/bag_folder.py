"""`new_bag_folder`: a bag's folder, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

from iparam.bridges.bag.contents import METADATA
from iparam.errors import FileWriteError, InputError
from iparam.files.atomic import check_writable

if sys.platform != "win32":
    import fcntl


@contextlib.contextmanager
def new_bag_folder(path: str | os.PathLike[str], overwrite: bool) -> Iterator[Path]:
    """The path of a folder to create, which becomes ``path`` in one step when the block ends without an error.

    Args:
        path: of the bag; the folder that it is to lie in must exist.
        overwrite: whether a bag that is there is replaced; a folder that holds anything else never is.
    """
    target = check_bag_folder(path, overwrite)
    given, room, lock = os.fspath(path), None, None
    try:
        _remove_abandoned(target)
        _check_replaceable(target, overwrite)  # which may be there again
        room, lock = _new_room(target)
        yield room / target.name  # with its final name, after which the writer names the file in it
        for file in (room / target.name).iterdir():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
        _replace(target, room, overwrite)
    except (OSError, sqlite3.Error) as error:  # what a full disk is called depends on the storage
        raise FileWriteError(f"cannot write {given!r}: {getattr(error, 'strerror', None) or error}") from error
    finally:
        if room is not None:
            shutil.rmtree(room, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def check_bag_folder(path: str | os.PathLike[str], overwrite: bool) -> Path:
    """The absolute path of a bag to write; refuses one at which none can be written. Arguments as `new_bag_folder`."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a bag to write must be given as a path, got {type(path).__name__}")
    given = os.fspath(path)
    if "\0" in given:
        raise InputError(f"cannot write {given!r}: a path has no null characters")
    target = Path(given).absolute()
    if target.name in ("", ".."):
        raise InputError(f"cannot write a bag to {given!r}: give the name of a new folder")
    if not target.parent.is_dir():
        raise InputError(f"cannot write {given!r}: the folder {target.parent} does not exist; create it first")
    _check_replaceable(target, overwrite)
    check_writable(target, "the bag")
    return target


def _new_room(target: Path) -> tuple[Path, int | None]:
    """A new folder beside a bag, and its lock if it can have one."""
    while True:
        room = target.with_name(f"{target.name}.{secrets.token_hex(6)}.tmp")
        room.mkdir()
        lock = _locked(room, wait=True)
        if room.exists():
            return room, lock
        if lock is not None:  # another process took it for abandoned, as it was not locked yet
            os.close(lock)


def _remove_abandoned(target: Path) -> None:
    """Remove what a process left that was killed while it wrote this bag; a bag that it was replacing comes back.

    A folder is such a one if it has the name that only `new_bag_folder` gives, holds what that makes or nothing yet,
    belongs to this user, and nobody holds its lock, which the system releases when a process ends.
    """
    old = f"{target.name}.replaced"
    made = re.compile(re.escape(target.name) + r"\.[0-9a-f]{12}\.tmp")
    for room in target.parent.glob(f"{glob.escape(target.name)}.*.tmp"):
        if not made.fullmatch(room.name) or room.is_symlink() or not room.is_dir():
            continue
        if (lock := _locked(room)) is None:
            continue
        inside = {entry.name for entry in room.iterdir()}
        if inside <= {target.name, old}:
            if old in inside and not target.exists():
                (room / old).rename(target)
            shutil.rmtree(room, ignore_errors=True)
        os.close(lock)


def _locked(room: Path, wait: bool = False) -> int | None:
    """The descriptor of a folder of this user's that this process has locked; None if it cannot.

    Args:
        room: the folder.
        wait: whether to wait for whoever has locked it.
    """
    if sys.platform == "win32":
        return None
    try:
        descriptor = os.open(room, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # another process has removed it
        return None
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            return descriptor
    except OSError:  # somebody holds it, or the file system has no locks
        pass
    os.close(descriptor)
    return None


def _replace(target: Path, room: Path, overwrite: bool) -> None:
    old = room / f"{target.name}.replaced"
    _check_replaceable(target, overwrite)  # once more: writing took a while
    if target.exists():
        target.rename(old)
    try:
        (room / target.name).rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def _check_replaceable(target: Path, overwrite: bool) -> None:
    if not target.exists() and not target.is_symlink():
        return
    if not overwrite:
        raise InputError(f"{target} exists already: choose another name, or replace the bag", argument="overwrite")
    if target.is_symlink() or not target.is_dir():
        raise InputError(f"{target} is no folder of a bag and is not overwritten")
    others = [entry.name for entry in target.iterdir() if not (entry.is_file() and _belongs_to_bag(entry.name))]
    if others:
        raise InputError(f"{target} holds more than a bag, e.g. {others[0]!r}, and is not overwritten")


def _belongs_to_bag(name: str) -> bool:
    return name == METADATA or name.endswith((".mcap", ".db3", ".mcap.zstd", ".db3.zstd"))

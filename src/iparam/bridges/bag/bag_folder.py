"""`new_bag_folder`: a bag's folder, which appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from iparam.bridges.bag.contents import METADATA
from iparam.errors import FileWriteError, InputError
from iparam.files.atomic import check_writable


@contextlib.contextmanager
def new_bag_folder(path: str | os.PathLike[str], overwrite: bool) -> Iterator[Path]:
    """The path of a folder to create, which becomes ``path`` in one step when the block ends without an error.

    Args:
        path: of the bag; the folder that it is to lie in must exist.
        overwrite: whether a bag that is there is replaced; a folder that holds anything else never is.
    """
    target = check_bag_folder(path, overwrite)
    given = os.fspath(path)
    room = target.with_name(f"{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        room.mkdir()
        yield room / target.name  # with its final name, after which the writer names the file in it
        for file in (room / target.name).iterdir():
            with file.open("rb") as stream:
                os.fsync(stream.fileno())
        _replace(target, room, overwrite)
    except (OSError, sqlite3.Error) as error:  # what a full disk is called depends on the storage
        raise FileWriteError(f"cannot write {given!r}: {getattr(error, 'strerror', None) or error}") from error
    finally:
        shutil.rmtree(room, ignore_errors=True)


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


def _replace(target: Path, room: Path, overwrite: bool) -> None:
    old = room / f"{target.name}.replaced"
    _check_replaceable(target, overwrite)  # once more: writing took a while
    if target.exists():
        target.rename(old)
    try:
        (room / target.name).rename(target)
    except OSError:
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

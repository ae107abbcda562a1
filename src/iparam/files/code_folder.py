"""`check_code_folder`: whether code may be loaded from a folder, because only its user can have put it there."""

from __future__ import annotations

import os
import stat
import sys
from functools import cache
from pathlib import Path

from iparam.errors import IparamError

if sys.platform != "win32":
    import grp
    import pwd

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class SharedFolderError(IparamError):
    """Somebody else can write to a folder that code would be loaded from; the message says what to do."""


def check_code_folder(folder: str | os.PathLike[str], way_out: str) -> None:
    """Refuse to load code from a folder that others can write to, or could put another in the place of.

    The folder and all above it belong to the user or to root, and nobody else can write to them; above it there may be
    folders that all can write to and where each can only remove their own (the sticky bit, as of /tmp). Where links
    lead counts. What a folder that does not exist yet lies in is judged. Windows has no such modes: nothing is checked.

    Args:
        folder: it.
        way_out: what to do, for the message, e.g. "set IPARAM_CACHE to a folder of your own".

    Raises:
        SharedFolderError: others can.
    """
    if sys.platform != "win32" and (why := _shared(os.path.abspath(folder))):
        raise SharedFolderError(f"{why}: no code is loaded from {folder}. To go on, {way_out}")


def _shared(folder: str) -> str:
    """Who else can write to a folder, in words; "" if nobody can."""
    try:
        place = Path(folder).resolve()
    except (OSError, RuntimeError) as error:
        return f"{folder} cannot be looked at ({error})"
    for path in (place, *place.parents):
        try:
            facts = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            return f"{path} cannot be looked at ({error.strerror})"
        if facts.st_uid not in (os.getuid(), 0):
            return f"{path} belongs to another user (number {facts.st_uid})"
        sticky = path != place and facts.st_mode & stat.S_ISVTX
        if facts.st_mode & stat.S_IWOTH and not sticky:
            return f"every user can write to {path}"
        if facts.st_mode & stat.S_IWGRP and not sticky and not _private(facts.st_gid, facts.st_uid):
            return f"a group of users can write to {path}"
    return ""


@cache
def _private(group: int, user: int) -> bool:
    """Whether a group is that of one user alone, as Linux distributions make one for each."""
    try:
        owner, found = pwd.getpwuid(user), grp.getgrgid(group)
    except KeyError:
        return False
    return owner.pw_gid == group and found.gr_name == owner.pw_name and set(found.gr_mem) <= {owner.pw_name}

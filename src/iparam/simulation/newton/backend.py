"""The one place that imports Newton and Warp, when they are first needed, and looks who else could change the kernels
that Warp loads.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from iparam.errors import IparamError, MissingExtraError

if sys.platform != "win32":
    import grp
    import pwd

OF_ITS_OWN = ", in an environment of its own, as Newton asks for a MuJoCo of another version"


def require_newton() -> tuple[Any, Any]:
    """The modules `newton` and `warp`, which print nothing of their own.

    Raises:
        MissingExtraError: one of them is not installed.
        SharedFolderError: others can write to the folder that Warp keeps kernels in.
    """
    try:
        import warp

        warp.config.log_level = logging.ERROR  # it would print its devices and each module that it loads
        with _without_standard_error():  # where its C++ says that there is no graphics card
            warp.init()
        check_code_folder(warp.config.kernel_cache_dir, "set WARP_CACHE_PATH to a folder of your own")
        import newton
    except ImportError:
        raise MissingExtraError("newton", "newton", OF_ITS_OWN) from None
    logging.getLogger("newton").addHandler(logging.NullHandler())
    return newton, warp


@contextlib.contextmanager
def _without_standard_error() -> Iterator[None]:
    """What is written to the file of standard error by others than Python goes nowhere."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def has_compiled() -> bool:
    """Whether Warp has compiled kernels of the solver before; the first time takes minutes."""
    _, warp = require_newton()
    folder = Path(warp.config.kernel_cache_dir)
    return any(folder.glob("wp_*mujoco*"))


class SharedFolderError(IparamError):
    """Somebody else can write to a folder that code would be loaded from; the message says what to do."""


def check_code_folder(folder: str | os.PathLike[str], way_out: str) -> None:
    """Refuse to load code from a folder that others can write to, or could put another in the place of.

    The folder and all above it belong to the user or to root, and nobody else can write to them; above it there may be
    folders that all can write to and where each can only remove their own (the sticky bit, as of /tmp). Where links
    lead counts. What a folder that does not exist yet lies in is judged. Windows has no such modes: nothing is checked.

    Args:
        folder: it.
        way_out: what to do, for the message, e.g. "set WARP_CACHE_PATH to a folder of your own".

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

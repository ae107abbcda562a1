"""Kernels are compiled on first use, kept on disk, and compiled by one process at a time.

Where processes start together without kept kernels, as the planner's do, each would compile the same ones for itself.
Here the first one compiles; the others wait, and load what it kept.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock

if sys.platform != "win32":
    import fcntl

LONGEST_WAIT = 60.0
"""Seconds to wait for another process that compiles the same kernel: it may have been paused."""

_LOOK_EVERY = 0.02


def kept_if_possible(**options: Any) -> Any:
    """A decorator as `numba.njit`, whose results are kept on disk where there is a folder that can be written."""

    def decorate(function: Any) -> Any:
        try:
            kernel = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # neither beside the source nor in the user's cache: compiled anew in each process
            return numba.njit(**options)(function)
        name = f"{function.__module__}.{function.__qualname__}"
        load_or_compile = kernel.compile

        def compile_alone(signature: Any) -> Any:
            with alone(Path(kernel.stats.cache_path), name):
                return load_or_compile(signature)

        kernel.compile = compile_alone
        return kernel

    return decorate


# 'contract' allows fused multiply-adds and nothing that treats nan or inf differently.
compiled: Any = kept_if_possible(nogil=True, fastmath={"contract"}, error_model="numpy")


@contextlib.contextmanager
def alone(folder: Path, name: str, longest: float = LONGEST_WAIT) -> Iterator[None]:
    """Keep other processes from compiling the kernel ``name``, which is kept in ``folder``, at the same time.

    Goes on without after ``longest`` seconds [s] or where files cannot be locked: then both compile, as numba does by
    itself. A kernel's own kernels are locked inside of it and never the other way round, so that no two processes wait
    for each other.
    """
    # The locks are the process's, so its threads have to take turns; numba lets only one of them compile anyway.
    with global_compiler_lock, contextlib.ExitStack() as stack:
        file, byte = _lock_file(folder), zlib.crc32(name.encode())
        if file is not None and _locked(file, byte, longest):
            stack.callback(fcntl.lockf, file, fcntl.LOCK_UN, 1, byte)
        yield


@cache
def _lock_file(folder: Path) -> int | None:
    """Descriptor of the file whose bytes stand for kernels; never closed, because that would give up all locks."""
    if sys.platform == "win32":
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return os.open(folder / "kernels.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None


def _locked(file: int, byte: int, longest: float) -> bool:
    deadline = time.monotonic() + longest
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(_LOOK_EVERY)
        except OSError:  # a file system without locks
            return False
        else:
            return True

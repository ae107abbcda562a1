"""Kernels are compiled on first use, kept on disk, and compiled by one process at a time.

A kernel is what Python calls (`compiled`); what only kernels call is a `part`. Numba makes machine code, with a door
for Python, of each function that a kernel calls, for each constant in the call, and makes it again inside the kernel.
A part is compiled into its kernels only, once for all constants, which takes half of the time.

Where processes start together without kept kernels, as the planner's do, each would compile the same ones for itself.
Here the first one compiles; the others wait, and load what it kept.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.compiler_lock import global_compiler_lock
from numba.core.event import Listener, install_listener

from iparam.files.code_folder import SharedFolderError, check_code_folder
from iparam.robot.kernels.lean_compiler import KernelCompiler, PartCompiler
from iparam.robot.kernels.notice import lose, say_compiling
from iparam.robot.kernels.operator_types import remembered_types

if sys.platform != "win32":
    import fcntl

LONGEST_WAIT = 60.0
"""Seconds to wait for another process that compiles the same kernel: it may have been paused."""

_LOOK_EVERY = 0.02


# 'contract' allows fused multiply-adds and nothing that treats nan or inf differently.
_OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract"}, "error_model": "numpy"}


def compiled(function: Any, **options: Any) -> Any:
    """A kernel that Python calls: as `numba.njit`, kept on disk where there is a folder that can be written.

    Args:
        function: of numbers and of arrays that are contiguous and writable: each other kind of array compiles it anew.
            Arrays of its own are those of `workspace`, small ones, or it is `allocating`.
        options: of `numba.njit`, beside or instead of the usual ones.
    """
    return _kernel(function, _OPTIONS | {"_nrt": False, "pipeline_class": KernelCompiler} | options)


def allocating(function: Any) -> Any:
    """A kernel as `compiled`, which may make numpy's arrays: it takes longer to compile."""
    return _kernel(function, _OPTIONS)


def _kernel(function: Any, options: dict[str, Any]) -> Any:
    kernel = _kept_if_possible(function, options)
    name = f"{function.__module__}.{function.__qualname__}"
    kept = kernel.stats.cache_path is not None
    load_or_compile = kernel.compile

    def compile_alone(signature: Any) -> Any:
        announced = install_listener("numba:compile", _Announcer(kept))
        with alone(kernel.stats.cache_path, name), _no_garbage_collection(), remembered_types(), announced:
            return load_or_compile(signature)

    kernel.compile = compile_alone
    return kernel


def _kept_if_possible(function: Any, options: dict[str, Any]) -> Any:
    """The kernel, kept beside the source, in the user's cache, in a folder for temporary files, or nowhere.

    Raises:
        SharedFolderError: others can write to the folder that NUMBA_CACHE_DIR names.
    """
    settings: Any = config
    for folder in (None, _temporary_folder):
        before = settings.CACHE_DIR
        try:
            if folder is not None:
                settings.CACHE_DIR = folder()
            kernel = numba.njit(cache=True, **options)(function)
            check_code_folder(kernel.stats.cache_path, "set NUMBA_CACHE_DIR to a folder of your own, or leave it unset")
        except SharedFolderError:
            if before:  # it was asked for
                raise
            continue
        except (OSError, RuntimeError):  # "no locator available"
            continue
        finally:
            settings.CACHE_DIR = before
        save = kernel._cache.save_overload

        def save_if_possible(*arguments: Any, save: Any = save) -> None:
            try:
                save(*arguments)
            except OSError:  # a full disk: the kernel is there all the same
                lose()

        kernel._cache.save_overload = save_if_possible
        return kernel
    return numba.njit(**options)(function)


@cache
def _temporary_folder() -> str:
    """One that belongs to this user alone."""
    place = tempfile.gettempdir()
    if place == os.getcwd() and place != os.environ.get("TMPDIR"):
        raise OSError(f"no folder for temporary files but {place}, where the command happens to run")
    folder = Path(place) / f"iparam-kernels-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink():
        raise OSError(f"{folder} is no folder")
    return str(folder)


class _Announcer(Listener):
    """Says that a kernel is being compiled, if it is, and not loaded."""

    def __init__(self, kept: bool) -> None:
        self.kept = kept

    def on_start(self, event: Any) -> None:
        say_compiling(self.kept)

    def on_end(self, event: Any) -> None:
        """Nothing is said."""


def first_use(kernel: Any) -> bool:
    """Whether a kernel has to be compiled, and can be kept for other processes to find."""
    return kernel.stats.cache_path is not None and not Path(kernel._cache._cache_file._index_path).exists()


def part(function: Any) -> Any:
    """What kernels call and Python does not: compiled into them, and once for all values of a constant argument."""
    # Inlined whatever its size: what numbers a kernel holds then stay in registers across the call.
    options = _OPTIONS | {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    inner = numba.njit(pipeline_class=PartCompiler, **options)(function)
    compile_for = inner.compile
    inner.compile = lambda signature: compile_for(tuple(numba.types.unliteral(kind) for kind in signature))
    # What Python would call is not there: kept from its table of calls, and refused.
    inner.add_overload = lambda made: inner.overloads.update({tuple(made.signature.args): made})
    inner._compile_for_args = partial(_refuse, function.__qualname__)
    return inner


def _refuse(name: str, *arguments: Any, **named: Any) -> None:
    raise TypeError(f"{name} is a part of kernels, which Python cannot call: call it in a kernel")


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The compiler makes many objects and little garbage: looking for it takes a sixth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextlib.contextmanager
def alone(folder: str | Path | None, name: str, longest: float = LONGEST_WAIT) -> Iterator[None]:
    """Keep other processes from compiling the kernel ``name``, kept in ``folder`` (None: nowhere), at the same time.

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
def _lock_file(folder: str | Path | None) -> int | None:
    """Descriptor of the file whose bytes stand for kernels; never closed, because that would give up all locks."""
    if sys.platform == "win32" or folder is None:
        return None
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        return os.open(Path(folder) / "kernels.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
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

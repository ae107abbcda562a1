"""`in_limited_process`: somebody else's parser, in a process of bounded memory and time.

A small file can stand for gigabytes: counts, powers, references to references. Not every parser looks at them before it
allocates, and a library in C++ ends the process that it runs in. Results cross the channel as JSON and as plain arrays,
never as objects that would have to be unpickled.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import stat
import sys
import warnings
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

import iparam.errors
from iparam.child_process import end_child, run_child, start_child
from iparam.errors import FileFormatError, IparamError
from iparam.files.json import json_line, parse_json
from iparam.files.reading_limit import TIME_VARIABLE, VARIABLE, TooLargeError, reading_limit, time_limit
from iparam.fixes import plain

if sys.platform != "win32":
    import resource

Arrays = dict[str, NDArray[Any]]
Outcome = tuple[Any, Arrays]
"""What such a function returns: what JSON can hold, and arrays of numbers or texts by name."""

MEMORY_OF_A_BYTE, SECONDS_OF_A_BYTE = 25, 1e-6
"""What a parser may take for each byte of a file, beside half of what is read of any file, and the seconds of any file:
trimesh was seen to take 18 bytes and 0.25e-6 s for a ball of 1.3 million triangles, the most of all that were tried."""

_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MUJOCO_GL": "disable"}
_GIB = 1 << 30
_LONGEST_REASON = 300
_OUT_OF_MEMORY, _OTHER = "memory", "other"

_OF_CODE = (NameError, AttributeError, TypeError, LookupError, AssertionError)
"""Errors whose texts are about the code of a parser, which was not ready for such a file."""


def in_limited_process(
    function: Callable[..., Outcome],
    source: str,
    arguments: Mapping[str, Any],
    *,
    content: bytes | None = None,
    size: int = 0,
) -> Outcome:
    """What ``function(**arguments)`` returns. Its errors are raised here; any but iparam's is one of the file.

    Args:
        function: of a module, which imports what it needs.
        source: the file, for messages.
        arguments: by name; values that JSON can hold.
        content: the argument ``content``, if it takes one.
        size: bytes of what it reads, by which its bounds grow; at least that of ``content``.

    Raises:
        TooLargeError: it takes more memory or time.
        FileFormatError: a parser failed.
    """
    size = max(size, len(content or b""))
    memory = reading_limit() // 2 + MEMORY_OF_A_BYTE * size
    seconds = time_limit() + SECONDS_OF_A_BYTE * size
    request = {
        "function": f"{function.__module__}:{function.__qualname__}",
        "arguments": dict(arguments),
        "content": content is not None,
        "memory": memory,
        "seconds": seconds,
    }
    process, channel = start_child(__name__, _ENVIRONMENT, quiet=True)
    try:
        _await_start(channel, source)
        channel.send_bytes(json_line(request).encode())
        if content is not None:
            channel.send_bytes(content)
        if not channel.poll(seconds):
            raise TooLargeError(
                f"{source}: cannot be read within {seconds:g} s: it is damaged, or holds far more than it seems to. If "
                f"it is sound, set the environment variable {TIME_VARIABLE} to more seconds"
            )
        answer = parse_json(channel.recv_bytes().decode(), source)
        arrays = {
            name: np.frombuffer(channel.recv_bytes(), np.dtype(kind)).reshape(shape)
            for name, kind, shape in answer["arrays"]
        }
    except (EOFError, ConnectionError):
        answer, arrays = {"error": _OUT_OF_MEMORY}, {}
    finally:
        end_child(process, channel)
    if (kind := answer.get("error")) is not None:
        raise _error(kind, answer, source, memory)
    return answer["value"], arrays


def _await_start(channel: Connection, source: str) -> None:
    try:
        channel.recv_bytes()
    except (EOFError, ConnectionError):
        raise IparamError(
            f"{source}: no process could be started to read it: there is not enough memory, or ulimit allows too little"
        ) from None


def _error(kind: str, told: Mapping[str, Any], source: str, memory: int) -> Exception:
    if kind == _OUT_OF_MEMORY:
        more = reading_limit() / _GIB * 2.0
        return TooLargeError(
            f"{source}: cannot be read with {memory / _GIB:.3g} GiB of memory: it is damaged, or holds far more than "
            f"it seems to. If it is sound, set the environment variable {VARIABLE}={more:g}"
        )
    if kind == _OTHER:
        return FileFormatError(f"{source}: cannot be read: {told['message']}")
    found: type[IparamError] = getattr(iparam.errors, kind, FileFormatError)
    error = found.__new__(found)
    fix = {name: plain(value) for name, value in told["fix"].items()}
    IparamError.__init__(error, told["message"], argument=told["argument"], problem=told["problem"], fix=fix)
    return error


def _serve(channel: Connection) -> None:
    channel.send_bytes(b"ready")
    request = parse_json(channel.recv_bytes().decode(), "the request")
    arguments = request["arguments"]
    try:
        module, _, name = request["function"].partition(":")
        function = getattr(importlib.import_module(module), name)
        if request["content"]:
            arguments["content"] = channel.recv_bytes()
        sys.addaudithook(_open_only_files)
        _limit(request["memory"], request["seconds"])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, arrays = function(**arguments)
        held = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        kinds = [(name, array.dtype.str, array.shape) for name, array in held.items()]
        answer, parts = {"value": value, "arrays": kinds}, [array.reshape(-1).view(np.uint8) for array in held.values()]
    except MemoryError:
        answer, parts = {"error": _OUT_OF_MEMORY, "arrays": []}, []
    except IparamError as error:
        kind = next(one.__name__ for one in type(error).__mro__ if one.__module__ == iparam.errors.__name__)
        message = "" if error.opens else error.message
        told = {"message": message, "argument": error.argument, "problem": error.problem, "fix": error.fix}
        answer, parts = {"error": kind, **told, "arrays": []}, []
    except Exception as error:  # whatever a parser meets in a damaged file
        said = "" if isinstance(error, _OF_CODE) else " ".join(str(error).split())[:_LONGEST_REASON]
        reason = said or f"it is damaged, or not what its name says ({type(error).__name__})"
        answer, parts = {"error": _OTHER, "message": reason, "arrays": []}, []
    channel.send_bytes(json_line(answer).encode())
    for part in parts:
        channel.send_bytes(part.data)


def _open_only_files(event: str, arguments: tuple[Any, ...]) -> None:
    """Refuse what a parser in Python is about to open, if it is a device or a pipe, for which it would wait."""
    if event != "open" or not isinstance(arguments[0], (str, bytes)):
        return
    try:
        mode = os.stat(arguments[0]).st_mode
    except (OSError, ValueError):
        return  # as open will say
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FileFormatError(f"{os.fsdecode(arguments[0])} is no file, and is not read")


def _limit(memory: int, seconds: float) -> None:
    """Bound the memory that is taken from here on, and the time; elsewhere than on Linux only the time."""
    if sys.platform == "win32":
        return

    def lower(kind: int, most: int) -> None:
        _, hard = resource.getrlimit(kind)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (most, most))

    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, int(seconds) + 2)
    if sys.platform == "linux":
        with open("/proc/self/statm", encoding="ascii") as stream:
            loaded = int(stream.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        lower(resource.RLIMIT_AS, loaded + memory)


if __name__ == "__main__":
    run_child(_serve)

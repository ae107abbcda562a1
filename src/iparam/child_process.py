"""A process of this program's own, and the channel to it: ``python -P -m MODULE HANDLE``.

A plain ``python -m`` looks for every module in the working folder first: a ``numpy.py`` that lies beside somebody's
recording would run. All processes of this program are started with `python_command` and `safe_path_variables`.

The process needs nothing of the caller's program, as `multiprocessing` does, which imports it again. Nobody else can
reach the channel, which has no name, so that what comes over it may be unpacked. It ends with the process that started
it, however that ends.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

_STDIN = 0


def python_command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module in a new process of this Python, which takes no code from the working folder."""
    return [sys.executable, "-P", "-m", module, *arguments]


def safe_path_variables() -> dict[str, str]:
    """What to set in the environment of such a process, so that those that it starts do not either.

    An empty entry of PYTHONPATH means the working folder. Nobody asks for it so: it is left by ``$PYTHONPATH:/more``.
    """
    path = os.environ.get("PYTHONPATH")
    given = {} if path is None else {"PYTHONPATH": os.pathsep.join(filter(None, path.split(os.pathsep)))}
    return {"PYTHONSAFEPATH": "1", **given}


def start_child(
    module: str, environment: Mapping[str, str] | None = None, quiet: bool = False
) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a process that runs a module, which calls `run_child`; the process, and the channel to it.

    Args:
        module: its name.
        environment: variables to set for it.
        quiet: whether what it prints goes nowhere.
    """
    ours, theirs = Pipe()
    handle = theirs.fileno()
    options: dict[str, Any]
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        options = {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})}
    else:
        options = {"pass_fds": (handle,)}
    if quiet:
        options |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        process = subprocess.Popen(
            python_command(module, str(handle)),
            env={**os.environ, **safe_path_variables(), **(environment or {})},
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the caller only, which then still has what they know
            **options,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def end_child(process: subprocess.Popen[bytes], channel: Connection) -> None:
    """End a process that `start_child` started."""
    channel.close()
    process.terminate()
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def run_child(main: Callable[[Connection], None]) -> None:
    """In the process: serve the caller at the other end of the channel, until it or ``main`` ends."""
    threading.Thread(target=_end_with_the_caller, daemon=True).start()
    with contextlib.suppress(EOFError, ConnectionError), _inherited(int(sys.argv[1])) as channel:
        main(channel)


def _end_with_the_caller() -> None:
    """Wait for the end of standard input, which the caller holds open and never writes to, and end at once."""
    with contextlib.suppress(OSError):
        os.read(_STDIN, 1)
    os._exit(1)


def _inherited(handle: int) -> Connection:
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        return PipeConnection(handle)
    return Connection(handle)

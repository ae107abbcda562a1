"""A process of the multi-start search: ``python -m iparam.excitation.search.worker HANDLE``.

It takes starts from the planner one by one, over a channel that it inherited, and sends back what came of them. A
process of its own, with one thread in every numerical library, makes the outcome of a start the same whatever the
number of workers, and needs nothing of the caller's program. Nobody else can reach the channel: it has no name.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from iparam.robot.kernels.notice import environment_of_worker

if TYPE_CHECKING:
    from iparam.excitation.search.start import StartTask

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

_STDIN = 0


def start_worker() -> tuple[subprocess.Popen[bytes], Connection]:
    """Start a process that runs `main`; the process, and the channel to it.

    It ends when its standard input does, that is, with this process at the latest, however that ends.
    """
    ours, theirs = Pipe()
    handle = theirs.fileno()
    options: dict[str, Any]
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        options = {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})}
    else:
        options = {"pass_fds": (handle,)}
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "iparam.excitation.search.worker", str(handle)],
            env={**os.environ, **ONE_THREAD, **environment_of_worker()},
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the planner only, which then still has their last results
            **options,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def main(channel: Connection) -> None:
    """Serve the planner at the other end of ``channel`` until it says that there is nothing more to do."""
    from iparam.errors import IparamError
    from iparam.excitation.search.start import run_start, warm_up
    from iparam.robot.batching import set_num_threads

    set_num_threads(1)
    problem, seed = channel.recv()
    with contextlib.suppress(Exception):  # what is wrong with the problem, its first start will say
        warm_up(problem)
    channel.send(("ready", None))
    while True:
        task: StartTask | None = channel.recv()
        if task is None:
            return

        def report(value: float, index: int = task.index) -> None:
            channel.send(("progress", (index, value)))

        outcome: tuple[str, Any]
        try:
            deadline = time.monotonic() + task.seconds
            result = run_start(problem, seed, task.index, task.best, deadline, report, task.beside)
            outcome = ("result", result)
        except IparamError as error:
            outcome = ("failure", str(error))
        except Exception as error:
            outcome = ("failure", f"{type(error).__name__}: {error}")
        channel.send(outcome)


def _end_with_the_planner() -> None:
    """Wait for the end of standard input, which the planner holds open and never writes to, and end at once."""
    with contextlib.suppress(OSError):
        os.read(_STDIN, 1)
    os._exit(1)


def _inherited(handle: int) -> Connection:
    if sys.platform == "win32":
        from multiprocessing.connection import PipeConnection

        return PipeConnection(handle)
    return Connection(handle)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_planner, daemon=True).start()
    with contextlib.suppress(EOFError, ConnectionError), _inherited(int(sys.argv[1])) as inherited:
        main(inherited)

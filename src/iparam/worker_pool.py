"""`WorkerPool`: functions of importable modules in other processes: starts of the planner, recordings, examinations.

Each process has one thread in every numerical library, so that what it computes does not depend on how many run beside
it. It takes no code from the working folder, needs nothing of the caller's program (no ``if __name__ == "__main__"``),
and ends with the caller, however that ends; see `iparam.child_process`. One that is killed is replaced.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from pickle import PickleError
from typing import Any

from iparam.child_process import end_child, python_command, run_child, start_child
from iparam.errors import InputError, IparamError
from iparam.robot.batching import get_num_threads

ONE_THREAD = dict.fromkeys(
    (
        *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
        "IPARAM_NUM_THREADS",
    ),
    "1",
)
ATTEMPTS = 2
"""How often a job is tried whose process ends: it may have been killed for what another program did."""

_ENDED = "the worker processes were ended"
_Child = tuple[subprocess.Popen[bytes], Connection]
_IMPORTABLE = "Functions and classes of your own must be defined in a module that can be imported, not in a script"


class WorkerEndedError(IparamError):
    """The process that ran a job was killed or ran out of memory, or none could be started."""


class WorkerPool(Executor):
    """The pool. Its processes are started when they are needed; use it in a ``with`` block.

    Args:
        num_workers: processes at the same time; None for one a usable core.
        nice: by how much they give way to other processes.
    """

    def __init__(self, num_workers: int | None = None, *, nice: int = 0) -> None:
        count = get_num_threads() if num_workers is None else num_workers
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(argument="workers", value=num_workers, expected="a whole number from 1")
        self.num_workers = count
        self._nice = nice
        self._threads = ThreadPoolExecutor(count, "iparam-worker")  # each waits for one process
        self._lock = threading.Lock()
        self._children: list[_Child] = []
        self._idle: list[_Child] = []
        self._ended = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor`. The future raises what the function raised, or `WorkerEndedError`."""
        try:
            job = bytes(ForkingPickler.dumps((fn, args, kwargs)))
        except (AttributeError, TypeError, PickleError) as error:
            raise InputError(f"this cannot be sent to worker processes: {error}. {_IMPORTABLE}") from None
        return self._threads.submit(self._run, job)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: when all jobs are done, or in the middle of them if ``cancel_futures``."""
        if not cancel_futures:
            self._threads.shutdown(wait)
            if not wait:  # they end with this program
                return
        with self._lock:
            self._ended, children = True, list(self._children)
        for process, _ in children:
            process.terminate()  # who waits for it sees the end of the channel
        self._threads.shutdown(cancel_futures=cancel_futures)
        for child in children:
            end_child(*child)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """End the processes: when they are done, or at once after an exception."""
        self.shutdown(cancel_futures=kind is not None)

    def _run(self, job: bytes) -> Any:
        for _ in range(ATTEMPTS):
            child = self._taken()
            try:
                child[1].send_bytes(job)
                answer = child[1].recv_bytes()
            except (EOFError, OSError):
                self._drop(child)
                continue
            with self._lock:
                self._idle.append(child)
            done, content = ForkingPickler.loads(answer)
            if done:
                return content
            raise content
        raise WorkerEndedError("the process that worked on it ended: killed, or out of memory")

    def _taken(self) -> _Child:
        with self._lock:
            if self._ended:
                raise WorkerEndedError(_ENDED)
            if self._idle:
                return self._idle.pop()
            child = start_child(__name__, ONE_THREAD)
            self._children.append(child)
        try:
            child[1].send((sys.path, self._nice))
            child[1].recv_bytes()
        except (EOFError, OSError):
            code = child[0].wait()
            self._drop(child)
            raise WorkerEndedError(
                f"a worker process ended with exit code {code} before it was ready. The workers run "
                f"{' '.join(python_command(__name__))}: can that Python import iparam?"
            ) from None
        return child

    def _drop(self, child: _Child) -> None:
        with self._lock:
            if self._ended:  # `shutdown` ends it
                raise WorkerEndedError(_ENDED)
            self._children.remove(child)
        end_child(*child)


def _serve(channel: Connection) -> None:
    path, nice = channel.recv()
    sys.path[:] = path
    with contextlib.suppress(OSError, AttributeError):
        os.nice(nice)
    channel.send_bytes(b"ready")
    while True:
        channel.send_bytes(_answer(channel.recv_bytes()))


def _answer(job: bytes) -> bytes:
    """What came of a job: whether it returned, and what it returned or raised."""
    try:
        function, args, kwargs = ForkingPickler.loads(job)
    except Exception as error:
        return _packed(False, InputError(f"this cannot be run in worker processes: {error}. {_IMPORTABLE}"))
    try:
        return _packed(True, function(*args, **kwargs))
    except Exception as error:
        if not isinstance(error, IparamError):
            error.add_note(traceback.format_exc())
        try:
            packed = _packed(False, error)
            ForkingPickler.loads(packed)
        except Exception:  # a class that cannot be sent, or not be made again
            packed = _packed(False, RuntimeError(f"{type(error).__name__}: {error}"))
        return packed


def _packed(done: bool, content: object) -> bytes:
    return bytes(ForkingPickler.dumps((done, content)))


if __name__ == "__main__":
    run_child(_serve)

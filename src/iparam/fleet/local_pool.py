"""`LocalPool`: worker processes over the usable cores of this machine, each with one numerical thread.

An executor of loky's: a caller's program needs no ``if __name__ == "__main__"``, a worker that dies is noticed, and
Ctrl-C reaches the caller only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from multiprocessing import resource_tracker
from typing import Any, Self

from iparam.child_process import safe_path_variables
from iparam.errors import InputError, MissingExtraError
from iparam.robot.batching import get_num_threads, set_num_threads
from iparam.robot.kernels.notice import say_if, was_said

ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""The environment of a worker: what it computes does not depend on how many run beside it."""

_LOOK = 1.0  # s between two looks at whether the caller is still there


class LocalPool(Executor):
    """The pool; use it in a ``with`` block, which ends its processes at once if it is left by an exception.

    Args:
        num_workers: processes; None for one a usable core.
    """

    def __init__(self, num_workers: int | None = None) -> None:
        count = get_num_threads() if num_workers is None else num_workers
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise InputError(f"workers= must be a whole number from 1, got {num_workers!r}")
        self.num_workers = count
        self._first: Any = None
        self._pool = self._started()

    def _started(self) -> Executor:
        try:
            from loky import ProcessPoolExecutor, backend
        except ImportError:
            raise MissingExtraError("loky", "fleet") from None
        if self._first is None:  # taken by the first worker that compiles kernels, which says so
            with _safe_path():  # processes that look after semaphores begin here: loky's own, and Python's
                self._first = backend.get_context("loky").Semaphore(0 if was_said() else 1)
                if sys.platform != "win32":
                    resource_tracker.ensure_running()
        pool: Executor = ProcessPoolExecutor(
            self.num_workers,
            env=ONE_THREAD | safe_path_variables(),
            initializer=_begin,
            initargs=(os.getpid(), list(sys.path), self._first),
        )
        return pool

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor`."""
        return self._pool.submit(fn, *args, **kwargs)

    def restart(self) -> None:
        """End what is left of a pool that broke, and begin anew."""
        self._end(kill=True)
        self._pool = self._started()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """See `concurrent.futures.Executor`; a pool that is told to cancel ends its processes at once."""
        self._end(kill=cancel_futures)

    def _end(self, *, kill: bool) -> None:
        self._pool.shutdown(wait=True, kill_workers=kill)  # type: ignore[call-arg]

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        """End the processes: when they are done, or at once after an exception."""
        self._end(kill=kind is not None)

    def __enter__(self) -> Self:
        """The pool itself."""
        return self


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """While it lasts, a Python that somebody else starts here takes no code from the working folder."""
    changes = safe_path_variables()
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _begin(caller: int, path: list[str], first: Any) -> None:
    """First of all in a worker."""
    say_if(lambda: bool(first.acquire(block=False)))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, which then ends its workers
    sys.path[:] = path
    set_num_threads(1)
    threading.Thread(target=_end_with, args=(caller,), daemon=True).start()


def _end_with(caller: int) -> None:
    """End the process when its caller has ended, however it did."""
    while os.getppid() == caller:
        time.sleep(_LOOK)
    os._exit(1)

"""`ExaminingProcess`: examinations in a process of their own, so that samples do not wait for them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from iparam.child_process import end_child, run_child, start_child
from iparam.errors import IparamError

NICE = 5
"""By how much the process gives way to others, such as the one that samples come to."""

_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "IPARAM_NUM_THREADS": "1"}


class ExaminingProcess(Executor):
    """Runs functions of this package, one after another, in another process; a thread waits for what they return.

    An examination takes up to a second of computing. In a thread it would hold up every sample of that second: Python
    runs one thread at a time. The process is started with the first function, anew if it was ended from outside, and
    it ends with the program.
    """

    def __init__(self) -> None:
        self._waiting = ThreadPoolExecutor(1, "examination")
        self._lock = threading.Lock()
        self._ended = False
        self._child: tuple[subprocess.Popen[bytes], Connection] | None = None

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Call a function of a module in the process; `IparamError` in the future where that failed."""
        return self._waiting.submit(self._ask, function, arguments, named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the process, in the middle of what it does if ``cancel_futures``."""
        if wait and not cancel_futures:
            self._waiting.shutdown()
        with self._lock:
            self._ended, child = True, self._child
        if child is not None:
            child[0].terminate()  # whoever waits for it sees the end of the channel
        self._waiting.shutdown(wait, cancel_futures=cancel_futures)
        if child is not None:
            end_child(*child)

    def _ask(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        for last in (False, True):
            _, channel = self._started()
            try:
                channel.send((function, arguments, named))
                done, value = channel.recv()
                break
            except (EOFError, OSError) as error:
                self._gone()
                if last or self._ended:
                    raise IparamError("the process that examines samples was ended") from error
        if not done:
            raise IparamError(value)
        return value

    def _started(self) -> tuple[subprocess.Popen[bytes], Connection]:
        with self._lock:
            if self._ended:
                raise IparamError("no more samples are examined")
            if self._child is None:
                self._child = start_child(__name__, _ENVIRONMENT)
            return self._child

    def _gone(self) -> None:
        with self._lock:
            if self._child is not None and not self._ended:
                end_child(*self._child)
                self._child = None


def _serve(channel: Connection) -> None:
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)
    while True:
        function, arguments, named = channel.recv()
        try:
            answer = True, function(*arguments, **named)
        except Exception as error:  # the caller says so, and goes on without
            answer = False, f"{type(error).__name__}: {error}"
        channel.send(answer)


if __name__ == "__main__":
    run_child(_serve)

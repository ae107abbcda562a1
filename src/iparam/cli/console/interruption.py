"""Ctrl-C, Ctrl-Z and their like as a request that a command looks at, for work that has to be brought to a good end."""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_CAUSES = {
    "SIGINT": "Ctrl-C",
    "SIGTERM": "SIGTERM",
    "SIGTSTP": "Ctrl-Z, which does not suspend this command",
    "SIGHUP": "its terminal was closed",
}
_LEFT_ALONE = ("SIGTSTP", "SIGHUP")  # where they are ignored, as nohup and shells without job control do


_STEP = 0.01  # s between two looks


class StopRequest(threading.Event):
    """Set when the user wants to stop.

    It takes no lock: a signal's handler runs in the middle of whatever the main thread does, and would wait for ever
    for a lock that this very thread holds.

    Attributes:
        cause: how it was said; "" before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cause = ""
        self._asked = False

    def set(self) -> None:
        """Ask."""
        self._asked = True

    def is_set(self) -> bool:
        """Whether somebody has asked."""
        return self._asked

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until somebody asks, for ``timeout`` at most [s]; whether somebody has."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        while not self._asked and (remaining := end - time.monotonic()) > 0.0:
            time.sleep(min(_STEP, remaining))
        return self._asked


@contextmanager
def interruption() -> Iterator[StopRequest]:
    """A request that Ctrl-C, SIGTERM, Ctrl-Z and a closed terminal make, instead of ending what runs inside the block.

    Ctrl-Z is no less a wish to stop than Ctrl-C: a command that was suspended could not watch over anything.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():  # only the main thread has signals
        yield request
        return

    terminals = [descriptor for descriptor in (1, 2) if os.isatty(descriptor)]

    def ask(number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        request.cause = request.cause or _CAUSES[name]
        request.set()
        if name == "SIGHUP":  # there is nobody left to tell, and telling must not fail
            for descriptor in terminals:
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)

    before = {}
    for name in _CAUSES:
        number = getattr(signal, name, None)  # Windows has two of them
        if number is not None and not (name in _LEFT_ALONE and signal.getsignal(number) is signal.SIG_IGN):
            before[number] = signal.signal(number, ask)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

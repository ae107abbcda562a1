"""Ctrl-C, Ctrl-Z and their like as a request that a command looks at, for work that has to be brought to a good end."""

from __future__ import annotations

import os
import signal
import threading
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


class StopRequest(threading.Event):
    """Set when the user wants to stop.

    Attributes:
        cause: how it was said; "" before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.cause = ""


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

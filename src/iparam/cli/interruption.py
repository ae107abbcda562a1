"""Ctrl-C and SIGTERM as a wish that a command looks at, for work that has to be brought to a good end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruption() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, instead of ending what runs inside the block."""
    wished = threading.Event()
    if threading.current_thread() is not threading.main_thread():  # only the main thread has signals
        yield wished
        return

    def wish(number: int, frame: FrameType | None) -> None:
        wished.set()

    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wished
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

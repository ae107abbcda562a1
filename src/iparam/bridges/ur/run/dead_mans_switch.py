"""`DeadMansSwitch`: remembers for good that somebody who has to be there was away for too long, whatever the cause."""

from __future__ import annotations

import time

# A clock that runs on while the computer sleeps, which time.monotonic does not on Linux and macOS.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC_RAW", None))


def now() -> float:
    """The time on a clock that only runs forward and that all processes of this computer share [s]."""
    return time.monotonic() if _CLOCK is None else time.clock_gettime(_CLOCK)


class DeadMansSwitch:
    """Watches over the time between two signs of life.

    A sign carries the time at which it was given, not that at which it arrives: one that waited in a pipe proves
    nothing about the present. Signs that come again after a silence do not make it undone.

    Args:
        limit: longest time between two signs [s].
        since: when the watch begins [s], see `now`.
    """

    def __init__(self, limit: float, since: float) -> None:
        self.limit = limit
        self._last = since
        self._silence = 0.0

    @property
    def last(self) -> float:
        """When the last sign was given [s]."""
        return self._last

    def sign(self, given: float) -> None:
        """Somebody was there at the time ``given`` [s]."""
        self._silence = max(self._silence, given - self._last)
        self._last = max(self._last, given)

    def silence(self, at: float) -> float:
        """The longest time without a sign up to ``at`` [s]."""
        self._silence = max(self._silence, at - self._last)
        return self._silence

    def tripped(self, at: float) -> bool:
        """Whether it was ever longer than allowed, up to the time ``at`` [s]."""
        return self.silence(at) > self.limit

"""`SampleTimes`: a time axis that always increases, from the stamps of a controller that may stop, jump or restart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

JUMP = 1.0
"""By how much a controller's clock may run ahead of this computer's between two packages [s]; more is a jump."""

_LATE = 1.5  # periods between two samples from which on some are missing
_SAME = 1e-6  # s; stamps this close are one


@dataclass(frozen=True)
class Gap:
    """A time without samples.

    Attributes:
        start, stop: time of the samples before and after it [s].
        cause: "connection": it was lost; "samples": packages are missing; "clock": the controller's clock jumped or
            began anew, so that the length of the gap is this computer's measure.
    """

    start: float
    stop: float
    cause: Literal["connection", "samples", "clock"]

    def as_json(self) -> dict[str, float | str]:
        """For the metadata of a recording."""
        return {"start": self.start, "stop": self.stop, "cause": self.cause}

    def lost_samples(self, period: float) -> int:
        """How many samples it has cost, by its length and the time between samples [s]."""
        return max(0, round((self.stop - self.start) / period) - 1)


class SampleTimes:
    """Puts one package after the other on a time axis that starts at 0.

    Args:
        period: between packages [s].

    Attributes:
        period: between packages [s].
        gaps: found so far.
        repeats: packages that were left out because their stamp is that of the package before.
        last: time of the last sample [s], None before the first.
    """

    def __init__(self, period: float) -> None:
        self.period = period
        self._offset = 0.0
        self._stamp = 0.0
        self._received = 0.0
        self._reconnected = False
        self.gaps: list[Gap] = []
        self.repeats = 0
        self.last: float | None = None

    def reconnected(self) -> None:
        """Say that the connection was lost and made anew since the last package."""
        self._reconnected = True

    def place(self, stamp: float, received: float) -> float | None:
        """The time of a package on the axis [s], or None if it has to be left out.

        Args:
            stamp: the controller's [s].
            received: when it came, on a clock of this computer that never jumps [s].
        """
        if not math.isfinite(stamp):
            self.repeats += 1
            return None
        if self.last is None:
            time = 0.0
            self._offset = -stamp
        else:
            step, waited = stamp - self._stamp, received - self._received
            if abs(step) < _SAME:
                self.repeats += 1
                return None
            if step < 0.0 or step > waited + JUMP:
                time = self.last + max(waited, self.period)
                self._offset = time - stamp
                self.gaps.append(Gap(self.last, time, "clock"))
            else:
                time = stamp + self._offset
                if not time > self.last:  # the stamps are too large for their last digits to count
                    self.repeats += 1
                    return None
                if step > _LATE * self.period:
                    self.gaps.append(Gap(self.last, time, "connection" if self._reconnected else "samples"))
        self._stamp, self._received, self._reconnected = stamp, received, False
        self.last = time
        return time

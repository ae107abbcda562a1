"""`StampedBuffer`: the latest messages of a topic in the order of their stamps, and a count of what went wrong."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray

Values = tuple[FloatArray | None, ...]

CLOCK_JUMP = 1_000_000_000
"""Nanoseconds by which a stamp may differ from the newest one before that means that the clock was set, or a pause."""

EXACT = 1_000
"""Nanoseconds within which two stamps mean the same instant."""

PERIOD_SAMPLES = 50
"""Steps whose median is the period of a topic."""


@dataclass
class StreamCounts:
    """What became of the messages of a topic.

    Attributes:
        received: all that came.
        lost: that never came, by the gaps between the stamps.
        late: with a stamp before one that has been used already; not used.
        reordered: that came after a later one and took their place.
        duplicated: with a stamp that was there already; not used.
        not_finite: with a NaN or infinite number; not used.
        refused: about other joints, of another size or in another frame; not used.
        jumps: pauses of more than a second, and steps back by more.
    """

    received: int = 0
    lost: int = 0
    late: int = 0
    reordered: int = 0
    duplicated: int = 0
    not_finite: int = 0
    refused: int = 0
    jumps: int = 0


class PeriodEstimate:
    """The period of a topic: the median of the first steps between its stamps, or what it is told to be.

    Args:
        period: [ns], None to find it.
    """

    def __init__(self, period: float | None = None) -> None:
        self.period = period
        self._steps: list[int] = []

    def add(self, step: int) -> None:
        """Take in the time from one stamp to the next [ns]; not positive ones do not count."""
        if self.period is None and 0 < step < CLOCK_JUMP:
            self._steps.append(step)
            if len(self._steps) == PERIOD_SAMPLES:
                self.period = float(np.median(self._steps))
                self._steps.clear()


def _is_finite(values: FloatArray) -> bool:
    # A sum is quicker than numpy's reductions for a few numbers; one that has overflowed does not decide.
    return math.isfinite(sum(values.tolist())) or bool(np.isfinite(values).all())


class StampedBuffer:
    """Messages of one topic, sorted by stamp.

    Args:
        depth: how many to keep; the oldest makes room.
        period: [ns], None to find it from the stamps.
    """

    def __init__(self, depth: int, period: float | None = None) -> None:
        self.counts = StreamCounts()
        self.overflowed = 0
        self._rate = PeriodEstimate(period)
        self._depth = depth
        self._stamps: list[int] = []
        self._values: list[Values] = []
        self._floor: int | None = None  # stamps up to here have been used
        self._newest: int | None = None
        self._begin: int | None = None  # the first stamp that came; nothing is missed before it
        self._seen: deque[int] = deque(maxlen=depth)

    def __len__(self) -> int:
        return len(self._stamps)

    @property
    def period(self) -> float | None:
        """Time between messages [ns]; None before it is known."""
        return self._rate.period

    @property
    def newest(self) -> int | None:
        """The latest stamp that came since the clock was last set, of a message of use or not [ns]."""
        return self._newest

    @property
    def last(self) -> int | None:
        """The latest stamp among the messages that are kept [ns]."""
        return self._stamps[-1] if self._stamps else None

    @property
    def first(self) -> tuple[int, Values] | None:
        """The oldest message that has not been discarded."""
        return (self._stamps[0], self._values[0]) if self._stamps else None

    def refuse(self) -> None:
        """Count a message that is not about what this buffer holds."""
        self.counts.received += 1
        self.counts.refused += 1

    def add(self, stamp: int, *values: FloatArray | None) -> bool:
        """Take a message in; whether it can be used.

        Args:
            stamp: [ns].
            values: its arrays; an optional one may be None.
        """
        counts, newest = self.counts, self._newest
        counts.received += 1
        finite = all(value is None or _is_finite(value) for value in values)
        counts.not_finite += not finite
        if newest is None or stamp > newest:
            self._note_step(stamp, newest)
            self._newest = stamp
            self._begin = stamp if self._begin is None else self._begin
        elif stamp < newest - CLOCK_JUMP:
            counts.jumps += 1
            self._stamps, self._values, self._floor = [], [], None
            self._newest = self._begin = stamp
            self._seen.clear()
        elif stamp in self._seen:
            counts.duplicated += finite
            return False
        else:
            if self._begin is not None and stamp > self._begin:
                counts.lost = max(counts.lost - 1, 0)  # it was counted when the one after it came
            if self._floor is not None and stamp <= self._floor:
                counts.late += finite
                return False
            counts.reordered += finite
        self._seen.append(stamp)
        if not finite:
            return False
        place = bisect_left(self._stamps, stamp)
        self._stamps.insert(place, stamp)
        self._values.insert(place, values)
        if len(self._stamps) > self._depth:
            self.overflowed += 1
            self.discard(self._stamps[0])
        return True

    def discard(self, through: int) -> None:
        """Forget the messages up to a stamp, which are used or too old; what comes for that time is late."""
        count = bisect_left(self._stamps, through + 1)
        del self._stamps[:count], self._values[:count]
        self._floor = through if self._floor is None else max(self._floor, through)

    def around(self, stamp: int) -> tuple[tuple[int, Values] | None, tuple[int, Values] | None]:
        """The messages next to an instant: the last one not after it, and the first one not before it."""
        after = bisect_left(self._stamps, stamp)
        behind = (self._stamps[after], self._values[after]) if after < len(self._stamps) else None
        if behind is not None and behind[0] == stamp:
            return behind, behind
        return ((self._stamps[after - 1], self._values[after - 1]) if after else None), behind

    def discard_before(self, stamp: int) -> None:
        """Forget all messages before the last one not after ``stamp``: those that interpolation no longer needs."""
        keep = bisect_left(self._stamps, stamp + 1) - 1
        if keep > 0:
            self.discard(self._stamps[keep - 1])

    def _note_step(self, stamp: int, newest: int | None) -> None:
        if newest is None:
            return
        step = stamp - newest
        if step > CLOCK_JUMP:
            self.counts.jumps += 1
            return
        self._rate.add(step)
        if self._rate.period:
            self.counts.lost += max(round(step / self._rate.period) - 1, 0)

"""`ArraySets`: which messages of several topics belong to one sample, where the messages have no stamps.

What is known of such a message is when it was sent. Messages of one sample are sent together, those of the next one a
period later. A set is taken only if that is clear for each of its messages; otherwise it is dropped and counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from iparam.arrays import FloatArray
from iparam.bridges.ros2.matching.stamped_buffer import CLOCK_JUMP

STEPS = 10
"""Latest steps between messages of a topic from which the period is found."""

SHARE = 0.6
"""Share of the sorted steps below the one taken: half of them may be short (messages sent twice), 30 % long (lost)."""

TOGETHER = 0.25
"""Periods between two messages of one sample, at most."""

APART = 0.5
"""Periods around a message within which its topic may say nothing else: a neighbour is nearer to another sample."""

CONSTANT = 2.0
"""Periods around a message within which a topic that repeats itself has no wrong value to offer."""

UNDERWAY = 100_000_000
"""Nanoseconds by which the messages of one topic may come later than those of another."""


@dataclass
class ArrayCounts:
    """What became of the messages of a topic.

    Attributes:
        received: all that came.
        refused: with another size, or with a number that is not finite.
        duplicated: that said the same as another one of the same sample.
        dropped: that are in no set: another message of their sample is missing, or two contradict each other.
    """

    received: int = 0
    refused: int = 0
    duplicated: int = 0
    dropped: int = 0


@dataclass(frozen=True, eq=False)
class ArraySet:
    """The messages of one sample.

    Attributes:
        sent: when the first topic's message was sent [ns].
        values: of the topics, in their order.
    """

    sent: int
    values: tuple[FloatArray, ...]


@dataclass(eq=False)
class _Message:
    sent: int
    values: FloatArray
    used: bool = False


@dataclass(eq=False)
class _Topic:
    counts: ArrayCounts = field(default_factory=ArrayCounts)
    messages: list[_Message] = field(default_factory=list)  # sorted by when they were sent
    newest: int | None = None

    def within(self, sent: int, distance: float) -> list[_Message]:
        first = bisect_left(self.messages, sent - distance, key=_sent)
        return self.messages[first : bisect_right(self.messages, sent + distance, key=_sent)]


class ArraySets:
    """Collects messages and gives the sets that are complete, in the order of time.

    Args:
        names: of the topics; a message of the first one asks for those of the others.

    Attributes:
        matched: sets that were given.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._topics = {name: _Topic() for name in names}
        self._first = self._topics[names[0]]
        self._steps: deque[int] = deque(maxlen=STEPS)
        self._decided: int | None = None  # messages of the first topic up to here
        self.matched = 0

    @property
    def counts(self) -> dict[str, ArrayCounts]:
        """Of each topic."""
        return {name: topic.counts for name, topic in self._topics.items()}

    def refuse(self, name: str) -> None:
        """Count a message that cannot be used."""
        counts = self._topics[name].counts
        counts.received += 1
        counts.refused += 1

    def add(self, name: str, sent: int, values: FloatArray) -> None:
        """Take in a message of a topic that was sent at a time [ns]."""
        topic = self._topics[name]
        topic.counts.received += 1
        newest = self._newest
        if newest is not None and sent < newest - CLOCK_JUMP:  # the clock was set back
            for each in self._topics.values():
                each.newest = None
                self._forget(each, len(each.messages))
            self._decided = None
        if topic.newest is None or sent > topic.newest:
            if topic.newest is not None:
                self._steps.append(sent - topic.newest)
            topic.newest = sent
        insort(topic.messages, _Message(sent, values), key=_sent)

    def take(self, silence: float = 0.0) -> list[ArraySet]:
        """The sets about which nothing that may still come can change anything; each is given once.

        Args:
            silence: time since the latest message came [s].
        """
        period = sorted(self._steps)[int(SHARE * len(self._steps))] if self._steps else 1e9 * silence
        newest = self._newest
        if newest is None or not period:
            return []
        calm, quiet = 1e9 * silence >= UNDERWAY, 1e9 * silence >= APART * period + UNDERWAY
        found: list[ArraySet] = []
        waits = newest + 1
        for message in self._first.messages:
            sent = message.sent
            if message.used or (self._decided is not None and sent <= self._decided):
                continue
            end = sent + APART * period
            passed = all(topic.newest is not None and topic.newest >= end for topic in self._topics.values())
            settled = passed or quiet or newest >= end + UNDERWAY
            values = self._set(sent, period) if settled or calm else None
            if values is not None:
                found.append(ArraySet(sent, values))
            elif not settled:
                waits = sent
                break
            self._decided = sent
        self.matched += len(found)
        old = min(waits, newest - UNDERWAY) - CONSTANT * period
        for topic in self._topics.values():
            self._forget(topic, bisect_left(topic.messages, old, key=_sent))
        return found

    @property
    def _newest(self) -> int | None:
        return max((topic.newest for topic in self._topics.values() if topic.newest is not None), default=None)

    def _set(self, sent: int, period: float) -> tuple[FloatArray, ...] | None:
        """What the topics say of the sample whose first message was sent at a time; None if one does not say it."""
        taken = [_of_sample(topic, sent, period) for topic in self._topics.values()]
        if not all(taken):
            return None
        for topic, messages in zip(self._topics.values(), taken, strict=True):
            topic.counts.duplicated += max(sum(not message.used for message in messages) - 1, 0)
            for message in messages:
                message.used = True
        return tuple(messages[0].values for messages in taken)

    @staticmethod
    def _forget(topic: _Topic, count: int) -> None:
        topic.counts.dropped += sum(not message.used for message in topic.messages[:count])
        del topic.messages[:count]


def _sent(message: _Message) -> int:
    return message.sent


def _of_sample(topic: _Topic, sent: int, period: float) -> list[_Message]:
    """The messages, all alike, that belong to what another topic sent at a time; none if that is not clear."""
    near = topic.within(sent, APART * period)
    if near and _alike(near) and min(abs(message.sent - sent) for message in near) <= TOGETHER * period:
        return near
    around = topic.within(sent, CONSTANT * period)
    if around and around[0].sent <= sent <= around[-1].sent and _alike(around):
        return [min(around, key=lambda message: abs(message.sent - sent))]
    return []


def _alike(messages: Sequence[_Message]) -> bool:
    first = messages[0].values.tolist()
    return all(message.values.tolist() == first for message in messages[1:])

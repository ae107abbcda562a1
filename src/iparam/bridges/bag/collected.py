"""`CollectedSignals`: what has been taken from a bag so far, and what was found wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.bag.decoding import IntArray
from iparam.bridges.bag.topic_log import TopicLog
from iparam.recording.channels import default_frame, default_unit
from iparam.recording.signal import Signal

ABSURD = 1e9
"""Beyond this no number is a measurement, in whatever unit: bits of the message have flipped."""


@dataclass(eq=False)
class CollectedSignals:
    """Signals with stamps in nanoseconds.

    Attributes:
        notes: what was found wrong, one sentence each.
        stamps: by signal, (T,) [ns].
        values: by signal, (T, k).
        topics: what was taken from which topic, for the recording's metadata.
    """

    notes: list[str] = field(default_factory=list)
    stamps: dict[str, IntArray] = field(default_factory=dict)
    values: dict[str, FloatArray] = field(default_factory=dict)
    topics: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, topic: str, stamps: IntArray, values: FloatArray) -> None:
        """Keep the samples whose numbers can be measurements; a signal that has none is not measured."""
        good = (np.abs(values) <= ABSURD).all(axis=1)  # NaN is not
        if not good.any():
            if values.size and not np.isnan(values).all():
                self.notes.append(f"{topic}: {name} was left out: no message has sound numbers for all of it")
            return
        if not good.all():
            self.notes.append(
                f"{topic}: {np.count_nonzero(~good)} samples of {name} are not finite, or beyond {ABSURD:g}, and were "
                "left out"
            )
        self.stamps[name], self.values[name] = stamps[good], values[good]

    def report(self, log: TopicLog, names: tuple[str, ...], passed_over: int = 0) -> None:
        """Note what was taken from a topic.

        Args:
            log: the topic.
            names: of the signals that it may have.
            passed_over: how many of its messages were about something else.
        """
        signals = [name for name in names if name in self.values]
        samples = max((self.stamps[name].size for name in signals), default=0)
        self.topics.append(
            {
                "topic": log.topic.name,
                "type": log.topic.type,
                "signals": signals,
                "messages": log.count,
                "samples": samples,
                "dropped": log.count - samples - passed_over,
                "rate": log.rate,
                "span": log.span,
            }
        )

    @property
    def first_stamp(self) -> int:
        """Of all signals [ns]."""
        return min(int(stamps[0]) for stamps in self.stamps.values())

    def signals(self, origin: int) -> dict[str, Signal]:
        """The signals with times in seconds since the stamp ``origin`` [ns]."""
        return {
            name: Signal((stamps - origin) / 1e9, self.values[name], default_unit(name), default_frame(name))
            for name, stamps in self.stamps.items()
        }

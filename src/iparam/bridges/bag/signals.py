"""`CollectedSignals`: what has been taken from a bag so far, by which clock, and what was found wrong on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.bag.contents import IntArray, Samples, Topic
from iparam.bridges.bag.settings import Stamps
from iparam.recording.channels import default_frame, default_unit
from iparam.recording.files.table import usable_rows
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark

LATE = 100_000_000
"""Nanoseconds that a message may come late: it then takes its place; later ones mean that the clock was set."""

JUMP = 500_000_000
"""Nanoseconds by which stamps may get ahead or behind the time of recording, from one message to the next."""

TWO_CLOCKS = 250_000_000
"""Nanoseconds by which the clocks of two topics may differ, judged by the time of recording."""


@dataclass(frozen=True, eq=False)
class Ordered:
    """The messages of a topic that have a place in time.

    Attributes:
        rows: (K,) which messages, in the order of their stamps.
        stamps: (K,) strictly increasing [ns].
        notes: what was wrong with the others.
    """

    rows: IntArray
    stamps: IntArray
    notes: tuple[Remark, ...]


def choose_clock(topics: Mapping[str, Samples], wanted: Stamps) -> tuple[Stamps, list[Remark]]:
    """The clock for all topics: one that every one of them has, so that they stay together."""
    if wanted == "log":
        return "log", []
    without = [name for name, samples in topics.items() if not samples.stamps.any()]
    if without:
        return "log", [remark("stamps-missing", topics=", ".join(without))]
    offsets = {name: float(np.median(samples.stamps - samples.log_times)) for name, samples in topics.items()}
    notes = []
    if max(offsets.values()) - min(offsets.values()) > TWO_CLOCKS:
        listed = ", ".join(f"{name} {offset * 1e-9:+.3g} s" for name, offset in offsets.items())
        notes.append(remark("two-clocks", differences=listed, fix={"stamps": "log"}))
    return "header", notes


def order(name: str, samples: Samples, clock: Stamps, base: int) -> Ordered:
    """Put the messages of a topic in order and leave out those without a place in time.

    Args:
        name: of the topic, for messages.
        samples: its messages.
        clock: that counts.
        base: what messages give times relative to [ns].
    """
    stamps = samples.stamps if clock == "header" else samples.log_times
    notes: list[Remark] = []
    # Messages may overtake each other on their way. Within stretches that the clock ran through, sorting repairs it.
    stretches = np.split(np.arange(stamps.size), np.flatnonzero(np.diff(stamps) < -LATE) + 1)
    rows = np.concatenate([stretch[np.argsort(stamps[stretch], kind="stable")] for stretch in stretches])
    moved = int(np.count_nonzero(np.diff(stamps) < 0)) - (len(stretches) - 1)
    if moved:
        notes.append(remark("messages-reordered", topic=name, count=moved))
    time = (stamps[rows] - base) * 1e-9
    if clock == "header":
        time[stamps[rows] == 0] = np.nan
    kept, found = usable_rows(time, rows + 1, "message")
    notes += [one.of(name) for one in found]
    rows = rows[kept]
    if clock == "header":
        notes += _jumps(name, stamps[rows], samples.log_times[rows], base)
    return Ordered(rows, stamps[rows], tuple(notes))


def _jumps(name: str, stamps: IntArray, log_times: IntArray, base: int) -> list[Remark]:
    """Where the clock of the stamps was set, seen against the time of recording."""
    ahead = np.diff(stamps - log_times)
    jumps = np.flatnonzero(np.abs(ahead) > JUMP)
    if jumps.size == 0:
        return []
    first = int(jumps[0])
    return [
        remark(
            "stamps-jump",
            topic=name,
            count=jumps.size,
            step=ahead[first] * 1e-9,
            start=(stamps[first] - base) * 1e-9,
            fix={"stamps": "log"},
        )
    ]


ABSURD = 1e9
"""Beyond this no number is a measurement, in whatever unit: bits of the message have flipped."""


@dataclass(eq=False)
class CollectedSignals:
    """Signals with stamps in nanoseconds.

    Attributes:
        notes: what was found.
        stamps: by signal, (T,) [ns].
        values: by signal, (T, k).
        topics: what was taken from which topic, for the recording's metadata.
    """

    notes: list[Remark] = field(default_factory=list)
    stamps: dict[str, IntArray] = field(default_factory=dict)
    values: dict[str, FloatArray] = field(default_factory=dict)
    topics: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, topic: str, stamps: IntArray, values: FloatArray) -> None:
        """Keep the samples whose numbers can be measurements; a signal that has none is not measured."""
        good = (np.abs(values) <= ABSURD).all(axis=1)  # NaN is not
        if not good.any():
            if values.size and not np.isnan(values).all():
                self.notes.append(remark("signal-without-messages", topic=topic, signal=name))
            return
        if not good.all():
            self.notes.append(
                remark("messages-absurd", topic=topic, signal=name, count=np.count_nonzero(~good), bound=ABSURD)
            )
        self.stamps[name], self.values[name] = stamps[good], values[good]

    def report(self, topic: Topic, names: tuple[str, ...], passed_over: int = 0) -> None:
        """Note what was taken from a topic.

        Args:
            topic: it.
            names: of the signals that it may have.
            passed_over: how many of its messages were about something else.
        """
        signals = [name for name in names if name in self.values]
        samples = max((self.stamps[name].size for name in signals), default=0)
        self.topics.append(
            {
                "topic": topic.name,
                "type": topic.type,
                "signals": signals,
                "messages": topic.count,
                "samples": samples,
                "dropped": topic.count - samples - passed_over,
                "rate": topic.rate,
                "span": topic.span,
            }
        )

    @property
    def first_stamp(self) -> int:
        """Of all signals [ns]."""
        return min(int(stamps[0]) for stamps in self.stamps.values())

    def signals(self, origin: int, tool_frame: str) -> dict[str, Signal]:
        """The signals with times in seconds since the stamp ``origin`` [ns], those of the tool in ``tool_frame``."""
        return {
            name: Signal(
                (stamps - origin) / 1e9, self.values[name], default_unit(name), default_frame(name, tool_frame)
            )
            for name, stamps in self.stamps.items()
        }

"""`LiveState`: what is known of an arm and its load at the moment, and how the estimate has come about.

One thread puts samples in, at the rate of the arm, another looks at it, at that of a screen. Neither waits for the
other longer than a few numbers take to copy, and nothing grows: what is old goes.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.estimate import Estimate
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.rounding import NORMAL_95

EVERY = 0.1
"""Time between two rows of the history [s]."""

HISTORY = 6000
"""Rows of the history: ten minutes."""

SPEED_OVER = 50
"""Samples that a joint's speed is taken over: one after the other would show the noise of the angles."""

DELAYS = 1000
"""Samples whose delay is kept: two seconds at 500 Hz."""

MOST_EVENTS = 100


class Ring:
    """The last rows of a table, in memory that is taken once.

    Args:
        capacity: rows that are kept.
        width: columns.
    """

    def __init__(self, capacity: int, width: int) -> None:
        self._rows = np.full((capacity, width), np.nan)
        self._count = 0

    def __len__(self) -> int:
        return min(self._count, len(self._rows))

    def append(self, row: FloatArray) -> None:
        """Add a row (width,); the oldest goes where there is no room."""
        self._rows[self._count % len(self._rows)] = row
        self._count += 1

    def rows(self) -> FloatArray:
        """A copy (R, width), the oldest first."""
        if self._count <= len(self._rows):
            return self._rows[: self._count].copy()
        return np.roll(self._rows, -(self._count % len(self._rows)), axis=0)


@dataclass(frozen=True)
class LiveEvent:
    """Something that happened to the load.

    Attributes:
        time: [s].
        kind: "changed", "grasp", "release", "refuted", "gap" or "end".
        text: for people.
    """

    time: float
    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class LiveSnapshot:
    """What is known at a moment.

    Attributes:
        time: of the newest sample [s].
        samples: that came so far.
        rate: of the newest samples [Hz].
        delay: largest of the last seconds from a sample being there to its being counted [s].
        q, dq: (n,) of the newest sample [rad, rad/s]; dq over `SPEED_OVER` samples.
        wrench: (6,) of the newest sample [N, N m].
        history: (R, 9) time, mass and half width of its 95 % interval, centre of mass (3) and half widths (3)
            [s, kg, m]; NaN while the load is not known.
        events: the last ones, the oldest first.
        estimate: the load, as a result has it; None while there is none.
    """

    time: float
    samples: int
    rate: float
    delay: float
    q: FloatArray
    dq: FloatArray
    wrench: FloatArray
    history: FloatArray
    events: tuple[LiveEvent, ...]
    estimate: Estimate | None


@dataclass
class LiveState:
    """See the module. All methods may be called from any thread.

    Attributes:
        num_joints: n.
        changed: set whenever a sample came.
    """

    num_joints: int
    changed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._angles = Ring(SPEED_OVER + 1, 1 + self.num_joints)
        self._history = Ring(HISTORY, 9)
        self._delays = Ring(DELAYS, 1)
        self._events: deque[LiveEvent] = deque(maxlen=MOST_EVENTS)
        self._samples = 0
        self._next = -np.inf
        self._wrench = np.zeros(6)
        self._estimate: Estimate | None = None

    def put(
        self, time: float, q: FloatArray, wrench: FloatArray, estimate: OnlineEstimate | None, delay: float = 0.0
    ) -> None:
        """Take a sample in, with the load as it is known after it.

        Args:
            time: [s]; one before the last sample's begins the history anew.
            q, wrench: (n,) and (6,).
            estimate: None while there is none.
            delay: from the sample being there to now [s].
        """
        due = time >= self._next or time < self._next - 2.0 * EVERY
        row = history_row(time, estimate) if due else None
        with self._lock:
            self._samples += 1
            self._angles.append(np.concatenate([[time], q]))
            self._wrench = wrench
            self._delays.append(np.array([delay]))
            if row is not None:
                self._history.append(row)
                self._next = time + EVERY
        self.changed.set()

    def put_event(self, event: LiveEvent) -> None:
        """Take in that something happened."""
        with self._lock:
            self._events.append(event)
        self.changed.set()

    def put_result(self, estimate: Estimate | None) -> None:
        """Take in the load as a result has it."""
        with self._lock:
            self._estimate = estimate

    def newest(self) -> tuple[float, FloatArray, FloatArray, float]:
        """Time, q and dq (n,) of the newest sample, and the rate; all zero before the first."""
        with self._lock:
            angles = self._angles.rows()
        if not len(angles):
            return 0.0, np.zeros(self.num_joints), np.zeros(self.num_joints), 0.0
        span = float(angles[-1, 0] - angles[0, 0])
        dq = (angles[-1, 1:] - angles[0, 1:]) / span if span > 0.0 else np.zeros(self.num_joints)
        return float(angles[-1, 0]), angles[-1, 1:], dq, (len(angles) - 1) / span if span > 0.0 else 0.0

    def snapshot(self) -> LiveSnapshot | None:
        """What is known now; None before the first sample."""
        newest = self.newest()
        with self._lock:
            if self._samples == 0:
                return None
            history, delay, events = self._history.rows(), float(self._delays.rows().max()), tuple(self._events)
            samples, wrench, estimate = self._samples, self._wrench.copy(), self._estimate
        time, q, dq, rate = newest
        return LiveSnapshot(time, samples, rate, delay, q, dq, wrench, history, events, estimate)


def history_row(time: float, estimate: OnlineEstimate | None) -> FloatArray:
    """(9,) see `LiveSnapshot.history`. A mass that is not known to a factor of two is not known."""
    row = np.full(9, np.nan)
    row[0] = time
    if estimate is not None:
        values, deviations = estimate.derived
        half = NORMAL_95 * deviations
        if 0.0 < half[0] < 0.5 * abs(estimate.mass):
            row[1:3] = estimate.mass, half[0]
            row[3:6], row[6:9] = values[1:4], half[1:4]
    return row

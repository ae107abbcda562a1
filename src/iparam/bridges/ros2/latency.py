"""`LatencyWindow`: how long samples took, the latest ones and all so far, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BIN = 1e-4
"""Resolution of the percentile of all samples [s]."""

BINS = 10_000
"""Beyond the last one, at 1 s, it is the largest value."""


@dataclass(frozen=True)
class LatencySummary:
    """Of the samples in the window.

    Attributes:
        samples: how many.
        median, percentile_99, largest: [s]; 0 without samples.
    """

    samples: int = 0
    median: float = 0.0
    percentile_99: float = 0.0
    largest: float = 0.0


class LatencyWindow:
    """The latencies of the latest samples.

    Args:
        size: of the window, in samples.
    """

    def __init__(self, size: int = 5_000) -> None:
        self._values = np.zeros(size)
        self._count = 0
        self._bins = np.zeros(BINS, dtype=np.int64)
        self.largest_ever = 0.0

    def add(self, latency: float) -> None:
        """Take one in [s]; a clock that was set back between the two readings makes it 0."""
        value = max(latency, 0.0)
        self._values[self._count % self._values.size] = value
        self._count += 1
        self._bins[min(int(value / BIN), BINS - 1)] += 1
        self.largest_ever = max(self.largest_ever, value)

    @property
    def percentile_99_ever(self) -> float:
        """Of all samples so far, rounded up to `BIN` [s]; 0 without samples."""
        if not self._count:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self._bins), 0.99 * self._count))
        return self.largest_ever if place == BINS - 1 else min((place + 1) * BIN, self.largest_ever)

    @property
    def summary(self) -> LatencySummary:
        """Median, 99th percentile and maximum."""
        count = min(self._count, self._values.size)
        if not count:
            return LatencySummary()
        part = self._values[:count]
        median, high = np.percentile(part, (50.0, 99.0))
        return LatencySummary(count, float(median), float(high), float(part.max()))

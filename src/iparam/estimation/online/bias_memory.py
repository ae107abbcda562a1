"""`BiasMemory`: what was known of a sensor's bias before the load changed.

A grasp changes the load and not the sensor. What the samples before it told of the bias is worth more than any that
come after it; but a change is noticed late, and the estimate of that moment rests on samples of both loads. So the
knowledge of some time before is kept.
"""

from __future__ import annotations

from typing import NamedTuple

from iparam.arrays import FloatArray

EVERY = 250
"""Samples between two looks; what is used is one to two of them old."""


class KnownBias(NamedTuple):
    """A bias (6,) [force, torque] and its covariance (6, 6) [N, N m]."""

    mean: FloatArray
    covariance: FloatArray


class BiasMemory:
    """Keeps what was known of the bias at two instants.

    Args:
        known: from before the first sample; None for nothing.
    """

    def __init__(self, known: KnownBias | None = None) -> None:
        self._older = self._newer = known

    @property
    def known(self) -> KnownBias | None:
        """What was known before any sample that may belong to another load; None for nothing."""
        return self._older

    def look(self, samples: int) -> bool:
        """Whether to keep what is known after so many samples."""
        return samples % EVERY == 0

    def keep(self, known: KnownBias) -> None:
        """Keep what is known now."""
        self._older, self._newer = self._newer, known

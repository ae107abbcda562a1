"""`ArmSight`: where the arm is by its joint states, and for how long it has stood still."""

from __future__ import annotations

import math

import numpy as np

from iparam.arrays import FloatArray

FRESH = 0.5
"""Seconds after which a joint state says nothing about where the arm is."""

AT_REST = 0.02
"""Joint velocity up to which an arm stands still, for all that its encoders say [rad/s]."""

STILL_TIME = 0.25
"""Time that an arm has to stand still to be at rest [s]: a period of the slowest swing of an arm, some 4 Hz."""

STILL = AT_REST * STILL_TIME
"""Way that a joint may go in that time [rad]: what it goes at `AT_REST`."""


class ArmSight:
    """What the joint states show. Times are those of one steady clock [s].

    Attributes:
        q: (n,) the latest angles [rad]; None before the first.
        dq: (n,) their velocities [rad/s]; None where they are not known.
    """

    def __init__(self) -> None:
        self.q: FloatArray | None = None
        self.dq: FloatArray | None = None
        self._place: FloatArray | None = None  # where it has stood since
        self._since = self._last = -math.inf
        self._stamp = 0

    def see(self, at: float, stamp: int, q: FloatArray, dq: FloatArray | None) -> None:
        """Take a joint state that came at a time; one that repeats the stamp [ns] of the last one shows nothing new."""
        if stamp and stamp == self._stamp:
            return
        moves = dq is not None and bool((np.abs(dq) > AT_REST).any())
        seen = self._place is not None and at - self._last <= FRESH
        if not seen or moves or bool((np.abs(q - self._place) > STILL).any()):  # type: ignore[operator]
            self._place, self._since = q, at
        self.q, self.dq, self._last, self._stamp = q, dq, at, stamp

    def fresh(self, at: float) -> bool:
        """Whether it is known where the arm is."""
        return at - self._last <= FRESH

    def still_for(self, at: float) -> float:
        """Time that the arm has been seen to stand still [s]; 0 if it moves, or is not seen."""
        return self._last - self._since if self.fresh(at) else 0.0

    def at_rest(self, at: float) -> bool:
        """Whether the arm is seen to stand still."""
        return self.still_for(at) >= STILL_TIME

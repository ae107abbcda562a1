"""`SampleMatcher`: joint states and accelerations at the instants of the wrench, from topics with their own stamps.

The wrench gives the instants, as in the off-line identification: its noise is what limits the estimate, and it has to
stay independent from sample to sample, so it is never blended. The angles in between are interpolated, with the
velocities of the message if it has them: cubic, otherwise straight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.ros2.matching.stamped_buffer import EXACT, StampedBuffer, Values
from iparam.errors import InputError

DEPTH = 5_000
"""Messages of a topic that may wait for those of another: ten seconds at 500 Hz."""


@dataclass(frozen=True, eq=False)
class MatchedSample:
    """What all topics say at one instant.

    Attributes:
        stamp: of the wrench, less its delay [ns].
        q: (n,) joint positions [rad].
        dq: (n,) joint velocities, None where the messages have none [rad/s].
        wrench: (6,) [force, torque] as measured [N, N m].
        accelerometer: (3,) proper acceleration, None where there is none [m/s^2].
    """

    stamp: int
    q: FloatArray
    dq: FloatArray | None
    wrench: FloatArray
    accelerometer: FloatArray | None


class SampleMatcher:
    """Collects messages and gives samples as soon as they are complete, in the order of time.

    Args:
        tolerance: time from a wrench to the joint states on either side of it, at most [s].
        hold: time for which a sample waits for wrenches that come in the wrong order [s].
        accelerometer: whether there is one.

    Attributes:
        delay: by which a wrench is stamped later than the joint states that it belongs to [ns].
    """

    def __init__(self, tolerance: float = 0.01, hold: float = 0.0, accelerometer: bool = False) -> None:
        if not tolerance > 0.0 or not hold >= 0.0:
            raise InputError(
                argument="tolerance", problem=f"must be positive and hold at least 0, got {tolerance!r} and {hold!r} s"
            )
        self.joints, self.wrenches, self.accelerations = (StampedBuffer(DEPTH) for _ in range(3))
        self.matched = 0
        self.unmatched = 0
        self.delay = 0
        self._tolerance, self._hold = round(tolerance * 1e9), round(hold * 1e9)
        self._accelerometer = accelerometer

    def take(self) -> list[MatchedSample]:
        """The samples that are complete by now, oldest first. Each is given once."""
        found: list[MatchedSample] = []
        while (first := self.wrenches.first) is not None:
            stamp, (wrench,) = first
            waited = (self.wrenches.newest or stamp) - stamp
            at = stamp - self.delay
            if waited < self._hold or not self._decided(at, waited):
                break
            sample = self._sample(at, wrench)
            self.wrenches.discard(stamp)
            if sample is None:
                self.unmatched += 1
                continue
            self.joints.discard_before(at)
            self.accelerations.discard_before(at)
            self.matched += 1
            found.append(sample)
        return found

    @property
    def given_up(self) -> int:
        """Wrenches without a joint state, by whatever reason."""
        return self.unmatched + self.wrenches.overflowed

    def _decided(self, stamp: int, waited: int) -> bool:
        """Whether nothing is worth waiting for any more."""
        if self.joints.last is None or self.joints.last < stamp - EXACT:
            return False
        if not self._accelerometer or self.accelerations.last is None:
            return True
        return self.accelerations.last >= stamp - EXACT or waited > self._tolerance

    def _sample(self, stamp: int, wrench: FloatArray | None) -> MatchedSample | None:
        state = _interpolate(self.joints, stamp, self._tolerance)
        if state is None or wrench is None:
            return None
        acceleration = _interpolate(self.accelerations, stamp, self._tolerance) if self._accelerometer else None
        q, dq = state
        if q is None:
            return None
        return MatchedSample(stamp, q, dq, wrench, acceleration[0] if acceleration is not None else None)


def _interpolate(buffer: StampedBuffer, stamp: int, tolerance: int) -> Values | None:
    """The values at an instant, or None if there is no message near enough on both sides of it."""
    before, after = buffer.around(stamp)
    for near in (before, after):
        if near is not None and abs(near[0] - stamp) <= EXACT:
            return near[1]
    if before is None or after is None or stamp - before[0] > tolerance or after[0] - stamp > tolerance:
        return None
    span = (after[0] - before[0]) * 1e-9
    s = (stamp - before[0]) * 1e-9 / span
    first, last = before[1], after[1]
    blended = tuple(None if a is None or b is None else a + s * (b - a) for a, b in zip(first, last, strict=True))
    curved = _cubic(first, last, s, span) if len(first) == 2 else None
    return blended if curved is None else (curved, blended[1])


def _cubic(first: Values, last: Values, s: float, span: float) -> FloatArray | None:
    """The position at the share s of the way, on the cubic through positions and velocities of both ends."""
    (q0, v0), (q1, v1) = first, last
    if q0 is None or v0 is None or q1 is None or v1 is None:
        return None
    step = (s * s * (3.0 - 2.0 * s)) * (q1 - q0)
    bend = span * s * (1.0 - s) * ((1.0 - s) * v0 - s * v1)
    return np.asarray(q0 + step + bend)

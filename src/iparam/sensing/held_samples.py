"""`without_repeats`: a wrench without the samples that only repeat the one before, as a log has them that is faster
than its sensor; `frozen_stretches`: angles that stand still in a log while the arm moves.

What is held is a late copy of an old reading: on average the wrench lags behind by half a period of the sensor, and in
between it stands still, which no load does. The new readings alone say all that was measured, at the time when they
came.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from iparam.motion.motion import MotionEstimate
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark

HELD = 0.3
"""Share of the samples during motion that repeat the one before, from which on they count as held: a few lost readings
are as good as none."""

TOGETHER = 0.8
"""Share of the working channels that change when any does: held ones all at once, rounded ones each in its own time."""

LEAST = 10
"""New readings below which a sensor is not slow, but stuck."""

MOVING = 0.05
"""Speed of a joint, or of a sensor without an arm, above which a load's wrench has to change [rad/s]."""

FROZEN = 0.3
"""Time for which an angle must stand still [s]."""

MOVED = 0.02
"""Way of another joint meanwhile that tells a frozen angle from an arm at rest [rad]."""


def without_repeats(wrench: Signal, motion: MotionEstimate) -> tuple[Signal, tuple[Remark, ...]]:
    """The readings that are new, and a remark about the others; the same signal where next to all are.

    Args:
        wrench: as it was logged.
        motion: of the arm, or of the sensor.
    """
    changed = np.diff(wrench.values, axis=0) != 0.0
    new = np.concatenate([[True], changed.any(axis=1)])
    speed = np.abs(motion.dq).max(axis=1)
    moving = np.interp(wrench.time, motion.time, speed, left=0.0, right=0.0) > MOVING
    held = moving & ~new
    if not held.any() or np.count_nonzero(held) < HELD * float(np.count_nonzero(moving)):
        return wrench, ()
    working = changed.any(axis=0)
    if np.count_nonzero(new) < LEAST or changed[new[1:]][:, working].mean() < TOGETHER:
        return wrench, ()
    kept = dataclasses.replace(wrench, time=wrench.time[new], values=wrench.values[new])
    said = remark("wrench-repeats", new=kept.num_samples, samples=wrench.num_samples, rate=kept.rate)
    return kept, (said,)


def frozen_stretches(angles: Signal) -> list[tuple[int, float, float]]:
    """The joints that stand still to the last digit while others move, each from when to when [s], once at most."""
    values, time, found = angles.values, angles.time, []
    for joint in range(angles.width):
        edges = np.concatenate([[0], np.flatnonzero(np.diff(values[:, joint]) != 0.0) + 1, [len(values)]])
        longest = int(np.argmax(np.diff(edges)))
        first, last = int(edges[longest]), int(edges[longest + 1]) - 1
        others = np.delete(values[first : last + 1], joint, axis=1)
        if time[last] - time[first] > FROZEN and others.size and float(np.ptp(others, axis=0).max()) > MOVED:
            found.append((joint, float(time[first]), float(time[last])))
    return found

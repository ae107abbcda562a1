"""`observe_silence`: how long an arm may be unwatched in a run, from how late its data come right before it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from iparam.bridges.ur.record.recorder import ArmRecorder
from iparam.bridges.ur.run.dead_mans_switch import now
from iparam.bridges.ur.run.run_guard import LONGEST_SILENCE, SHORTEST_SILENCE, RunStoppedError

OBSERVED = 5.0
"""Time for which the stream is looked at [s]."""

GROWTH = 10.0
"""Largest gap in the 12 s of a run by the largest in the `OBSERVED` time before it. Measured on two cores: at most 5.3
in 73 cases with six processes that always compute, and up to 10.8 in nine of ten cases with bursts of 17 processes."""

_LOOK = 0.004  # s between two looks, as the guard looks


@dataclass(frozen=True)
class ObservedSilence:
    """What was seen, and what follows.

    Attributes:
        largest_gap: longest time without data, or without a look at them [s]; 0 with simulated time, which waits.
        limit: silence after which the arm is to be stopped [s].
    """

    largest_gap: float
    limit: float


def longest_silence(stopping_distance: float, speed: float) -> float:
    """The silence in which a tool at ``speed`` [m/s] goes as far as it may while it is stopped [m]; see `SafetyLimits`.

    An arm that nobody watches goes on along its path: in the time until that is noticed, no further than the safety of
    its cell has to count with in any case.
    """
    return min(LONGEST_SILENCE, stopping_distance / max(speed, 1e-9))


def observe_silence(recorder: ArmRecorder, longest: float) -> ObservedSilence:
    """Look at the stream of an arm at rest for a while.

    Args:
        recorder: running.
        longest: silence that may be allowed at most [s]; see `longest_silence`.

    Raises:
        RunStoppedError: the data are late by that much even now.
    """
    if recorder.simulated_time is not None:
        return ObservedSilence(0.0, min(SHORTEST_SILENCE, longest))
    begin = last = now()
    largest = 0.0
    while last - begin < OBSERVED:
        time.sleep(_LOOK)
        at = now()
        largest = max(largest, at - last, recorder.silence)
        last = at
    if largest >= longest:
        raise RunStoppedError(
            f"the controller's data are up to {1e3 * largest:.0f} ms late before anything moves, and the arm may be "
            f"unwatched for {1e3 * longest:.0f} ms at most: give this computer less to do, play slower, "
            "or state a limit",
            argument="max_silence",
        )
    return ObservedSilence(largest, min(max(SHORTEST_SILENCE, GROWTH * largest), longest))

"""`find_rests`: the times of a recording at which the arm stood still."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray, frozen
from iparam.recording.signal import Signal

LEAST_REST = 0.3
"""Shortest time of standing still that counts as a rest [s]."""

SETTLING = 0.3
"""What is dropped from the start of a rest, where vibration settles, but not more than half of the rest [s]."""

LEAVING = 0.1
"""What is dropped from the end of a rest, where the next move begins, but not more than a sixth of the rest [s]."""

STILL = 0.002
"""Joint velocity up to which an arm is at rest, unless the noise of its angles is larger [rad/s]."""

BATCHES = 8
"""Parts of a rest whose scatter tells how well its mean is known, with correlated noise too."""

_WINDOW = 0.05  # over which angles are averaged before they are compared [s]


@dataclass(frozen=True, eq=False)
class Rest:
    """A time at which the arm stood still.

    Attributes:
        start, stop: what is averaged, without the settling [s].
        q: (n,) mean joint angles [rad].
        wrench: (6,) mean [force, torque] [N, N m].
        variance: (6,) of the mean wrench, from the scatter within the rest.
        samples: of the wrench.
    """

    start: float
    stop: float
    q: FloatArray
    wrench: FloatArray
    variance: FloatArray
    samples: int


def find_rests(angles: Signal, wrench: Signal) -> tuple[Rest, ...]:
    """The times at which all joints stand still, averaged.

    Args:
        angles: (T, n) joint angles [rad].
        wrench: (S, 6) [N, N m].
    """
    found = []
    for start, stop in _still_intervals(angles):
        first = start + min(SETTLING, 0.5 * (stop - start))
        last = stop - min(LEAVING, (stop - start) / 6.0)
        q, y = angles.slice(first, last), wrench.slice(first, last)
        if q is None or y is None or y.num_samples < BATCHES:
            continue
        parts = np.array([part.mean(axis=0) for part in np.array_split(y.values, BATCHES)])
        found.append(
            Rest(
                first,
                last,
                frozen(q.values.mean(axis=0)),
                frozen(y.values.mean(axis=0)),
                frozen(parts.var(axis=0, ddof=1) / BATCHES),
                y.num_samples,
            )
        )
    return tuple(found)


def _still_intervals(angles: Signal) -> list[tuple[float, float]]:
    """Start and end [s] of every time of at least `LEAST_REST` in which no joint moves."""
    time, q = angles.time, angles.values
    if time.size < 3 or time[-1] - time[0] < LEAST_REST:
        return []
    steps, end = np.diff(time), float(time[-1])
    period = float(np.median(steps))
    window = max(_WINDOW, 4.0 * period)
    # Velocities between the means before and after an instant; the ends of a recording have one side only.
    middle = np.clip(time, time[0] + window, max(time[-1] - window, time[0] + window))
    integral = np.vstack([np.zeros(q.shape[1]), np.cumsum(0.5 * (q[1:] + q[:-1]) * steps[:, None], axis=0)])
    before, here, after = (
        np.column_stack([np.interp(middle + shift, time, column) for column in integral.T])
        for shift in (-window, 0.0, window)
    )
    velocity = np.abs(after - 2.0 * here + before) / window / window
    noise = _angle_noise(q, max(3, round(LEAST_REST / period)))
    threshold = np.maximum(STILL, 6.0 * noise * np.sqrt(2.0 * period / window) / window)
    still = (velocity <= threshold).all(axis=1)
    gap = steps > max(5.0 * period, 0.1)
    edges = np.flatnonzero((still[1:] != still[:-1]) | gap) + 1
    runs = zip([0, *edges.tolist()], [*edges.tolist(), time.size], strict=True)
    spans = []
    for first, last in runs:
        # An instant is still if the window before it and the one after it agree: both belong to the rest.
        start, stop = (max(float(time[first]) - window, float(time[0])), min(float(time[last - 1]) + window, end))
        if still[first] and stop - start >= LEAST_REST:
            spans.append((start, stop))
    return spans


def _angle_noise(q: FloatArray, length: int) -> FloatArray:
    """(n,) noise of the angles where they are quietest: second differences of stretches of ``length`` samples."""
    second = np.diff(q, 2, axis=0)
    stretches = np.array_split(second, max(1, len(second) // length))
    levels = np.array([np.sqrt(np.mean(part**2, axis=0) / 6.0) for part in stretches])
    quiet: FloatArray = np.quantile(levels, 0.1, axis=0)
    return quiet

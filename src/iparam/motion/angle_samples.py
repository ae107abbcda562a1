"""Which samples of the joint angles were taken, and when: logs repeat samples, and stamp them late.

A sensor slower than the log leaves rows that repeat the angles of the one before, and a logger that waits for its turn
stamps rows late by what it waited. Both are seen in the angles themselves: an arm that moves does not stand still for a
row, and samples that were taken evenly lie on a smoother curve over an even clock than over the stamps.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.motion.joint_process import JointProcess, smooth_joint
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.remarks import Remark, remark

PROVEN = 1.5
"""Steps of the resolution that an angle must have moved in a row for its repetition to be no rounding."""

LEAST_STEP = 1e-6
"""Resolution that any sensor of an angle has [rad or m]: an arm that moves less in a row may as well stand still."""

HELD = 0.25
"""Share of the rows in which a joint moves that must repeat its angle for it to have a slower sensor of its own: noise
of a few steps of the resolution repeats an angle by chance, in less than a fifth of them."""

UNEVEN = 0.001
"""Scatter of the stamps about an even clock, as a share of the period, below which nobody needs to ask: filtered angles
are so smooth that a hundredth of a period, at the speed of the joint, is a thousand times their error."""

CLOCK = 0.2
"""How fast a clock's rate may change [Hz]: what scatters faster is jitter."""

STEADY = 1.02
"""Scatter of the stamps about a steady clock, in that about one whose rate varies, up to which it counts as steady."""

JUMP = 5.0
"""Periods from which on a step of the clock is a jump of it, or a gap."""

BETTER = 0.8
"""Share of the variance about a smooth curve that must be left for an even clock to be believed."""

_STRETCH = 2500  # samples that stamps are judged on
_BANDWIDTHS = (3.0, 6.0, 12.0)  # Hz
_ORDER = 4
_JOINTS = 3  # those that move most
_FOLLOW = 0.05  # share of a stamp's error that a clock takes over
_AROUND = 20  # samples before and after a jump of the clock that tell it from a late one
_LEAST = 16  # samples that a joint must have of its own
_WHOLE = 0.01  # of a step by which values may be off whole steps
_ENOUGH = 20_000  # samples that show a resolution
_MOST_LEVELS = 1e9  # steps from the lowest to the highest value: more is arithmetic, not a sensor


def resolution(values: FloatArray) -> FloatArray:
    """(k,) the step of which samples (T, k) are whole multiples, apart from a constant; 0 where there is none."""
    steps = np.zeros(values.shape[1])
    for column, found in enumerate(values[:: max(1, len(values) // _ENOUGH)].T):
        levels = np.unique(found)
        if levels.size < 3:
            continue
        step = float(np.diff(levels).min())
        whole = (levels - levels[0]) / step
        if whole[-1] < _MOST_LEVELS and (np.abs(whole - np.round(whole)) < _WHOLE).all():
            steps[column] = step
    return steps


def fresh_samples(angles: Signal) -> tuple[Signal, tuple[Remark, ...]]:
    """The angles without those that repeat the row before while the arm moves, and remarks that count them.

    Only what is proven goes: where all that an arm moved since the row before may have been lost in rounding, the row
    stays. Where joints are refreshed one after the other, as over a bus, each is read off its own fresh samples at rows
    that are so far apart that all have had one in between.
    """
    whole, said = _fresh_rows(angles)
    each, more = _fresh_joints(whole)
    return each, (*said, *more)


def _fresh_rows(angles: Signal) -> tuple[Signal, tuple[Remark, ...]]:
    """The angles without rows in which all joints repeat the row before, and a remark that counts them."""
    values = angles.values
    same = (values[1:] == values[:-1]).all(axis=1)
    if not same.any():
        return angles, ()
    fresh = np.flatnonzero(np.concatenate([[True], ~same]))
    rows = np.diff(fresh)
    # Change a row from one fresh sample to the next: a row in between that really was taken would have moved by it.
    moved = np.abs(np.diff(values[fresh], axis=0)) / rows[:, None]
    proven = (moved > PROVEN * np.maximum(resolution(values), LEAST_STEP)).any(axis=1) & (rows > 1)
    if not proven.any():
        return angles, ()
    # What follows the last fresh sample is held like the rest, or an arm that has stopped.
    left = len(values) - int(fresh[-1])
    stale = np.repeat(np.append(proven, 1 < left <= int(rows[proven].max())), np.append(rows, left))
    stale[fresh] = False
    kept = np.flatnonzero(~stale)
    said = remark("rows-repeat-angles", count=len(values) - kept.size, rows=len(values))
    return dataclasses.replace(angles, time=angles.time[kept], values=values[kept]), (said,)


def _fresh_joints(angles: Signal) -> tuple[Signal, tuple[Remark, ...]]:
    """The angles at rows between which every joint was sampled anew, and a remark where that is not every row.

    Each joint is interpolated between its own fresh samples, about as many as there are rows: their errors stay what
    they were, next to independent of each other.
    """
    values, count = angles.values, angles.num_samples
    if not (values[1:] == values[:-1]).any():
        return angles, ()
    own = [_own_samples(column, step) for column, step in zip(values.T, resolution(values), strict=True)]
    held = [str(joint) for joint, rows in enumerate(own, start=1) if rows.size < count]
    first, last = max(int(rows[0]) for rows in own), min(int(rows[-1]) for rows in own)
    if not held or min(rows.size for rows in own) < _LEAST or last - first < _LEAST:
        return angles, ()
    following = np.zeros(count, dtype=np.int64)  # the row by which all joints were sampled again
    for rows in own:
        following = np.maximum(following, np.append(rows, count)[np.searchsorted(rows, np.arange(count), "right")])
    steps, row = following.tolist(), first
    kept = []
    while row <= last:
        kept.append(row)
        row = steps[row]
    if len(kept) < _LEAST:
        return angles, ()
    from scipy.interpolate import make_interp_spline  # takes longer to load than an identification

    at = angles.time[kept]
    found = np.column_stack(
        [
            column[kept] if rows.size == count else make_interp_spline(angles.time[rows], column[rows], k=5)(at)
            for column, rows in zip(values.T, own, strict=True)
        ]
    )
    said = remark("joints-repeat-angles", joints=", ".join(held), used=len(kept), rows=count)
    return dataclasses.replace(angles, time=at, values=found), (said,)


def _own_samples(angle: FloatArray, step: float) -> NDArray[np.int64]:
    """The rows in which one joint's angles (T,), with that resolution, count as fresh: all, or some if proven."""
    rows = np.flatnonzero(np.concatenate([[True], np.diff(angle) != 0.0]))
    lasted = np.diff(rows)
    moving = np.abs(np.diff(angle[rows])) > PROVEN * max(step, LEAST_STEP) * lasted
    held = moving & (lasted > 1)
    if not held.any() or (lasted[held] - 1).sum() < HELD * lasted[moving].sum():
        return np.arange(angle.size)
    # What is not proven repeats because the joint is slow, or rests; but no faster than it is refreshed elsewhere.
    period = int(np.median(lasted[held]))
    lengths = np.append(lasted, angle.size - rows[-1])
    age = np.arange(angle.size) - np.repeat(rows, lengths)
    fresh = (age == 0) | (~np.repeat(np.append(held, False), lengths) & (age % period == 0))
    fresh[0] = not moving[0]  # since when the first angle is held, nobody knows
    return np.flatnonzero(fresh)


def evenly_stamped(recording: Recording) -> tuple[Recording, tuple[Remark, ...]]:
    """The recording with stamps on an even clock where the joint angles show that rows were taken evenly.

    All signals with the stamps of the angles get the same new ones. Where the angles lie on a smoother curve over the
    stamps as they are, or as smooth a one, these stay. A clock that was set forward while the arm moved on is put back,
    unless other signals have stamps of their own.
    """
    if not recording.has("q") or recording.signal("q").num_samples < 100:
        return recording, ()
    angles = recording.signal("q")
    stamps = angles.time
    steps = np.diff(stamps)
    if float(np.std(steps)) < UNEVEN * float(np.median(steps)):
        return recording, ()
    period = float(np.median(steps))
    kept = np.isin(stamps, fresh_samples(angles)[0].time, assume_unique=True)
    judged = _most_moving(angles.values, kept)
    best, least = stamps, _roughness(stamps[judged], angles.values[judged]) + math.log(BETTER)
    together = all(np.array_equal(signal.time, stamps) for signal in recording.signals.values())
    for index, clock in _numberings(angles, together):
        even = _clock(index, clock)
        if (np.diff(even) <= 0.0).any():
            continue
        score = _roughness(even[judged], angles.values[judged])
        if score < least:  # what comes next is less simple, and must be clearly better in turn
            best, least = even, score + math.log(BETTER)
    ahead = float(stamps[-1] - stamps[0] - best[-1] + best[0])
    scatter = float(np.std(stamps - best))
    if scatter < UNEVEN * period:
        return recording, ()
    said = (
        remark("clock-jumps", seconds=ahead)
        if ahead > JUMP * period
        else remark("stamps-scatter", milliseconds=1e3 * scatter)
    )
    signals = {
        name: dataclasses.replace(signal, time=best) if np.array_equal(signal.time, stamps) else signal
        for name, signal in recording.signals.items()
    }
    return dataclasses.replace(recording, signals=signals), (said,)


def _numberings(angles: Signal, together: bool) -> list[tuple[FloatArray, FloatArray]]:
    """The numbers (T,) that rows may have, and their stamps then: none missing; or some missing, where stamps are far
    from the next row's.

    Args:
        angles: of the joints.
        together: whether nothing else would be left behind, were the clock put back.
    """
    stamps = angles.time
    plain = np.arange(float(stamps.size))
    steps = np.diff(stamps)
    period = float(np.median(steps))
    if (steps < 1.5 * period).all():
        return [(plain, stamps)]
    missing = (_tracked(stamps), stamps)
    long = np.flatnonzero(steps > JUMP * period)
    jumps = np.array([k for k in long.tolist() if _stays_ahead(stamps, k)], dtype=np.int64)
    if not jumps.size:
        return [(plain, stamps), missing]
    if not together or not _go_on(angles.values, jumps):
        return [missing]
    # Where none is missing, so long a step is the clock's: an even one through it would be too slow everywhere.
    steps[jumps] = period
    return [(plain, stamps[0] + np.concatenate([[0.0], np.cumsum(steps)])), missing]


def _stays_ahead(stamps: FloatArray, last: int) -> bool:
    """Whether a clock stays ahead after the sample ``last`` and a long step; a late stamp is followed by short ones."""
    before, after = stamps[max(last + 1 - _AROUND, 0) : last + 1], stamps[last + 1 : last + 1 + _AROUND]
    rate = (np.ptp(before) + np.ptp(after)) / max(before.size + after.size - 2, 1)
    detrended = np.concatenate([before, after]) - rate * np.arange(before.size + after.size)
    return bool(np.median(detrended[before.size :]) - np.median(detrended[: before.size]) > JUMP * rate)


def _go_on(q: FloatArray, jumps: NDArray[np.int64]) -> bool:
    """Whether angles (T, n) change after the samples ``jumps`` (k,) by no more than before and after that."""
    changes = np.abs(np.diff(q, axis=0))
    usual = np.median(np.abs(np.diff(q, n=2, axis=0)), axis=0)
    before, after = changes[np.maximum(jumps - 1, 0)], changes[np.minimum(jumps + 1, len(changes) - 1)]
    return bool((changes[jumps] <= 2.0 * np.maximum(before, after) + 5.0 * usual).all())


def _tracked(stamps: FloatArray) -> FloatArray:
    """The numbers (T,) of rows on a clock that follows the stamps slowly, each the one nearest to its stamp."""
    period, clock = float(np.median(np.diff(stamps))), float(stamps[0])
    numbers = [0]
    for stamp in stamps[1:].tolist():
        ahead = round((stamp - clock) / period)
        if ahead < 1 < numbers[-1] - numbers[max(len(numbers) - 2, 0)]:
            # The row before was so late that it was taken for the next one.
            numbers[-1] -= 1
            clock -= period
            ahead += 1
        ahead = max(ahead, 1)
        late = stamp - clock - ahead * period
        clock += ahead * period + _FOLLOW * late
        period += 0.25 * _FOLLOW**2 * late / ahead
        numbers.append(numbers[-1] + ahead)
    return np.array(numbers, dtype=np.float64)


def _clock(index: FloatArray, stamps: FloatArray) -> FloatArray:
    """The stamps (T,) as a function of the rows' numbers (T,): a steady clock, or one whose rate varies slowly."""
    rate, start = np.polyfit(index - index.mean(), stamps - stamps[0], 1)
    steady = stamps[0] + start + rate * (index - index.mean())
    wander = smooth_joint(index, stamps - steady, JointProcess(3, CLOCK * rate, 1.0), depth=1).means[:, 0]
    varies = np.std(stamps - steady) > STEADY * np.std(stamps - steady - wander)
    return np.asarray(steady + wander if varies else steady)


def _most_moving(q: FloatArray, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The kept rows of the stretch with the most motion."""
    rows = np.flatnonzero(kept)
    if rows.size <= _STRETCH:
        return rows
    way = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(q[rows], axis=0)).sum(axis=1))])
    start = int(np.argmax(way[_STRETCH:] - way[:-_STRETCH]))
    return np.asarray(rows[start : start + _STRETCH])


def _roughness(time: FloatArray, q: FloatArray) -> float:
    """How badly smooth curves fit: mean logarithm over the joints of the variance that cross-validation finds."""
    scores = []
    way = np.abs(np.diff(q, axis=0)).sum(axis=0)
    for angle in np.ascontiguousarray(q.T[np.argsort(-way)[:_JOINTS]]):
        each = []
        for bandwidth in _BANDWIDTHS:
            smoothed = smooth_joint(time, angle, JointProcess(_ORDER, bandwidth, 1.0), depth=1, exact=False)
            residual = angle - smoothed.means[:, 0]
            freedom = max(angle.size - float(smoothed.covariances.sum()), 1.0)
            each.append(math.log((float(residual @ residual) + 1e-300) * angle.size / freedom**2))
        scores.append(min(each))
    return float(np.mean(scores))

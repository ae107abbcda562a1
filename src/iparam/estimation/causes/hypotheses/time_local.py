"""Hypotheses about what happens at a time: a contact, a load that changes, a bias that jumps."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis
from iparam.estimation.payload.regular import REGULAR
from iparam.recording.channels import CHANNELS
from iparam.rounding import significant
from iparam.sensing.correction import Correction
from iparam.sensing.saturation import clipped_samples

NAMES = CHANNELS["wrench"].columns

EDGE = 0.04
"""Share of a run, at either end, in which a change cannot be told."""

CANDIDATES = 150
"""Times at which a change is looked for first."""

MEDIAN_OF_SIX = 5.348
"""Median of the squares of six independent channels."""

LOUD = 3.0
"""Squares of a sample, in those of the others, from which on something may have been there."""

LONGEST_CONTACT = 0.45
"""Share of a run that a contact may last for."""

MOST_CONTACTS = 3
MARGIN = 0.05
"""Time that is left out before and after a contact [s]."""

LEAST_STUCK = 50
"""Samples in a row with the same value from which on a channel is stuck."""


class Change(Hypothesis):
    """From some time on the load is another one, or the sensor's bias is."""

    def __init__(self, slug: str) -> None:
        self.slug = slug  # type: ignore[misc]

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        load = self.slug == "load-changed"
        if not (load or run.bias):
            return
        columns = run.A if load else np.broadcast_to(np.eye(6), (len(run.time), 6, 6))
        at = _best_change(run, columns)
        if at is None:
            return
        after = (np.arange(len(run.time)) >= at)[:, None, None]
        fit = linear_fit(run, columns=columns * after)
        when = 0.5 * float(run.time[at - 1] + run.time[at])
        if not load:
            jump = float(np.linalg.norm(fit.parameters[:3]))
            finding = f"A bias that jumps by {significant(jump, 3)} N at {when:.2f} s"
            yield Explanation(self.slug, finding, fit, 7, Correction(rezeroed=(round(when, 3),)))
            return
        before, change = float(fit.phi[0]), float(fit.parameters[0])
        finding = (
            f"A load that changes at {when:.2f} s, its mass from {significant(before, 4)} to "
            f"{significant(before + change, 4)} kg,"
        )
        first, last = float(run.time[0]), float(run.time[-1])
        longer = when - first > last - when
        rest = (round(when, 3), round(last + 1.0, 3)) if longer else (round(first - 1.0, 3), round(when, 3))
        if not longer:  # the load that is left where the earlier part is left out
            fit = dataclasses.replace(fit, phi=fit.phi + fit.parameters)
        yield Explanation(self.slug, finding, fit, 11, Correction(exclude=(rest,)))


def _best_change(run: ExaminedRun, columns: FloatArray) -> int | None:
    """The mean from which on further columns (N, 6, k) explain most beside load and bias."""
    count = len(run.time)
    parts = [run.A, np.broadcast_to(np.eye(6), (count, 6, 6))] if run.bias else [run.A]
    whole = np.concatenate([*parts, columns], axis=2) / run.noise[:, None]
    target = run.y / run.noise
    p, k = whole.shape[2] - columns.shape[2], columns.shape[2]
    grams = np.einsum("nci,ncj->nij", whole, whole, optimize=True)
    rights = np.einsum("nci,nc->ni", whole, target)
    later, right = (np.cumsum(values[::-1], axis=0)[::-1] for values in (grams, rights))
    scale = 1.0 / np.sqrt(np.maximum(np.diag(later[0]), 1e-300))
    first, last = int(EDGE * count) + 2, count - int(EDGE * count) - 2
    if last <= first:
        return None
    step = max(1, (last - first) // CANDIDATES)

    def gains(at: NDArray[np.int64]) -> FloatArray:
        gram = np.broadcast_to(later[0], (at.size, p + k, p + k)).copy()
        gram[:, :p, p:], gram[:, p:, :p] = later[at][:, :p, p:], later[at][:, p:, :p]
        gram[:, p:, p:] = later[at][:, p:, p:]
        side = np.broadcast_to(right[0], (at.size, p + k)).copy()
        side[:, p:] = right[at][:, p:]
        side *= scale
        gram = gram * np.outer(scale, scale) + REGULAR * np.eye(p + k)
        return np.asarray(np.sum(side * np.linalg.solve(gram, side[..., None])[..., 0], axis=1))

    coarse = np.arange(first, last, step)
    best = int(coarse[np.argmax(gains(coarse))])
    near = np.arange(max(first, best - step), min(last, best + step + 1))
    return int(near[np.argmax(gains(near))])


def robust_weights(run: ExaminedRun, rounds: int = 6) -> tuple[FloatArray, FloatArray]:
    """Shares (N,) that means count with so that a few loud stretches do not matter, and their squares (N,), in those of
    the rest: 6 if they are like it.
    """
    used = np.ones(len(run.time))
    squares = np.full(len(run.time), 6.0)
    window = np.ones(5) / 5.0
    for _ in range(rounds):
        fit = linear_fit(run, used=used[:, None], possible=False)
        squares = np.sum((fit.residual / run.noise) ** 2, axis=1)
        squares = 6.0 * squares / max(float(np.median(squares)) / MEDIAN_OF_SIX * 6.0, 6.0 * 1e-9)
        smooth = np.convolve(np.pad(squares, 2, mode="edge"), window, mode="valid")
        used = np.minimum(1.0, (2.0 * 6.0 / np.maximum(smooth, 1e-12)) ** 2)
    return used, squares


class Contact(Hypothesis):
    """For some time, something touched the load."""

    slug = "contact"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        _, squares = robust_weights(run)
        left_out = np.zeros(len(run.time), dtype=bool)
        margin = max(1, round(MARGIN / float(np.median(np.diff(run.time)))))
        intervals: list[tuple[float, float]] = []
        for _ in range(MOST_CONTACTS):
            start, stop = _loudest(np.where(left_out, 0.0, squares - 6.0 * LOUD))
            if stop - start < 2 or float(np.sum(squares[start:stop] - 6.0)) < 60.0:
                break
            start, stop = max(0, start - margin), min(len(run.time), stop + margin)
            left_out[start:stop] = True
            intervals.append((float(run.time[start]), float(run.time[stop - 1])))
        if not intervals or left_out.mean() > LONGEST_CONTACT:
            return
        fit = linear_fit(run, used=(~left_out)[:, None].astype(float))
        ratio = max(float(np.mean(squares[left_out])) / 6.0, 1.0)
        scale = max(fit.squares / max(6.0 * float(np.count_nonzero(~left_out)), 1.0), 1e-12)
        penalty = scale * 6.0 * float(np.count_nonzero(left_out)) * (1.0 + np.log(ratio))
        told = " and ".join(f"{start:.2f} to {stop:.2f} s" for start, stop in sorted(intervals))
        exclude = tuple((round(start, 3), round(stop, 3)) for start, stop in sorted(intervals))
        finding = f"Leaving out what touched the load from {told}"
        yield Explanation(self.slug, finding, fit, 3 * len(intervals), Correction(exclude=exclude), "", penalty)


def _loudest(values: FloatArray) -> tuple[int, int]:
    """The stretch from start to stop with the largest sum."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    lowest = np.minimum.accumulate(sums)
    stop = int(np.argmax(sums - lowest))
    return int(np.argmin(sums[: stop + 1])), stop


class StuckChannel(Hypothesis):
    """A channel shows one and the same value for a part of the run."""

    slug = "channel-dead"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        wrench = run.run.wrench
        stuck = stuck_samples(np.asarray(wrench.values))
        if not stuck.any():
            return
        used = _unused_means(run, stuck)
        fit = linear_fit(run, used=used)
        scale = max(fit.squares / max(float(used.sum()), 1.0), 1e-12)
        names = [name for name, one in zip(NAMES, np.any(stuck, axis=0).tolist(), strict=True) if one]
        whole = [name for name, share in zip(NAMES, stuck.mean(axis=0).tolist(), strict=True) if share > 0.9]
        if whole:
            correction, told = Correction(without=tuple(whole)), f"Leaving out {', '.join(whole)}, which"
        else:
            exclude = _intervals(wrench.time, np.asarray(np.any(stuck, axis=1)))
            start, stop = exclude[0][0], exclude[-1][1]
            correction = Correction(exclude=exclude)
            told = f"Leaving out {start:.2f} to {stop:.2f} s, in which {', '.join(names)}"
        finding = f"{told} {'is' if len(names) == 1 else 'are'} stuck at one value,"
        penalty = scale * float(np.sum(1.0 - used))  # that they are stuck is seen in any case
        yield Explanation(self.slug, finding, fit, len(names), correction, "", penalty, seen=True)


def cut_off(run: ExaminedRun) -> bool:
    """Whether channels are stuck: the signals themselves say so."""
    return bool(stuck_samples(np.asarray(run.run.wrench.values)).any())


def stuck_samples(values: FloatArray) -> NDArray[np.bool_]:
    """(T, 6) whether a channel shows one value for long, away from a limit, and not all of them: that is a rest."""
    stuck = np.stack([_constant(column, LEAST_STUCK) for column in values.T], axis=1)
    return np.asarray(stuck & ~np.all(stuck, axis=1, keepdims=True) & ~clipped_samples(values))


def _constant(values: FloatArray, least: int) -> NDArray[np.bool_]:
    """(T,) whether a sample is one of at least so many in a row that are the same."""
    edges = np.flatnonzero(np.diff(values, prepend=np.nan, append=np.nan) != 0.0)
    lengths = np.diff(edges)
    return np.asarray(np.repeat(lengths >= least, lengths))


def _unused_means(run: ExaminedRun, left_out: NDArray[np.bool_]) -> FloatArray:
    """(N, 6) 0 for the channels of means in which samples (T, 6) of the wrench are left out, 1 elsewhere."""
    used = np.ones_like(run.y)
    times = run.run.wrench.time
    half = 0.5 * float(np.median(np.diff(run.time))) + 1e-9
    for channel in range(6):
        bad = times[left_out[:, channel]]
        count = np.searchsorted(bad, run.time + half, "right") - np.searchsorted(bad, run.time - half)
        used[count > 0, channel] = 0.0
    return used


def _intervals(times: FloatArray, chosen: NDArray[np.bool_], most: int = 8) -> tuple[tuple[float, float], ...]:
    """The intervals of time that hold what was chosen, with those next to each other joined until they are few."""
    at = times[chosen]
    gap, step = 0.02, float(np.median(np.diff(times)))
    while True:
        breaks = np.flatnonzero(np.diff(at) > gap)
        starts, stops = at[np.concatenate([[0], breaks + 1])], at[np.concatenate([breaks, [at.size - 1]])]
        if starts.size <= most:
            return tuple(
                (round(a - step, 4), round(b + step, 4)) for a, b in zip(starts.tolist(), stops.tolist(), strict=True)
            )
        gap *= 2.0

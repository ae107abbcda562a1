"""The hypothesis that the wrench is late by a time that changes: two clocks, a buffer that fills, lost rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, Model, deviations, fit_model, thinned
from iparam.estimation.payload.regular import solve_regular
from iparam.recording.noise_level import white_noise_level
from iparam.rounding import NORMAL_95, significant
from iparam.sensing.correction import Correction

LONGEST = 3.0
"""Delay that is looked for [s]: rows that are lost add up."""

LONGEST_SHARE = 0.25
"""The same as a share of the run."""

AT_FIRST = 0.5
"""Delay of the stretch that first tells the load [s]."""

STRETCH = 0.25
"""Share of the run that first tells the load."""

MEANS = 400
"""Means that the search looks at."""

TOGETHER = 4
"""Of them, that have one delay."""

LOUD = 60.0
"""Squares of a mean, in units of noise, beyond which it tells no more against a delay."""

UNKNOWN = 50.0
"""The same of a mean whose motion was not recorded: less than any other delay is worth that is clearly wrong."""

ROUGH = (0.1, 0.03)
"""Error of the load, as a share of the changes of a channel, in each round of the search."""

STEP, JUMP = 2.0, 25.0
"""What the next step of the grid, and any other delay, costs in the search, in the same units."""

NEAR = 0.3
"""Time in which the place of a jump is looked for, before and after where it was found first [s]."""

UNSURE = 2
"""Means before and after a jump, of which nobody says how late they are."""

ROUNDS = 2
MOST_JUMPS = 6
LEAST_RATE = 2e-4
"""Difference of the rates of two clocks below which they are as good as one: those of quartz are."""

SURE = 2.0
"""Half widths of a 95 % interval beyond which a wrench is believed to fall behind."""

WORTH = 5.0 * LOUD
"""What a jump must explain."""


class LateByTime(Model):
    """A wrench that comes late by a time that changes: W(t) state, with the shapes W (N, k) at the means of a run."""

    def __init__(self, run: ExaminedRun, shapes: FloatArray) -> None:
        from scipy.interpolate import CubicSpline

        self.curve = CubicSpline(run.time, run.A)
        self._slope = self.curve.derivative()
        self._time, self._shapes = run.time, shapes

    def _at(self, run: ExaminedRun, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        shapes = self._shapes[np.searchsorted(self._time, run.time)]
        return shapes, np.clip(run.time - shapes @ state, self._time[0], self._time[-1])

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(self.curve(self._at(run, state)[1]))

    def slopes(self, run: ExaminedRun, state: FloatArray, phi: FloatArray) -> FloatArray:
        """See `Model.slopes`."""
        shapes, times = self._at(run, state)
        return np.asarray(-(self._slope(times) @ phi)[:, :, None] * shapes[:, None, :])


class TwoClocks(Hypothesis):
    """Wrench and angles are stamped by two clocks, or one of them loses rows, or comes late from some time on."""

    slug = "two-clocks"

    def explanations(self, run: ExaminedRun, base: Fit) -> Iterable[Explanation]:
        """See `Hypothesis.explanations`."""
        few = thinned(run, MEANS)
        followed = _followed(few, np.minimum(run.noise, white_noise_level(run.y)))  # jumps are no noise
        if followed is None:
            return
        late, edges = followed
        inside = np.flatnonzero((few.time - late >= run.time[0]) & (few.time - late <= run.time[-1]))
        if inside.size < 0.5 * late.size:  # of the others, nobody knows the motion
            return
        first, last = int(inside[0]), int(inside[-1])
        rows = slice(*np.searchsorted(run.time, few.time[[first, last]]))
        part = run.rows(rows)
        few, late = few.rows(slice(first, last)), late[first:last]
        share = (run.time - part.time[0]) / (part.time[-1] - part.time[0])
        line = np.polynomial.Polynomial.fit(few.time, late, 1)
        model = LateByTime(run, np.column_stack([1.0 - share, share]))
        ends, fit = _fitted(run, rows, model, line(part.time[[0, -1]]))
        span = 1e-3 * float(part.time[-1] - part.time[0])
        gained, half = float(ends[1] - ends[0]) / span, NORMAL_95 * float(deviations(fit).max()) / span
        finding = f"A wrench that falls behind by {gained:.3g} +- {significant(half, 2)} ms in a second (95 %)"
        correction = _correction(run, rows, part.time[[0, -1]], ends)
        if abs(gained) > max(SURE * half, 1e3 * LEAST_RATE):  # else it is late by one and the same time
            yield Explanation(self.slug, finding, fit, 2, correction, "", _left_out(fit))
        edges = edges[(edges > first) & (edges < last)] - first
        if not 0 < edges.size <= MOST_JUMPS:
            return
        found = np.array([np.median(each) for each in np.split(late, edges)])
        when = np.searchsorted(run.time, few.time[edges])
        for _ in range(ROUNDS):
            when = _between(run, found, when)
            shapes = np.eye(edges.size + 1)[np.searchsorted(when, np.arange(len(run.time)), "right")]
            found, fit = _fitted(run, rows, LateByTime(run, shapes), found)
        around = np.clip([when - 1 - UNSURE, when + UNSURE], 0, len(run.time) - 1)
        both = run.time[around.T.ravel()]
        times, values = np.concatenate([part.time[[0]], both, part.time[[-1]]]), np.repeat(found, 2)
        told = ", ".join(f"{1e3 * value:.0f}" for value in found)
        seconds = ", ".join(f"{run.time[index]:.2f}" for index in when)
        finding = f"A wrench that comes {told} ms late, each until {seconds} s and the end,"
        correction = _correction(run, rows, times, values)
        yield Explanation("delay-changes", finding, fit, 2 * edges.size + 1, correction, "", _left_out(fit))


def _correction(run: ExaminedRun, rows: slice, times: FloatArray, late: FloatArray) -> Correction:
    """Delays at times [s]; what is not in those rows of the run, whose motion was not recorded, is left out."""
    whole = np.round(late + run.run.aligned.delay, 5)
    pairs = tuple((float(time), float(each)) for time, each in zip(np.round(times, 4), whole, strict=True))
    first, last = (round(float(run.time[at]), 3) for at in (rows.start, rows.stop - 1))
    before = ((round(float(run.time[0]) - 1.0, 3), first),) if rows.start > UNSURE else ()
    after = ((last, round(float(run.time[-1]) + 1.0, 3)),) if len(run.time) - rows.stop > TOGETHER * UNSURE else ()
    return Correction(delays=pairs, exclude=(*before, *after))


def _between(run: ExaminedRun, late: FloatArray, when: NDArray[np.int64]) -> NDArray[np.int64]:
    """(K,) the means from which on the next of the delays (K + 1,) explains more than the one before, near ``when``."""
    shapes = np.eye(late.size)[np.searchsorted(when, np.arange(len(run.time)), "right")]
    model = LateByTime(run, shapes)
    step = float(np.median(np.diff(run.time)))
    near = np.abs(np.subtract.outer(np.arange(len(run.time)), when)).min(axis=1) * step < NEAR
    fit = linear_fit(run, model.regressors(run, late), used=(~near)[:, None].astype(float), possible=False)
    offset = np.mean(run.y - fit.residual - model.regressors(run, late) @ fit.free_phi, axis=0)
    ends, moved = [0, *when.tolist(), len(run.time)], []
    for which, (before, here, after) in enumerate(zip(ends, ends[1:], ends[2:], strict=False)):
        first = max(here - int(NEAR / step), (before + here) // 2)
        rows = slice(first, min(here + int(NEAR / step), (here + after) // 2) + 1)
        squares = []
        for delay in late[[which, which + 1]]:
            times = np.clip(run.time[rows] - delay, run.time[0], run.time[-1])
            left = run.y[rows] - model.curve(times) @ fit.free_phi - offset
            squares.append(np.sum((left / run.noise) ** 2, axis=1))
        moved.append(first + int(np.argmin(np.append(0.0, np.cumsum(squares[0] - squares[1])))))
    return np.array(moved)


def _fitted(run: ExaminedRun, rows: slice, model: LateByTime, start: FloatArray) -> tuple[FloatArray, Fit]:
    """The best state, and the fit with it to those rows of the run."""
    state, fit = fit_model(run.rows(rows), model, [start])
    used = np.zeros((len(run.time), 1))
    used[rows] = 1.0
    return state, linear_fit(run, model.regressors(run, state), model.slopes(run, state, fit.phi), used)


def _left_out(fit: Fit) -> float:
    """What means that were not fitted count: as those that were."""
    used = float(np.count_nonzero(fit.weights))
    return fit.squares / max(used, 1.0) * (fit.weights.size - used)


def _followed(run: ExaminedRun, level: FloatArray) -> tuple[FloatArray, NDArray[np.int64]] | None:
    """(N,) by how much each mean comes late by the load that a stretch of the run shows [s], and where that jumps; None
    for a short run.

    Args:
        run: of few means.
        level: (6,) noise of a mean.
    """
    count, step = len(run.time), float(np.median(np.diff(run.time)))
    reach = int(min(LONGEST, LONGEST_SHARE * (run.time[-1] - run.time[0])) / step)
    if reach < 2 or count < 8 * TOGETHER:
        return None
    unknowns = _of_a_stretch(run, max(int(AT_FIRST / step), 1))
    for rough in ROUGH:
        squares = np.full((count, 2 * reach + 1), UNKNOWN)
        shown = run.A @ unknowns[:10] + unknowns[10:]
        between = np.gradient(shown, axis=0) / np.sqrt(12.0)  # the grid's error
        noise = np.sqrt(level**2 + (rough * run.y.std(axis=0)) ** 2 + between**2)
        for column, lag in enumerate(range(-reach, reach + 1)):
            rows = np.arange(max(0, lag), min(count, count + lag))
            squares[rows, column] = np.sum(((run.y[rows] - shown[rows - lag]) / noise[rows - lag]) ** 2, axis=1)
        path = _cheapest(np.minimum(squares, LOUD), STEP)
        at = np.clip(np.arange(count) - path, 0, count - 1)
        fit = linear_fit(run, run.A[at], possible=False)
        offset = np.mean(run.y - fit.residual - run.A[at] @ fit.free_phi, axis=0)
        unknowns = np.concatenate([fit.free_phi, offset])
    squares = np.minimum(squares, LOUD)
    return np.asarray(path * step), _jumps(squares, _cheapest(squares, JUMP))


def _of_a_stretch(run: ExaminedRun, reach: int) -> FloatArray:
    """(16,) load and bias by the stretch of the run, and the delay, with the least residual."""
    count = len(run.time)
    length, best, found = int(STRETCH * count), np.inf, np.zeros(16)
    weights = 1.0 / np.maximum(run.noise, ROUGH[-1] * run.y.std(axis=0))
    target = run.y * weights
    for lag in range(-reach, reach + 1):
        rows = np.arange(max(0, lag), min(count, count + lag))
        design = np.concatenate([run.A[rows - lag], np.broadcast_to(np.eye(6), (rows.size, 6, 6))], axis=2)
        design = design * weights[:, None]
        own = target[rows]
        grams = np.einsum("nci,ncj->nij", design, design, optimize=True)
        rights, powers = np.einsum("nci,nc->ni", design, own), np.sum(own**2, axis=1)
        for start in range(0, rows.size - length + 1, max(length // 2, 1)):
            part = slice(start, start + length)
            right = rights[part].sum(axis=0)
            unknowns = solve_regular(grams[part].sum(axis=0), right)
            spread = float(np.sum((own[part] - own[part].mean(axis=0)) ** 2))
            left = float(powers[part].sum() - right @ unknowns) / max(spread, 1e-300)
            if left < best:
                best, found = left, unknowns
    return found


def _cheapest(squares: FloatArray, next_one: float) -> NDArray[np.int64]:
    """(N,) the delays, in steps, that cost least, with what a change to the next one or to any costs; ``squares``
    (N, 2 L + 1).
    """
    blocks = [part.sum(axis=0) for part in np.array_split(squares, len(squares) // TOGETHER)]
    total, came = blocks[0], []
    for block in blocks[1:]:
        anywhere = int(np.argmin(total))
        ways = np.stack(
            [
                total,
                np.append(np.inf, total[:-1]) + next_one,
                np.append(total[1:], np.inf) + next_one,
                np.full_like(total, total[anywhere] + JUMP),
            ]
        )
        best, own = np.argmin(ways, axis=0), np.arange(total.size)
        came.append(np.choose(best, [own, own - 1, own + 1, np.full_like(own, anywhere)]))
        total = ways[best, own] + block
    path = [int(np.argmin(total))]
    for step in reversed(came):
        path.append(int(step[path[-1]]))
    lengths = [len(part) for part in np.array_split(squares, len(squares) // TOGETHER)]
    return np.asarray(np.repeat(np.array(path[::-1]), lengths) - squares.shape[1] // 2, dtype=np.int64)


def _jumps(squares: FloatArray, path: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a path of delays jumps, without jumps that do not explain what they cost."""
    edges = [0, *(np.flatnonzero(np.diff(path)) + 1).tolist(), len(squares)]
    sums = np.cumsum(np.vstack([np.zeros(squares.shape[1]), squares]), axis=0)

    def best(start: int, stop: int) -> float:
        return float((sums[stop] - sums[start]).min())

    while len(edges) > 2:
        worth = [best(a, c) - best(a, b) - best(b, c) for a, b, c in zip(edges, edges[1:], edges[2:], strict=False)]
        least = int(np.argmin(worth))
        if worth[least] > WORTH:
            break
        del edges[least + 1]
    return np.array(edges[1:-1], dtype=np.int64)

"""The hypothesis that the wrench comes late by another time here than there: two clocks, a buffer that fills, lost rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.estimation.causes.examined_run import ExaminedRun
from iparam.estimation.causes.fit import Fit, linear_fit, solve_regular
from iparam.estimation.causes.hypothesis import Explanation, Hypothesis, Model, deviations, fit_model, thinned
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

ROUGH = (0.1, 0.03)
"""Noise, as a share of the changes of a channel, that means at least have in each round of the search."""

STEP, JUMP = 2.0, 25.0
"""What the next step of the grid, and any other delay, costs in the search, in the same units."""

MOST_JUMPS = 6
LEAST_SHARE = 0.03
"""Share of the run that a delay must last for."""


class LateByTime(Model):
    """A wrench that comes late by a time that changes: W(t) state, with the shapes W (N, k) at the means of a run."""

    def __init__(self, run: ExaminedRun, shapes: FloatArray) -> None:
        from scipy.interpolate import CubicSpline

        self._curve = CubicSpline(run.time, run.A)
        self._slope = self._curve.derivative()
        self._time, self._shapes = run.time, shapes

    def _at(self, run: ExaminedRun, state: FloatArray) -> tuple[FloatArray, FloatArray]:
        shapes = self._shapes[np.searchsorted(self._time, run.time)]
        return shapes, np.clip(run.time - shapes @ state, self._time[0], self._time[-1])

    def regressors(self, run: ExaminedRun, state: FloatArray) -> FloatArray:
        """See `Model.regressors`."""
        return np.asarray(self._curve(self._at(run, state)[1]))

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
        late = _followed(few)
        if late is None:
            return
        share = (run.time - run.time[0]) / (run.time[-1] - run.time[0])
        line = np.polynomial.Polynomial.fit(share[np.searchsorted(run.time, few.time)], late, 1, domain=[0, 1], window=[0, 1])
        shapes = np.column_stack([1.0 - share, share])
        ends, fit = fit_model(run, LateByTime(run, shapes), [np.array([line(0.0), line(1.0)])])
        gained = 1e3 * (float(ends[1]) - float(ends[0])) / float(run.time[-1] - run.time[0])
        half = 1e3 * NORMAL_95 * float(deviations(fit).max()) / float(run.time[-1] - run.time[0])
        finding = f"A wrench that falls behind by {gained:.3g} +- {significant(half, 2)} ms in a second (95 %)"
        times = run.time[[0, -1]]
        yield Explanation(self.slug, finding, fit, 2, Correction(delays=self._pairs(run, times, ends)))
        for edges in _jumps(few, late):
            at = np.searchsorted(few.time[edges], run.time, "right")
            shapes = np.eye(len(edges) + 1)[at]
            starts = [np.median(part) for part in np.split(late, edges)]
            found, fit = fit_model(run, LateByTime(run, shapes), [np.array(starts)])
            when = np.searchsorted(run.time, few.time[edges])
            both = np.column_stack([run.time[when - 1], run.time[when]]).ravel()
            times, values = np.concatenate([run.time[[0]], both, run.time[[-1]]]), np.repeat(found, 2)
            told = ", ".join(f"{1e3 * value:.0f}" for value in found)
            seconds = ", ".join(f"{run.time[index]:.2f}" for index in when)
            finding = f"A wrench that comes {told} ms late, each until {seconds} s and the end,"
            correction = Correction(delays=self._pairs(run, times, values))
            yield Explanation("delay-changes", finding, fit, 2 * len(found) - 1, correction)

    @staticmethod
    def _pairs(run: ExaminedRun, times: FloatArray, late: FloatArray) -> tuple[tuple[float, float], ...]:
        whole = late + run.run.aligned.delay
        return tuple((round(float(time), 4), round(float(each), 5)) for time, each in zip(times, whole, strict=True))


def _followed(run: ExaminedRun) -> FloatArray | None:
    """(N,) by how much each mean comes late, by the load that a stretch of the run shows [s]; None for a short run."""
    count, step = len(run.time), float(np.median(np.diff(run.time)))
    reach = int(min(LONGEST, LONGEST_SHARE * (run.time[-1] - run.time[0])) / step)
    if reach < 2 or count < 8 * TOGETHER:
        return None
    unknowns = _of_a_stretch(run, max(int(AT_FIRST / step), 1))
    late = np.zeros(count)
    for rough in ROUGH:
        noise = np.maximum(run.noise, rough * run.y.std(axis=0))
        squares = np.full((count, 2 * reach + 1), 0.5 * LOUD)
        shown = run.A @ unknowns[:10] + unknowns[10:]
        for column, lag in enumerate(range(-reach, reach + 1)):
            rows = np.arange(max(0, lag), min(count, count + lag))
            squares[rows, column] = np.sum(((run.y[rows] - shown[rows - lag]) / noise) ** 2, axis=1)
        path = _cheapest(np.minimum(squares, LOUD))
        at = np.clip(np.arange(count) - path, 0, count - 1)
        fit = linear_fit(run, run.A[at], possible=False)
        offset = np.mean(run.y - fit.residual - run.A[at] @ fit.free_phi, axis=0)
        unknowns, late = np.concatenate([fit.free_phi, offset]), path * step
    return late


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


def _cheapest(squares: FloatArray) -> NDArray[np.int64]:
    """(N,) the delays, in steps, that cost least with what their changes cost; ``squares`` (N, 2 L + 1)."""
    blocks = [part.sum(axis=0) for part in np.array_split(squares, len(squares) // TOGETHER)]
    total, came = blocks[0], []
    for block in blocks[1:]:
        anywhere = int(np.argmin(total))
        ways = np.stack(
            [
                total,
                np.append(np.inf, total[:-1]) + STEP,
                np.append(total[1:], np.inf) + STEP,
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
    return np.repeat(np.array(path[::-1]), lengths) - squares.shape[1] // 2


def _jumps(run: ExaminedRun, late: FloatArray) -> list[NDArray[np.int64]]:
    """Where delays (N,) jump, if at few places; small and short changes are none."""
    step = float(np.median(np.diff(run.time)))
    edges = np.flatnonzero(np.abs(np.diff(late)) > 1.5 * step) + 1
    least = max(int(LEAST_SHARE * len(late)), 2)
    kept: list[int] = []
    for edge in edges.tolist():
        if edge - (kept[-1] if kept else 0) >= least and len(late) - edge >= least:
            kept.append(edge)
    return [np.array(kept)] if 0 < len(kept) <= MOST_JUMPS else []

"""What a table shows over time: steps and drifts of each load, and recordings that differ from the fleet's.

A load is compared by its mass and centre of mass, in units of their scatter from recording to recording: that of
successive differences, which a step or a drift hardly touches, or, of few recordings, what a change leaves; and never
less than the standard deviations. How well the scatter itself is known counts, as in Student's test.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, chdtri, fdtrc

from iparam.arrays import FloatArray
from iparam.fleet.summary import USABLE

COMPARED = ("mass", "center_of_mass_x", "center_of_mass_y", "center_of_mass_z")
BIAS = ("bias_fx", "bias_fy", "bias_fz", "bias_tx", "bias_ty", "bias_tz")
SURE = 1e-4
"""Probability that noise alone shows a change, over all places where it could be."""

FEWEST = 4
"""Recordings from which on a load has a history."""

FAR = 5.0
"""Scatters from the median of the same robot and tool from which on a recording is an outlier."""

LEAST_REST = 2.0
"""Variances, in those of the deviations, that few recordings are taken to scatter by, at least, where it counts how
well that is known: less may come out by chance."""

SHORT = 12
"""Recordings from which on a median of successive differences tells their scatter."""

FREEDOM = 0.5
"""Degrees of freedom a recording that it has then: with these, noise alone shows a change about as often as `SURE`
says."""

_MAD = 1.4826
_RAREST = 1e-300


@dataclass(frozen=True, eq=False)
class Series:
    """The usable recordings of one robot, arm and tool, by time.

    Attributes:
        robot, arm, tool: whose.
        sources: names of the recordings.
        times: when they were recorded [s since 1970].
        values, deviations: (n, 4) of `COMPARED` [kg, m].
        bias: (n, 6) of the sensor [N, N m]; NaN where it was not estimated.
    """

    robot: str
    arm: str
    tool: str
    sources: tuple[str, ...]
    times: FloatArray
    values: FloatArray
    deviations: FloatArray
    bias: FloatArray

    @property
    def label(self) -> str:
        """Robot, arm and tool in one line."""
        return " ".join(part for part in (self.robot, self.arm, self.tool) if part) or "unnamed"

    @property
    def scatter(self) -> FloatArray:
        """(n, 4) of each value from recording to recording, as a standard deviation."""
        return np.hypot(_scatter(self.values), self.deviations)

    @property
    def freedom(self) -> FloatArray:
        """(4,) degrees of freedom of the scatter, after Welch and Satterthwaite: the deviations are known, what is
        found from few recordings is not. One that comes out below the deviations may do so by chance.
        """
        found, known = _scatter(self.values) ** 2, np.median(self.deviations, axis=0) ** 2
        found = np.maximum(found, known)
        share = np.divide(found + known, found, out=np.ones_like(found), where=found > 0.0)
        return np.asarray(_freedom(len(self.times)) * share**2)


@dataclass(frozen=True)
class Change:
    """A step of a load between two recordings, or a drift of it or of the sensor's bias over some.

    Attributes:
        series: whose.
        kind: "step", "drift" or "bias drift".
        first, last: places of the recordings before and after a step, or at both ends of a drift.
        sentence: what changed by how much.
    """

    series: Series
    kind: str
    first: int
    last: int
    sentence: str


@dataclass(frozen=True)
class Outlier:
    """A recording that differs from those of the same robot and tool, and how."""

    source: str
    label: str
    sentence: str


def series_of(rows: Iterable[Mapping[str, Any]]) -> list[Series]:
    """The histories in a table; what is refuted, has an error or no time is left out."""
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["verdict"] in USABLE and row["recorded"] is not None and all(row[name] is not None for name in COMPARED):
            groups.setdefault((row["robot"] or "", row["arm"] or "", row["tool"] or ""), []).append(row)
    found = []
    for key, members in sorted(groups.items()):
        members.sort(key=lambda row: (row["recorded"], row["source"]))
        found.append(
            Series(
                *key,
                tuple(row["source"] for row in members),
                np.array([row["recorded"].timestamp() for row in members]),
                _numbers(members, COMPARED),
                _numbers(members, [f"{name}_deviation" for name in COMPARED]),
                _numbers(members, BIAS),
            )
        )
    return found


def dated_series_of(rows: Iterable[Mapping[str, Any]]) -> list[Series]:
    """The histories of recordings whose time is stated by themselves or by their names.

    That of a file is when it was copied last: recordings in that order would show changes that nothing has made.
    """
    return series_of(row for row in rows if row["recorded_from"] != "store")


def changes_of(series: Series) -> list[Change]:
    """Steps and drifts, by time: each part between two steps is searched for further ones."""
    found: list[Change] = []
    parts = [(0, len(series.times))]
    while parts:
        first, end = parts.pop()
        change = _change(series, first, end)
        if change is None:
            continue
        found.append(change)
        if change.kind == "step":
            parts += [(first, change.last), (change.last, end)]
    found += _bias_drifts(series)
    return sorted(found, key=lambda change: (change.first, change.kind))


def outliers_of(series: Sequence[Series]) -> list[Outlier]:
    """Recordings far from the median of their robot and tool, whichever arm they are of."""
    found = []
    kinds = {(one.robot, one.tool) for one in series}
    for robot, tool in sorted(kinds):
        members = [one for one in series if (one.robot, one.tool) == (robot, tool)]
        values = np.concatenate([one.values for one in members])
        deviations = np.concatenate([one.deviations for one in members])
        sources = [(one, source) for one in members for source in one.sources]
        if len(values) < FEWEST:
            continue
        middle = np.median(values, axis=0)
        scatter = np.hypot(_MAD * np.median(np.abs(values - middle), axis=0), deviations)
        distances = np.abs(values - middle) / scatter
        for place in np.flatnonzero((distances > FAR).any(axis=1)):
            worst = int(np.argmax(distances[place]))
            one, source = sources[place]
            found.append(
                Outlier(
                    source,
                    one.label,
                    f"{_name(worst)} {_shown(worst, values[place, worst])}, the fleet's median is "
                    f"{_shown(worst, middle[worst])}: {distances[place, worst]:.1f} scatters away",
                )
            )
    return found


def _change(series: Series, first: int, end: int) -> Change | None:
    """The change that explains recordings first..end best, if noise alone would not show it."""
    count = end - first
    if count < FEWEST:
        return None
    short = len(series.times) < SHORT
    spread = series.deviations if short else series.scatter
    values, weights, times = series.values[first:end], spread[first:end] ** -2.0, series.times[first:end]
    steps, slopes = _gains_of_steps(values, weights), _gains_of_slope(values, weights, times)
    split = 1 + int(np.argmax(steps.sum(axis=1)))
    is_drift = float(slopes.sum()) >= float(steps[split - 1].sum())
    gains = slopes if is_drift else steps[split - 1]
    if short:
        squares = np.sum(weights * (values - np.average(values, axis=0, weights=weights)) ** 2, axis=0)
        sure = _judged_by_the_rest(gains, squares, count)
    else:
        sure = _as_if_known(gains, series.freedom)
    if chdtrc(values.shape[1], float(sure.sum())) * count > SURE:
        return None
    if is_drift:
        worst = int(np.argmax(slopes))
        change = _fitted_change(values[:, [worst]], weights[:, [worst]], times)
        days = (times[-1] - times[0]) / 86400.0
        sentence = f"{_name(worst)} drifts by {_shown(worst, change, sign=True)} in {days:.3g} days"
        return Change(series, "drift", first, end - 1, sentence)
    place = first + split
    worst = int(np.argmax(steps[split - 1]))
    before, after = (
        float(np.average(values[part, worst], weights=weights[part, worst]))
        for part in (slice(split), slice(split, None))
    )
    when = datetime.datetime.fromtimestamp(series.times[place], datetime.UTC).strftime("%Y-%m-%d %H:%M")
    sentence = (
        f"{_name(worst)} goes from {_shown(worst, before)} to {_shown(worst, after)} "
        f"before {when} UTC: was the tool swapped or changed?"
    )
    return Change(series, "step", place - 1, place, sentence)


def _gains_of_steps(values: FloatArray, weights: FloatArray) -> FloatArray:
    """(n - 1, k) by how much a mean of its own on both sides of each place lowers the weighted squares of (n, k)."""
    centred = values - np.median(values, axis=0)
    weight, moment = np.cumsum(weights, axis=0), np.cumsum(weights * centred, axis=0)
    before, after = weight[:-1], weight[-1] - weight[:-1]
    moved = (moment[-1] - moment[:-1]) / after - moment[:-1] / before
    return np.asarray(moved**2 * before * after / weight[-1])


def _slopes(values: FloatArray, weights: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(k,) of each column over time, and the inverse of its variance; both 0 if no time passes."""
    centred = times[:, None] - (weights * times[:, None]).sum(axis=0) / weights.sum(axis=0)
    size = np.sum(weights * centred**2, axis=0)
    moment = np.sum(weights * centred * (values - np.median(values, axis=0)), axis=0)
    return np.divide(moment, size, out=np.zeros_like(size), where=size > 0.0), size


def _gains_of_slope(values: FloatArray, weights: FloatArray, times: FloatArray) -> FloatArray:
    """(k,) by how much a straight line over time lowers the weighted squares."""
    slope, size = _slopes(values, weights, times)
    return np.asarray(slope**2 * size)


def _fitted_change(values: FloatArray, weights: FloatArray, times: FloatArray) -> float:
    """Of one column (n, 1), from the first to the last."""
    return float(_slopes(values, weights, times)[0][0] * (times[-1] - times[0]))


def _bias_drifts(series: Series) -> list[Change]:
    """Drifts of the sensor's bias, which a step of it (the sensor was zeroed) is not."""
    known = np.isfinite(series.bias).all(axis=1)
    if known.sum() < 2 * FEWEST:
        return []
    values, times = series.bias[known], series.times[known]
    weights = np.broadcast_to(np.maximum(_scatter(values), 1e-9) ** -2.0, values.shape)
    freedom = np.full(len(BIAS), _freedom(len(values)))
    slopes = _as_if_known(_gains_of_slope(values, weights, times), freedom)
    steps = _as_if_known(_gains_of_steps(values, weights), freedom).max(axis=0)
    found = []
    for column, name in enumerate(BIAS):
        if slopes[column] > steps[column] and chdtrc(1, slopes[column]) * len(values) * len(BIAS) < SURE:
            change = _fitted_change(values[:, [column]], weights[:, [column]], times)
            unit = "N" if name[5] == "f" else "N m"
            days = (times[-1] - times[0]) / 86400.0
            sentence = f"the sensor's bias {name[5:]} drifts by {change:+.3g} {unit} in {days:.3g} days"
            found.append(Change(series, "bias drift", 0, len(series.times) - 1, sentence))
    return found


def _freedom(count: int) -> float:
    """Degrees of freedom of the scatter that so many recordings show; half of them lie below a median."""
    return max(FREEDOM * (count - 1), 1.0)


def _as_if_known(gains: FloatArray, freedom: FloatArray) -> FloatArray:
    """(..., k) squares in units of a scatter that was found, as the squares that would be as rare if it were known."""
    rare = fdtrc(1.0, freedom, gains)
    return np.where(rare > _RAREST, chdtri(1.0, np.maximum(rare, _RAREST)), gains)  # which are larger still


def _judged_by_the_rest(gains: FloatArray, squares: FloatArray, count: int) -> FloatArray:
    """(..., k) what changes take off the squares (k,) of so many recordings, in units of what they leave besides the
    deviations, as `_as_if_known`.
    """
    rest = np.maximum(squares - gains, 0.0) / (count - 2)
    found = np.maximum(rest, LEAST_REST)
    return _as_if_known(gains / (1.0 + rest), (count - 2) * ((1.0 + found) / found) ** 2)


def _scatter(values: FloatArray) -> FloatArray:
    """(k,) standard deviation from one row of values (n, k) to the next, by the median: a step does not count."""
    if len(values) < FEWEST:
        return np.zeros(values.shape[1])
    return np.asarray(_MAD * np.median(np.abs(np.diff(values, axis=0)), axis=0) / np.sqrt(2.0))


def _numbers(rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> FloatArray:
    listed = list(names)
    values = [[np.nan if row.get(name) is None else row[name] for name in listed] for row in rows]
    return np.array(values, dtype=np.float64).reshape(len(rows), len(listed))


def _name(column: int) -> str:
    return "the mass" if column == 0 else f"the centre of mass along {'xyz'[column - 1]}"


def _shown(column: int, value: float, *, sign: bool = False) -> str:
    mark = "+" if sign else ""
    return f"{value:{mark}.4g} kg" if column == 0 else f"{1e3 * value:{mark}.4g} mm"

"""What a history shows over time: steps and drifts of a load, and of the sensor's bias.

A load is compared by its mass and centre of mass, in units of their scatter from recording to recording: that of
successive differences, which a step or a drift hardly touches, or, of few recordings, what a change leaves; and never
less than the standard deviations. How well the scatter itself is known counts, as in Student's test: few recordings
tell little of it, and other arms with the same tool tell more, as far as they are alike (moderated variances, after
Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004).
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, chdtri, digamma, fdtrc, polygamma

from iparam.arrays import FloatArray
from iparam.fleet.history import BIAS, COMPARED, FEWEST, Series, fleets_of, name_of, shown

SURE = 1e-4
"""Probability that noise alone shows a change, over all places where it could be."""

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
_NO_REST = 1e-12


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


@dataclass(frozen=True, eq=False)
class OthersScatter:
    """What other arms with the same tool tell about the scatter of an arm.

    Attributes:
        variance: (4,) of `COMPARED`, in units of the deviations' squares.
        freedom: (4,) degrees of freedom: few where the arms are not alike, none where there are no others.
    """

    variance: FloatArray
    freedom: FloatArray


ALONE = OthersScatter(np.ones(len(COMPARED)), np.zeros(len(COMPARED)))


def fleet_changes(series: Sequence[Series]) -> list[Change]:
    """The changes of all histories, each judged with what the others of its robot and tool show."""
    found = []
    for members in fleets_of(series).values():
        for one, others in zip(members, _scatter_of_others(members), strict=True):
            found += changes_of(one, others)
    return found


def changes_of(series: Series, others: OthersScatter = ALONE) -> list[Change]:
    """Steps and drifts, by time: each part between two steps is searched for further ones."""
    found: list[Change] = []
    parts = [(0, len(series.times))]
    while parts:
        first, end = parts.pop()
        change = _change(series, first, end, others)
        if change is None:
            continue
        found.append(change)
        if change.kind == "step":
            parts += [(first, change.last), (change.last, end)]
    found += _bias_drifts(series)
    return sorted(found, key=lambda change: (change.first, change.kind))


def _scatter_of_others(fleet: Sequence[Series]) -> list[OthersScatter]:
    """For each arm what the others show, by what their best change leaves of each history."""
    told = [place for place, one in enumerate(fleet) if len(one.times) >= FEWEST]
    found = [ALONE] * len(fleet)
    if len(told) < 3:  # two others at least, to see whether they are alike
        return found
    rests = np.array([_rest_of(fleet[place]) for place in told])
    half = np.array([len(fleet[place].times) / 2.0 - 1.0 for place in told])[:, None]
    logs = np.log(np.maximum(rests, _NO_REST)) - digamma(half) + np.log(half)
    noise = np.broadcast_to(polygamma(1, half), logs.shape)
    for place in range(len(fleet)):
        others = np.array([other != place for other in told])
        if others.sum() < 2:
            continue
        largest = 1.0 + np.sqrt(2.0 / (others.sum() - 1))  # times the variance found: as unlike as they may be
        unlike = largest * np.var(logs[others], axis=0, ddof=1) - noise[others].mean(axis=0)
        freedom = 2.0 * _inverse_trigamma(unlike)
        variance = np.exp(logs[others].mean(axis=0) + digamma(freedom / 2.0) - np.log(freedom / 2.0))
        found[place] = OthersScatter(variance, np.minimum(freedom, float(others.sum())))
    return found


def _rest_of(series: Series) -> FloatArray:
    """(4,) variance that the best change leaves of a history, in units of the deviations' squares."""
    weights = series.deviations**-2.0
    steps = _gains_of_steps(series.values, weights)
    slopes = _gains_of_slope(series.values, weights, series.times)
    best = steps[int(np.argmax(steps.sum(axis=1)))]
    gains = slopes if float(slopes.sum()) >= float(best.sum()) else best
    return np.maximum(_squares(series.values, weights) - gains, 0.0) / (len(series.times) - 2)


def _squares(values: FloatArray, weights: FloatArray) -> FloatArray:
    """(k,) weighted, around the mean."""
    return np.asarray(np.sum(weights * (values - np.average(values, axis=0, weights=weights)) ** 2, axis=0))


def _inverse_trigamma(value: FloatArray) -> FloatArray:
    """The argument at which the trigamma function has a value: large where that is small, or below 0."""
    low, high = np.full(value.shape, 1e-3), np.full(value.shape, 1e6)
    for _ in range(60):
        middle = np.sqrt(low * high)
        above = polygamma(1, middle) > value
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(low)


def _change(series: Series, first: int, end: int, others: OthersScatter) -> Change | None:
    """The change that explains recordings first..end best, if noise alone would not show it."""
    count = end - first
    if count < FEWEST:
        return None
    short = len(series.times) < SHORT
    combined_deviations = series.deviations if short else np.hypot(_scatter(series.values), series.deviations)
    values, weights, times = series.values[first:end], combined_deviations[first:end] ** -2.0, series.times[first:end]
    steps, slopes = _gains_of_steps(values, weights), _gains_of_slope(values, weights, times)
    split = 1 + int(np.argmax(steps.sum(axis=1)))
    is_drift = float(slopes.sum()) >= float(steps[split - 1].sum())
    gains = slopes if is_drift else steps[split - 1]
    if short:
        sure = _judged_by_the_rest(gains, _squares(values, weights), count, others)
    else:
        sure = _as_if_known(gains, _freedom_of(series))
    if chdtrc(values.shape[1], float(sure.sum())) * count > SURE:
        return None
    if is_drift:
        worst = int(np.argmax(slopes))
        change = _fitted_change(values[:, [worst]], weights[:, [worst]], times)
        days = (times[-1] - times[0]) / 86400.0
        sentence = f"{name_of(worst)} drifts by {shown(worst, change, sign=True)} in {days:.3g} days"
        return Change(series, "drift", first, end - 1, sentence)
    place = first + split
    worst = int(np.argmax(steps[split - 1]))
    before, after = (
        float(np.average(values[part, worst], weights=weights[part, worst]))
        for part in (slice(split), slice(split, None))
    )
    when = datetime.datetime.fromtimestamp(series.times[place], datetime.UTC).strftime("%Y-%m-%d %H:%M")
    sentence = (
        f"{name_of(worst)} goes from {shown(worst, before)} to {shown(worst, after)} "
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


def _freedom_of(series: Series) -> FloatArray:
    """(4,) degrees of freedom of the scatter, after Welch and Satterthwaite: the deviations are known, what is found
    from few recordings is not. One that comes out below the deviations may do so by chance.
    """
    found, known = _scatter(series.values) ** 2, np.median(series.deviations, axis=0) ** 2
    found = np.maximum(found, known)
    share = np.divide(found + known, found, out=np.ones_like(found), where=found > 0.0)
    return np.asarray(_freedom(len(series.times)) * share**2)


def _freedom(count: int) -> float:
    """Degrees of freedom of the scatter that so many recordings show; half of them lie below a median."""
    return max(FREEDOM * (count - 1), 1.0)


def _as_if_known(gains: FloatArray, freedom: FloatArray) -> FloatArray:
    """(..., k) squares in units of a scatter that was found, as the squares that would be as rare if it were known."""
    rare = fdtrc(1.0, freedom, gains)
    return np.where(rare > _RAREST, chdtri(1.0, np.maximum(rare, _RAREST)), gains)  # which are larger still


def _judged_by_the_rest(gains: FloatArray, squares: FloatArray, count: int, others: OthersScatter) -> FloatArray:
    """(k,) what changes take off the squares (k,) of so many recordings, in units of what they and other arms leave
    besides the deviations, as `_as_if_known`.
    """
    freedom = count - 2 + others.freedom
    rest = (np.maximum(squares - gains, 0.0) + others.freedom * others.variance) / freedom
    found = np.maximum(rest, LEAST_REST)
    return _as_if_known(gains / (1.0 + rest), freedom * ((1.0 + found) / found) ** 2)


def _scatter(values: FloatArray) -> FloatArray:
    """(k,) standard deviation from one row of values (n, k) to the next, by the median: a step does not count."""
    if len(values) < FEWEST:
        return np.zeros(values.shape[1])
    return np.asarray(_MAD * np.median(np.abs(np.diff(values, axis=0)), axis=0) / np.sqrt(2.0))

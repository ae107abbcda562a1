"""What a table shows of a fleet: loads over time, where they change, and which recordings differ from the others.

A change is a step or a drift of the mass, of the centre of mass or of the sensor's bias that noise alone would show
in a share `SURE` of histories at most. Each candidate (a part of the history that has a mean of its own, or a straight
line over time) is judged by an F test of what it explains against what it leaves, and the bound is shared among all of
them (Bonferroni); parts are searched again (circular binary segmentation, after Olshen et al., Biostatistics 5, 2004).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc

from iparam.arrays import FloatArray
from iparam.fleet.table import BIAS_NAMES, Row

USABLE = ("good", "usable")
COMPARED = ("mass", "center_of_mass_x", "center_of_mass_y", "center_of_mass_z")
BIAS = tuple(f"bias_{name}" for name in BIAS_NAMES)

SURE = 1e-3
"""Probability that noise alone shows a change in a history."""

FEWEST = 4
"""Recordings from which on there is something to compare: two parameters are fitted, and their scatter."""

FAR = 5.0
"""Scatters from the median from which on a recording is an outlier: noise is so far off once in 1.7 million numbers."""

_MAD = 1.4826  # standard deviations in a median absolute deviation
_EXACT = 1e-12  # deviations of what has none: its scatter is all that counts


@dataclass(frozen=True, eq=False)
class Series:
    """The usable recordings of one robot, arm and tool, by time; those without a time come first.

    Attributes:
        robot, arm, tool: whose.
        sources: names of the recordings.
        times: when they were recorded [s since 1970]; NaN if nothing says so.
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

    def part(self, chosen: NDArray[np.bool_]) -> Series:
        """The recordings where ``chosen`` (n,) is true."""
        sources = tuple(source for source, take in zip(self.sources, chosen, strict=True) if take)
        arrays = (self.times, self.values, self.deviations, self.bias)
        return Series(self.robot, self.arm, self.tool, sources, *(array[chosen] for array in arrays))


@dataclass(frozen=True)
class Finding:
    """A change of a load over time, or a recording that differs from those of the same robot and tool.

    Attributes:
        kind: "step", "drift", "bias drift" or "outlier".
        label: robot, arm and tool.
        sources: the recordings before and after a step, at both ends of a drift, or the one that differs.
        time: between the two of a step [s since 1970]; NaN otherwise.
        sentence: what it is, and how much.
    """

    kind: str
    label: str
    sources: tuple[str, ...]
    time: float
    sentence: str


@dataclass(frozen=True)
class Group:
    """The recordings of one robot, arm and tool; "" where nothing says which.

    Attributes:
        recordings: all of them.
        good, usable, refuted, errors: how many are what.
        mass: median of those that are good or usable [kg]; NaN if none is.
        mass_deviation: median of their standard deviations [kg].
        mass_scatter: from recording to recording, by the median absolute deviation [kg]; NaN for fewer than three.
    """

    robot: str
    arm: str
    tool: str
    recordings: int
    good: int
    usable: int
    refuted: int
    errors: int
    mass: float
    mass_deviation: float
    mass_scatter: float


def groups_of(rows: Iterable[Row]) -> list[Group]:
    """Count the rows of a table by robot, arm and tool."""
    members: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        members.setdefault((row["robot"] or "", row["arm"] or "", row["tool"] or ""), []).append(row)
    found = []
    for key, some in sorted(members.items()):
        counts = Counter(row["verdict"] for row in some)
        pairs = [(row["mass"], row["mass_deviation"]) for row in some if _is_sound(row)]
        masses, deviations = np.array(pairs or [(np.nan, np.nan)], dtype=float).T
        middle = float(np.median(masses))
        scatter = _MAD * float(np.median(np.abs(masses - middle))) if len(pairs) > 2 else np.nan
        verdicts = (counts["good"], counts["usable"], counts["refuted"])
        errors = sum(row["error"] is not None for row in some)
        found.append(Group(*key, len(some), *verdicts, errors, middle, float(np.median(deviations)), scatter))
    return found


def counted_errors(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """Errors from one place in the program, as the first recording has them, most frequent first, with their number."""
    counts: Counter[tuple[str, str]] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for row in rows:
        if row["error"] is not None:
            kind = (row["error_kind"], row["error_place"])
            counts[kind] += 1
            examples.setdefault(kind, f"{row['source']}: {row['error']}")
    return [(examples[kind], count) for kind, count in counts.most_common()]


def series_of(rows: Iterable[Row]) -> list[Series]:
    """The loads in a table; what is refuted, has an error or does not determine them is left out."""
    members: dict[tuple[str, str, str], list[tuple[float, Row]]] = {}
    for row in rows:
        if _is_sound(row):
            when = np.nan if row["recorded"] is None else row["recorded"].timestamp()
            members.setdefault((row["robot"] or "", row["arm"] or "", row["tool"] or ""), []).append((when, row))
    found = []
    for key, some in sorted(members.items()):
        ordered = sorted(some, key=lambda one: (np.nan_to_num(one[0]), one[1]["source"]))
        of_all = [row for _, row in ordered]
        arrays = (
            np.array([[np.nan if row.get(name) is None else row[name] for name in names] for row in of_all])
            for names in (COMPARED, [f"{name}_deviation" for name in COMPARED], BIAS)
        )
        sources = tuple(row["source"] for row in of_all)
        found.append(Series(*key, sources, np.array([when for when, _ in ordered]), *arrays))
    return found


def _is_sound(row: Row) -> bool:
    return row["verdict"] in USABLE and all(row[name] is not None for name in COMPARED)


def changes_of(series: Series) -> list[Finding]:
    """Steps and drifts of a load and of the sensor's bias; recordings without a time are left out.

    A step of the bias is none: the sensor was zeroed.
    """
    one = series.part(np.asarray(np.isfinite(series.times)))
    found = list(_told(one, "", one.values, one.deviations))
    biased = one.part(np.asarray(np.isfinite(one.bias).all(axis=1)))
    drifts = _told(biased, "bias ", biased.bias, np.full(biased.bias.shape, _EXACT))
    return found + [change for change in drifts if change.kind == "bias drift"]


def outliers_of(series: Sequence[Series]) -> list[Finding]:
    """Recordings far from the median of their robot and tool, whichever arm they are of."""
    fleets: dict[tuple[str, str], list[Series]] = {}
    for one in series:
        fleets.setdefault((one.robot, one.tool), []).append(one)
    found = []
    for members in fleets.values():
        values = np.concatenate([one.values for one in members])
        if len(values) < FEWEST:
            continue
        middle = np.median(values, axis=0)
        spread = _MAD * np.median(np.abs(values - middle), axis=0)
        for one in members:
            distances = np.abs(one.values - middle) / np.hypot(spread, one.deviations)
            for place in np.flatnonzero((distances > FAR).any(axis=1)):
                worst = int(np.argmax(distances[place]))
                value, usual = _shown("", worst, one.values[place, worst]), _shown("", worst, middle[worst])
                sentence = f"{_name('', worst)} is {value}, the fleet's median {usual}: {distances[place, worst]:.1f} "
                outlier = Finding("outlier", one.label, (one.sources[place],), np.nan, f"{sentence}scatters away")
                found.append(outlier)
    return found


def _told(one: Series, prefix: str, values: FloatArray, deviations: FloatArray) -> Iterator[Finding]:
    """The changes of values (n, k) with these deviations, in sentences."""
    weights, edges, drifts = deviations**-2.0, [0, len(values)], []
    parts = [(0, len(values))]
    while parts:
        first, end = parts.pop()
        part = slice(first, end)
        change = _best_change(values[part], weights[part], one.times[part])
        if change == "drift":
            drifts.append((first, end))
        elif isinstance(change, list):
            inner = [first, *(first + place for place in change), end]
            edges += inner[1:-1]
            parts += pairwise(inner)
    edges = sorted(edges)
    for before, at, after in zip(edges[:-2], edges[1:-1], edges[2:], strict=True):
        old, new = (np.average(values[a:b], axis=0, weights=weights[a:b]) for a, b in ((before, at), (at, after)))
        variances = 1.0 / weights[before:at].sum(axis=0) + 1.0 / weights[at:after].sum(axis=0)
        worst = int(np.argmax((new - old) ** 2 / (variances + _scatter(values) ** 2)))
        when = datetime.fromtimestamp(one.times[at], UTC).strftime("%Y-%m-%d %H:%M")
        sentence = (
            f"{_name(prefix, worst)} goes from {_shown(prefix, worst, old[worst])} to "
            f"{_shown(prefix, worst, new[worst])} before {when} UTC: was the tool swapped or changed?"
        )
        between = float(one.times[at - 1] + one.times[at]) / 2.0
        yield Finding(f"{prefix}step", one.label, (one.sources[at - 1], one.sources[at]), between, sentence)
    for first, end in sorted(drifts):
        gains, slopes = _slopes(values[first:end], weights[first:end], one.times[first:end])
        worst, span = int(np.argmax(gains)), float(one.times[end - 1] - one.times[first])
        drift = _shown(prefix, worst, slopes[worst] * span)
        sentence = f"{_name(prefix, worst)} drifts by {drift} in {span / 86400.0:.3g} days"
        yield Finding(f"{prefix}drift", one.label, (one.sources[first], one.sources[end - 1]), np.nan, sentence)


def _best_change(values: FloatArray, weights: FloatArray, times: FloatArray) -> Literal["drift"] | list[int] | None:
    """Of values (n, k): "drift", the ends of the part that has another mean, or None if it may all be noise."""
    count, columns = values.shape
    if count < FEWEST:
        return None
    gains, _ = _slopes(values, weights, times)
    centred = values - np.average(values, axis=0, weights=weights)
    squares = np.sum(weights * centred**2, axis=0)

    def ratio(gain: FloatArray) -> FloatArray:  # deviations are the least that values scatter by
        return np.asarray(gain / np.maximum((squares - gain) / (count - 2), 1.0))

    found: Literal["drift"] | list[int] = "drift"
    best = float(ratio(gains).max())
    weight = np.concatenate([np.zeros((1, columns)), np.cumsum(weights, axis=0)])
    moment = np.concatenate([np.zeros((1, columns)), np.cumsum(weights * centred, axis=0)])
    for first in range(1, count):  # a part from 0 on is what one to the end leaves
        inside, within = weight[first + 1 :] - weight[first], moment[first + 1 :] - moment[first]
        ratios = ratio(within**2 * weight[-1] / (inside * (weight[-1] - inside))).max(axis=1)
        end = int(np.argmax(ratios))
        if ratios[end] > best:
            best = float(ratios[end])
            found = [place for place in (first, first + 1 + end) if place < count]
    candidates = columns * (count * (count - 1) // 2 + 1)
    return found if fdtrc(1.0, count - 2.0, best) * candidates < SURE else None


def _slopes(values: FloatArray, weights: FloatArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(k,) by how much a straight line over time lowers the weighted squares of (n, k), and its slope."""
    centred = times[:, None] - np.average(np.broadcast_to(times[:, None], values.shape), axis=0, weights=weights)
    size = np.sum(weights * centred**2, axis=0)
    moment = np.sum(weights * centred * (values - values.mean(axis=0)), axis=0)
    slopes = np.divide(moment, size, out=np.zeros_like(size), where=size > 0.0)
    return slopes**2 * size, slopes


def _scatter(values: FloatArray) -> FloatArray:
    """(k,) standard deviation from one row of values (n, k) to the next, by the median: a step does not count."""
    return np.asarray(_MAD * np.median(np.abs(np.diff(values, axis=0)), axis=0) / np.sqrt(2.0))


def _name(prefix: str, column: int) -> str:
    if prefix:
        return f"the sensor's bias {BIAS_NAMES[column]}"
    return "the mass" if column == 0 else f"the centre of mass along {'xyz'[column - 1]}"


def _shown(prefix: str, column: int, value: float) -> str:
    if prefix:
        return f"{value:.3g} {'N' if column < 3 else 'N m'}"
    return f"{value:.4g} kg" if column == 0 else f"{1e3 * value:.4g} mm"

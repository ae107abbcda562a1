"""The figures of a study with their 95 % confidence intervals: coverage, error against the bound, rates of failure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.rounding import NORMAL_95

FAR = 4.0
"""Standard deviations off from which a result that is called good or usable is wrong."""


@dataclass(frozen=True)
class Figure:
    """A figure and its 95 % confidence interval.

    Attributes:
        scenario: the noise that it holds for.
        name: what of.
        value: the figure.
        low, high: its interval.
        runs: it comes from.
    """

    scenario: str
    name: str
    value: float
    low: float
    high: float
    runs: int

    @property
    def half_width(self) -> float:
        """Of the interval; infinite if nothing is known yet."""
        return 0.5 * (self.high - self.low) if self.runs else math.inf


def proportion(scenario: str, name: str, hits: int, runs: int) -> Figure:
    """A share of runs, with Wilson's interval: it holds for rates near 0 and 1, too."""
    if not runs:
        return Figure(scenario, name, math.nan, 0.0, 1.0, 0)
    share, z2 = hits / runs, NORMAL_95**2
    middle = (share + z2 / (2 * runs)) / (1 + z2 / runs)
    half = NORMAL_95 * math.sqrt(share * (1 - share) / runs + z2 / (4 * runs**2)) / (1 + z2 / runs)
    # At the ends the formula gives 0 and 1 but for rounding.
    low, high = (0.0 if hits == 0 else middle - half), (1.0 if hits == runs else middle + half)
    return Figure(scenario, name, share, low, high, runs)


def mean(scenario: str, name: str, values: FloatArray) -> Figure:
    """A mean over runs, with the interval of their scatter."""
    runs = int(values.size)
    if runs < 2:
        return Figure(scenario, name, float(values.mean()) if runs else math.nan, -math.inf, math.inf, 0)
    middle = math.fsum(values) / runs
    half = NORMAL_95 * math.sqrt(math.fsum((values - middle) ** 2) / (runs - 1) / runs)
    return Figure(scenario, name, middle, middle - half, middle + half, runs)


def root_mean_square(scenario: str, name: str, values: FloatArray) -> Figure:
    """The root of the mean square over runs; the interval is that of the mean square."""
    squares = mean(scenario, name, values**2)
    low, middle, high = (math.sqrt(max(part, 0.0)) for part in (squares.low, squares.value, squares.high))
    return Figure(scenario, name, middle, low, high, squares.runs)


def coverage_figures(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """How often 95 % intervals hold: of each parameter, and of all, which is what a study stops by."""
    found = []
    for scenario, group in _scenarios(rows):
        inside = np.abs(_columns(group, "error")) <= NORMAL_95 * _columns(group, "deviation")
        found.append(mean(scenario, "all ten", inside.mean(axis=1)))
        found += [
            proportion(scenario, name, int(column.sum()), column.size)
            for name, column in zip(DERIVED_NAMES, inside.T, strict=True)
        ]
    return found


def precision_figures(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Root mean square errors in Cramer-Rao bounds: of each parameter, and of all."""
    found = []
    for scenario, group in _scenarios(rows):
        ratios = _columns(group, "error") / _columns(group, "bound")
        ratios = ratios[np.isfinite(ratios).all(axis=1)]
        found.append(root_mean_square(scenario, "all ten", np.sqrt(np.mean(ratios**2, axis=1))))
        found += [
            root_mean_square(scenario, name, column) for name, column in zip(DERIVED_NAMES, ratios.T, strict=True)
        ]
    return found


def robustness_figures(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Shares of runs: wrong though it is called good or usable; refuted; no result at all."""
    found = []
    names = dict.fromkeys(row["noise"] for row in rows)
    for scenario in names:
        group = [row for row in rows if row["noise"] == scenario]
        wrong = sum(row["verdict"] in ("good", "usable") and _is_far(row) for row in group)
        found.append(proportion(scenario, "wrong and trusted", wrong, len(group)))
        for name, verdict in (("refuted", "refuted"), ("no result", "none")):
            found.append(proportion(scenario, name, sum(row["verdict"] == verdict for row in group), len(group)))
    return found


def _is_far(row: Mapping[str, Any]) -> bool:
    errors, deviations = _columns([row], "error")[0], _columns([row], "deviation")[0]
    known = np.isfinite(errors) & np.isfinite(deviations)
    return bool((np.abs(errors[known]) > FAR * deviations[known]).any())


def _scenarios(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """The runs of each noise that have a result."""
    names = dict.fromkeys(row["noise"] for row in rows)
    return [(name, [row for row in rows if row["noise"] == name and row["verdict"] != "none"]) for name in names]


def _columns(rows: Sequence[Mapping[str, Any]], kind: str) -> FloatArray:
    """(runs, 10) the errors, deviations or bounds."""
    values = [[row.get(f"{name}_{kind}", math.nan) for name in DERIVED_NAMES] for row in rows]
    return np.array(values, dtype=np.float64).reshape(len(rows), len(DERIVED_NAMES))

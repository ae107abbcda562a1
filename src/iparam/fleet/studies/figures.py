"""The figures of a study with their 95 % confidence intervals: coverage, error against the bound, rates of failure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from iparam.arrays import FloatArray
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.rounding import NORMAL_95

ALL = "all ten"
"""What a figure of all parameters is called."""

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
    return Figure(scenario, name, hits / runs, *_wilson(hits / runs, runs), runs)


def mean_share(scenario: str, name: str, shares: FloatArray, parts: int) -> Figure:
    """The mean over runs of a share of ``parts`` each, with Wilson's interval for as many draws as they are worth.

    The parts of a run go together: by how much the shares scatter, a run is worth between one draw and ``parts``.
    """
    runs = int(shares.size)
    if not runs:
        return Figure(scenario, name, math.nan, 0.0, 1.0, 0)
    middle = math.fsum(shares) / runs
    variance = math.fsum((shares - middle) ** 2) / max(runs - 1, 1) / runs
    draws = min(max(middle * (1.0 - middle) / variance, runs), parts * runs) if variance > 0.0 else runs
    return Figure(scenario, name, middle, *_wilson(middle, draws), runs)


def root_mean_square(scenario: str, name: str, values: FloatArray) -> Figure:
    """The root of the mean square over runs, with Student's interval of its logarithm: of few runs, too, no error is
    below zero.
    """
    runs = int(values.size)
    if not runs:
        return Figure(scenario, name, math.nan, 0.0, math.inf, 0)
    middle = math.fsum(values**2) / runs
    root = math.sqrt(middle)
    if runs < 2 or root == 0.0:
        return Figure(scenario, name, root, 0.0, math.inf, runs)
    deviation = math.sqrt(math.fsum((values**2 - middle) ** 2) / (runs - 1) / runs) / middle
    factor = math.exp(0.5 * float(stdtrit(runs - 1, 0.975)) * deviation)
    return Figure(scenario, name, root, root / factor, root * factor, runs)


def _wilson(share: float, draws: float) -> tuple[float, float]:
    """The 95 % interval of a share of that many draws."""
    z2 = NORMAL_95**2
    middle = (share + z2 / (2 * draws)) / (1 + z2 / draws)
    half = NORMAL_95 * math.sqrt(share * (1 - share) / draws + z2 / (4 * draws**2)) / (1 + z2 / draws)
    # At the ends the formula gives 0 and 1 but for rounding.
    return (0.0 if share == 0.0 else middle - half), (1.0 if share == 1.0 else middle + half)


def coverage_figures(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """How often 95 % intervals hold: of each parameter, and of all, which is what a study stops by.

    What the data of a run do not determine has no interval, and does not count.
    """
    found = []
    for scenario, group in _scenarios(rows):
        errors, deviations = np.abs(_columns(group, "error")), _columns(group, "deviation")
        known = np.isfinite(errors) & np.isfinite(deviations)
        inside = known & (errors <= NORMAL_95 * deviations)
        counted = known.sum(axis=1)
        shares = inside.sum(axis=1)[counted > 0] / counted[counted > 0]
        found.append(mean_share(scenario, ALL, shares, len(DERIVED_NAMES)))
        found += [
            proportion(scenario, name, int(inside[:, place].sum()), int(known[:, place].sum()))
            for place, name in enumerate(DERIVED_NAMES)
        ]
    return found


def precision_figures(rows: Sequence[Mapping[str, Any]]) -> list[Figure]:
    """Root mean square errors in Cramer-Rao bounds: of each parameter, and of all."""
    found = []
    for scenario, group in _scenarios(rows):
        ratios = _columns(group, "error") / _columns(group, "bound")
        ratios = ratios[np.isfinite(ratios).all(axis=1)]
        found.append(root_mean_square(scenario, ALL, np.sqrt(np.mean(ratios**2, axis=1))))
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

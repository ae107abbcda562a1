"""`Chart`: curves over one time axis, and what a page needs to draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.files.json import json_line

# Colours that people with any colour vision tell apart (Okabe & Ito 2008).
BLUE, ORANGE, GREEN, VERMILLION = "#0072b2", "#e69f00", "#009e73", "#d55e00"
SKY, PURPLE, GREY = "#56b4e9", "#cc79a7", "#6b6b6b"

AXES = (VERMILLION, GREEN, BLUE)
"""Of x, y and z."""

PALE_AXES = ("#f0b48c", "#8fd3bf", "#8cc0de")
"""The same for what stands behind another curve."""

MANY = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, GREY)
"""Of what comes in larger numbers, as joints."""

BINS = 300
"""Pairs of points that a curve is drawn with."""

_DIGITS = 5  # of the numbers in a page


@dataclass(frozen=True, eq=False)
class Line:
    """A curve.

    Attributes:
        label: its name.
        color: as CSS has it.
        values: (N,).
        dashed: drawn with gaps.
    """

    label: str
    color: str
    values: FloatArray
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves over one time axis.

    Attributes:
        slug: unique among the charts of a page.
        title: with the unit in brackets.
        time: (N,) increasing [s].
        lines: each with N values.
    """

    slug: str
    title: str
    time: FloatArray
    lines: tuple[Line, ...]

    def __post_init__(self) -> None:
        for line in self.lines:
            if np.shape(line.values) != np.shape(self.time):
                raise InputError(
                    f"{line.label} of {self.slug} has {np.shape(line.values)} values for {np.shape(self.time)} times"
                )

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and largest value with a margin, for the vertical axis."""
        values = np.concatenate([line.values for line in self.lines])
        low, high = float(values.min()), float(values.max())
        room = 0.06 * (high - low) or max(abs(high) * 0.06, 1e-6)
        return low - room, high + room

    def at(self, time: float) -> list[float]:
        """The value of each line at a time."""
        return [float(np.interp(time, self.time, line.values)) for line in self.lines]


def lines_of(names: Sequence[str], colors: Sequence[str], values: FloatArray, dashed: bool = False) -> tuple[Line, ...]:
    """One line for each column of values (N, k); colours begin anew where there are too few."""
    return tuple(Line(name, colors[i % len(colors)], values[:, i], dashed) for i, name in enumerate(names))


def thinned(time: FloatArray, values: FloatArray, bins: int = BINS) -> tuple[FloatArray, FloatArray]:
    """Times (N,) and values (N, k) that draw the same picture as all samples: of each of ``bins`` parts both extremes.

    The extremes of each curve stand in the order in which they came.
    """
    if len(time) <= 2 * bins:
        return time, values
    starts = np.unique(np.linspace(0, len(time), bins + 1).astype(int))[:-1]
    ends = np.append(starts[1:], len(time))
    columns = np.arange(values.shape[1])
    times, rows = np.empty(2 * len(starts)), np.empty((2 * len(starts), values.shape[1]))
    for i, (a, b) in enumerate(zip(starts, ends, strict=True)):
        part = values[a:b]
        low, high = np.argmin(part, axis=0), np.argmax(part, axis=0)
        times[2 * i : 2 * i + 2] = time[a], time[(a + b) // 2]
        rows[2 * i], rows[2 * i + 1] = part[np.minimum(low, high), columns], part[np.maximum(low, high), columns]
    times[-1] = time[-1]
    return times, rows


def chart_document(charts: Sequence[Chart]) -> str:
    """The charts as JSON that may stand inside a ``<script>`` of a page, whatever their names hold."""
    document = {
        chart.slug: {
            "title": chart.title,
            "time": _short(chart.time),
            "lines": [
                {"label": line.label, "color": line.color, "dashed": line.dashed, "values": _short(line.values)}
                for line in chart.lines
            ],
        }
        for chart in charts
    }
    text = json_line(document)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def chart_style() -> str:
    """The CSS of the charts."""
    return _asset("uPlot.min.css") + _asset("charts.css")


def chart_script() -> str:
    """The JavaScript that draws every element with ``data-chart`` from the JSON in the element ``charts``."""
    return _asset("uPlot.min.js") + "\n" + _asset("charts.js")


def _asset(name: str) -> str:
    return files("iparam.charts").joinpath("scripts", name).read_text(encoding="utf-8")


def _short(values: FloatArray) -> list[float]:
    """With as many digits as can be told apart in a chart."""
    finite = np.nan_to_num(np.asarray(values, dtype=np.float64))
    return [float(f"{value:.{_DIGITS}g}") for value in finite.tolist()]

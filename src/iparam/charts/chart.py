"""`Chart`: curves over one time axis, and what a page needs to draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.files.json import json_line

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

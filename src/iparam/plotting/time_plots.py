"""Curves over time, one panel above the other; and the few points that draw the same picture as many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.plotting.matplotlib_backend import MANY, new_figure, plot_style, side_label, stacked_axes
from iparam.printable import printable

WIDTH = 6.4
PANEL_HEIGHT, SMALL_PANEL_HEIGHT = 1.5, 1.05
"""[inch]"""

RIGHT = 0.86
"""Where the axes end, as a share of the width: the names of the curves stand beside them."""

MOST_NAMES = 7
"""Curves of a panel that are named."""

BINS = 300
"""Pairs of points that a curve in a page is drawn with."""

SMALL_BINS = 120
"""The same for a small plot."""


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves of one unit.

    Attributes:
        label: what they are, with the unit in brackets.
        time: (T,) increasing [s].
        values: (T, k); NaN leaves a gap.
        names: of the k curves.
        colors: of the k curves, as CSS has them; () for those of `MANY`, which begin anew where there are too few.
    """

    label: str
    time: FloatArray
    values: FloatArray
    names: tuple[str, ...]
    colors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        expected = (np.size(self.time), len(self.names))
        if np.shape(self.values) != expected:
            raise InputError(f"{self.label} needs values {expected}, one row a time, got {np.shape(self.values)}")
        if not self.colors:
            colors = tuple(MANY[i % len(MANY)] for i in range(len(self.names)))
            object.__setattr__(self, "colors", colors)
        if len(self.colors) != len(self.names):
            raise InputError(f"{self.label} needs {len(self.names)} colours, got {len(self.colors)}")


def time_figure(panels: Sequence[Panel], *, small: bool = False) -> Any:
    """A ``matplotlib.figure.Figure`` of the panels, which share the time axis.

    Args:
        panels: from top to bottom, at least one.
        small: lower, and drawn with few points: for a page.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not panels:
        raise InputError("there is nothing to plot: it has no signals")
    height = SMALL_PANEL_HEIGHT if small else PANEL_HEIGHT
    with plot_style():
        figure = new_figure(height * len(panels) + 0.5, WIDTH)
        rows = stacked_axes(figure, (1.0,) * len(panels), right=RIGHT)
        for axes, panel in zip(rows, panels, strict=True):
            time, values = thinned(panel.time, panel.values, SMALL_BINS) if small else (panel.time, panel.values)
            for i, name in enumerate(panel.names):
                dashes = "-" if i < len(MANY) else "--"  # where the colours begin anew
                axes.plot(time, values[:, i], dashes, color=panel.colors[i], label=printable(name), linewidth=1.0)
            side_label(axes, printable(panel.label))
            handles, names = axes.get_legend_handles_labels()
            if len(names) > MOST_NAMES:
                handles, names = handles[:MOST_NAMES], [*names[: MOST_NAMES - 1], f"and {len(names) - MOST_NAMES + 1}"]
            axes.legend(handles, names, loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.2)
        rows[-1].set_xlabel("time [s]")
        first, last = min(panel.time[0] for panel in panels), max(panel.time[-1] for panel in panels)
        if first < last:
            rows[-1].set_xlim(first, last)
    return figure


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

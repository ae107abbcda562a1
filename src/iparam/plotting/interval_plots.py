"""Estimated numbers with their intervals, in groups of one unit side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.plotting.matplotlib_backend import BLUE, GREY, VERMILLION, new_figure, plot_style

WIDTH = 6.4
HEIGHT, SMALL_HEIGHT = 2.9, 2.1
"""[inch]"""


@dataclass(frozen=True, eq=False)
class IntervalGroup:
    """Numbers of one unit.

    Attributes:
        label: what they are, with the unit in brackets.
        names: of the k numbers.
        values: (k,); NaN where one is not known.
        half_widths: (k,) of their intervals.
    """

    label: str
    names: tuple[str, ...]
    values: FloatArray
    half_widths: FloatArray

    def __post_init__(self) -> None:
        for name in ("values", "half_widths"):
            if np.shape(getattr(self, name)) != (len(self.names),):
                raise InputError(f"{self.label} needs {len(self.names)} {name}, got {np.shape(getattr(self, name))}")


def interval_figure(groups: Sequence[IntervalGroup], *, small: bool = False, doubtful: bool = False) -> Any:
    """A ``matplotlib.figure.Figure``: each number as a dot with its interval, each group with a scale of its own.

    Args:
        groups: from left to right.
        small: lower, for a page.
        doubtful: in the colour of a warning: nobody should use these numbers.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with plot_style():
        figure = new_figure(SMALL_HEIGHT if small else HEIGHT, WIDTH)
        ratios = [len(group.names) + 1.0 for group in groups]
        room = {"left": 0.11, "right": 0.985, "top": 0.86, "bottom": 0.14, "wspace": 0.6}
        row = figure.subplots(1, len(groups), width_ratios=ratios, gridspec_kw=room, squeeze=False)[0]
        for axes, group in zip(row, groups, strict=True):
            places = np.arange(len(group.names))
            known = np.isfinite(group.values)
            if len(places) > 1:  # to compare them with; a number alone is seen against its interval
                axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=1)
            axes.errorbar(
                places[known],
                group.values[known],
                yerr=np.nan_to_num(group.half_widths[known]),
                fmt="o",
                markersize=3.5,
                capsize=4,
                linewidth=1.2,
                color=VERMILLION if doubtful else BLUE,
            )
            for place in places[~known]:
                axes.annotate("not known", (place, 0.0), rotation=90, ha="center", va="bottom", color=GREY, fontsize=8)
            axes.ticklabel_format(axis="y", useOffset=False)
            axes.set_xticks(places, group.names)
            axes.set_xlim(-0.6, len(places) - 0.4)
            axes.grid(axis="x", visible=False)
            axes.set_title(group.label, fontsize=9, loc="left")
    return figure

"""The path of the tool in space, in a bounding box with a scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.plotting.matplotlib_backend import GREY, INK, PALE, new_figure
from iparam.report.figures.view import View
from iparam.rounding import fixed

VIEW = View(-55.0, 24.0)
SEGMENTS = 160
LEAST_SIZE = 0.05
"""Edge length of the box below which a path is a point [m]."""

LEAST_SHARE = 0.6
"""Of a side of the box, in longest sides: room for the numbers along it."""

MOST_STEPS = 5.0
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, *(10.0**k for k in range(2, 12)))


def tool_path_figure(time: FloatArray, points: FloatArray, frame: str) -> Any:
    """A figure of the path.

    Args:
        time: (T,) [s].
        points: (T, 3) positions of the tool in the base frame [m].
        frame: name of the tool frame.
    """
    from matplotlib.collections import LineCollection

    figure = new_figure(3.6)
    axes = figure.add_axes((0.03, 0.17, 0.94, 0.82))
    ticks = bounding_box_ticks(points)
    _bounding_box(axes, ticks)
    floor = points.copy()
    floor[:, 2] = ticks[2][0]
    thin = slice(None, None, max(1, len(points) // 400))
    axes.plot(*VIEW.on_page(floor[thin]).T, color="#b0b0b0", linewidth=1.0, zorder=2)
    picked = np.linspace(0, len(points) - 1, SEGMENTS + 1).astype(int)
    page = VIEW.on_page(points[picked])
    elapsed = time[picked] - time[0]
    path = LineCollection(list(np.stack([page[:-1], page[1:]], axis=1)), cmap="cividis", linewidths=2.0, zorder=4)
    path.set_array(elapsed[:-1])
    path.set_capstyle("round")
    axes.add_collection(path)
    axes.plot(*page[0], marker="o", markersize=6, color=INK, zorder=6)
    axes.annotate("start", page[0], xytext=(6, -11), textcoords="offset points", fontsize=8.5, color=INK, zorder=6)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.margins(0.08)
    scale = figure.add_axes((0.3, 0.065, 0.4, 0.022))
    shades = np.linspace(0.0, 1.0, 40)[None]
    scale.pcolormesh(np.linspace(0.0, elapsed[-1], 41), [0.0, 1.0], shades, cmap="cividis", edgecolors="face")
    scale.set_yticks([])
    scale.grid(False)
    scale.tick_params(length=2, pad=1.5)
    scale.set_title(f"time [s], {frame} in the base frame [m]", fontsize=8.5, pad=3)
    return figure


def bounding_box_ticks(points: FloatArray) -> list[FloatArray]:
    """Ticks along x, y and z with one step, around points (T, 3); no side is much shorter than the longest [m]."""
    low, high = points.min(axis=0), points.max(axis=0)
    longest = max(float((high - low).max()), LEAST_SIZE)
    step = next(step for step in _STEPS if longest / step <= MOST_STEPS)
    found = []
    for start, end in zip(low, high, strict=True):
        widened = max(0.0, 0.5 * (LEAST_SHARE * longest - (end - start)))
        first, last = np.floor((start - widened) / step + 1e-6), np.ceil((end + widened) / step - 1e-6)
        found.append(step * np.arange(first, last + 0.5))
    return found


def _bounding_box(axes: Any, ticks: list[FloatArray]) -> None:
    """The walls behind the path with their grid, and the scales along the edges in front."""
    toward = VIEW.axes[2]
    back = [t[0] if toward[i] > 0 else t[-1] for i, t in enumerate(ticks)]
    front = [t[-1] if toward[i] > 0 else t[0] for i, t in enumerate(ticks)]
    middle = VIEW.on_page(np.array([0.5 * (t[0] + t[-1]) for t in ticks]))
    for wall in range(3):
        first, second = (wall + 1) % 3, (wall + 2) % 3
        for along, across in ((first, second), (second, first)):
            for value in ticks[across]:
                line = np.empty((2, 3))
                line[:, wall], line[:, across] = back[wall], value
                line[:, along] = ticks[along][0], ticks[along][-1]
                axes.plot(*VIEW.on_page(line).T, color=PALE, linewidth=0.6, zorder=1)
    left = min(((front[0], back[1]), (back[0], front[1])), key=lambda xy: VIEW.on_page(np.array([*xy, 0.0]))[0])
    for axis, corner in enumerate(((0.0, front[1], back[2]), (front[0], 0.0, back[2]), (*left, 0.0))):
        decimals = 2 if ticks[axis][1] - ticks[axis][0] < 0.0999 else 1
        places = np.tile(corner, (ticks[axis].size, 1))
        places[:, axis] = ticks[axis]
        page = VIEW.on_page(places)
        ends = page[[0, -1]]
        axes.plot(*ends.T, color=GREY, linewidth=0.9, zorder=1)
        out = ends.mean(axis=0) - middle
        out = np.array([-1.0, 0.0]) if axis == 2 else out / np.linalg.norm(out)
        for place, value in zip(page, ticks[axis], strict=True):
            _write(axes, place, out, fixed(value, decimals), 8.0)
        _write(axes, ends.mean(axis=0), 3.2 * out, "xyz"[axis], 10.0)


def _write(axes: Any, place: FloatArray, out: FloatArray, shown: str, size: float) -> None:
    aligned = "right" if out[0] < -0.1 else "left" if out[0] > 0.1 else "center"
    axes.annotate(
        shown, place, xytext=9.0 * out, textcoords="offset points", fontsize=size, color=INK, ha=aligned, va="center"
    )

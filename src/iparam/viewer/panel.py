"""`Panel`: what stands beside the scene of a page that is served: controls, readings and charts in step with the time.

It takes viser's server and imports nothing.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from iparam.charts.chart import Chart
from iparam.printable import plain_markdown
from iparam.rounding import NORMAL_95, with_interval
from iparam.viewer.drawing import Drawing
from iparam.viewer.load_shapes import principal_moments
from iparam.viewer.playback import Playback
from iparam.viewer.view import View, pose_text

_TABS = (("Motion", ("nearest", "q", "dq")), ("Wrench", ("force", "force-residual", "torque", "torque-residual")))


class Panel:
    """The controls of one page."""

    def __init__(self, server: Any, drawing: Drawing) -> None:
        self._server, self._gui, self.drawing = server, server.gui, drawing
        self._lock = threading.RLock()
        self._charts: dict[str, tuple[Chart, Any]] = {}
        self.time = 0.0
        view = drawing.view
        self._playback = Playback(self._gui, view.duration, self.show) if view.duration > 0.0 else None
        self._reading = self._gui.add_markdown("")
        self._notes = self._gui.add_markdown("")
        self._folders: dict[str, Any] = {}
        tabs = self._gui.add_tab_group()
        for name, slugs in _TABS:
            if any(chart.slug in slugs for chart in view.charts):
                self._folders[name] = tabs.add_tab(name)
        if view.loads:
            with tabs.add_tab("Load"):
                self._gui.add_markdown(load_text(view))
        with tabs.add_tab("Show"):
            for group in drawing.groups:
                self._add_checkbox(group)
        self._tabs = tabs
        self._draw_charts(view)
        self.show(0.0)

    def complete(self, view: View) -> None:
        """Take the view with its margins and its prediction."""
        with self._lock:
            self.drawing.complete(view)
            self._draw_charts(view)
            self.show(self.time)

    def show(self, moment: float, charts: bool = True) -> None:
        """Everything as it is at a time [s]."""
        with self._lock, self._server.atomic():
            self.time = moment
            self.drawing.show(moment)
            self._reading.content = self._text(moment)
            self._notes.content = "\n\n".join(f"*{plain_markdown(note)}.*" for note in self.drawing.notes)
            if charts:
                for chart, handle in self._charts.values():
                    handle.data = curves_with_marker(chart, moment)

    def close(self) -> None:
        """End the thread that plays."""
        if self._playback is not None:
            self._playback.close()

    def _text(self, moment: float) -> str:
        view, lines = self.drawing.view, []
        for index, arm in enumerate(self.drawing.arms):
            tool = arm.track.robot.tool_frame
            words = plain_markdown(pose_text(arm.track.poses(moment)[tool], tool))
            lines.append(words if index == 0 else f"ghost ({plain_markdown(arm.track.name)}): {words}")
        nearest = self.drawing.nearest
        if nearest is not None:
            one, other = map(plain_markdown, nearest.bodies)
            lines.append(f"nearest: **{one} - {other}, {1e3 * nearest.distance:.0f} mm**")
        if self.drawing.arms:
            track = self.drawing.arms[0].track
            states = track.joint_states(np.array([moment]))[0]
            near = [name for name, state in zip(track.robot.joint_names, states, strict=True) if state > 0.0]
            lines.append(f"near a limit: **{plain_markdown(', '.join(near))}**" if near else "no joint near a limit")
        if view.wrench is not None:
            row = [np.interp(moment, view.wrench.time, column) for column in view.wrench.measured.T]
            lines.append(
                f"force {_three(row[:3], 2)} N, torque {_three(row[3:], 3)} N m; "
                f"an arrow of 100 mm is {0.1 / view.wrench.scales[0]:.3g} N or {0.1 / view.wrench.scales[1]:.3g} N m"
            )
        return "\n\n".join(lines)

    def _add_checkbox(self, group: str) -> None:
        box = self._gui.add_checkbox(group, initial_value=True)

        def switched(event: Any) -> None:
            for node in self.drawing.groups[group]:
                node.visible = bool(box.value)

        box.on_update(switched)

    def _draw_charts(self, view: View) -> None:
        for chart in view.charts:
            tab = next((name for name, slugs in _TABS if chart.slug in slugs), "")
            if chart.slug in self._charts:
                self._charts.pop(chart.slug)[1].remove()
            if tab not in self._folders:
                self._folders[tab] = self._tabs.add_tab(tab)
            order = float(next(slugs for name, slugs in _TABS if name == tab).index(chart.slug))
            with self._folders[tab]:
                self._charts[chart.slug] = (chart, self._add_chart(chart, order))

    def _add_chart(self, chart: Chart, order: float) -> Any:
        series: list[dict[str, Any]] = [{"label": "time [s]"}]
        for line in chart.lines:
            series.append({"label": line.label, "stroke": line.color, "width": 1.5})
            if line.dashed:
                series[-1]["dash"] = [6, 4]
        series.append({"label": "now", "stroke": "#888888", "width": 1})
        x_axis = {"label": "time [s]", "labelSize": 18, "size": 34, "labelFont": "12px sans-serif"}
        low, high = chart.bounds
        return self._gui.add_uplot(
            curves_with_marker(chart, self.time),
            tuple(series),
            title=chart.title,
            scales={"x": {"time": False}, "y": {"range": (low, high)}},
            axes=(x_axis, {}),
            legend={"show": len(chart.lines) > 1},
            height=210,
            order=order,
        )


def curves_with_marker(chart: Chart, moment: float) -> tuple[FloatRow, ...]:
    """The time (N + 2,), each curve, and a line that stands upright at a moment, as a chart of common times takes them.

    The moment is put among the times twice; the curves have their own values there, so that nothing of them changes.
    """
    place = int(np.searchsorted(chart.time, moment))
    low, high = chart.bounds
    marker = np.full(len(chart.time), np.nan)
    rows = [np.insert(chart.time, place, [moment, moment])]
    rows += [
        np.insert(line.values, place, [value, value]) for line, value in zip(chart.lines, chart.at(moment), strict=True)
    ]
    return (*rows, np.insert(marker, place, [low, high]))


FloatRow = np.ndarray


def load_rows(view: View) -> list[list[str]]:
    """The header, then mass, centre of mass and principal moments of each load, for people."""
    estimates = dict(view.given.results)
    columns: list[list[str]] = []
    for load in view.loads:
        estimate, body = estimates.get(load.name), load.parameters
        half = None if estimate is None else estimate.standard_deviation
        rows = [load.name, _known(body.mass, None if half is None else NORMAL_95 * half.mass)]
        for axis in range(3):
            width = None if half is None else 1e3 * NORMAL_95 * half.center_of_mass[axis]
            rows.append(_known(1e3 * body.center_of_mass[axis], width))
        if estimate is None:
            rows += [_known(float(moment), None) for moment in np.linalg.eigvalsh(body.inertia_about_com)]
        else:
            moments, widths = principal_moments(estimate)
            rows += [_known(moments[i], NORMAL_95 * widths[i]) for i in range(3)]
        columns.append(rows)
    names = ["load", "mass [kg]", *(f"CoM {axis} [mm]" for axis in "xyz"), *(f"I{i} [kg m²]" for i in (1, 2, 3))]
    return [*([name, *(column[i] for column in columns)] for i, name in enumerate(names)), *_density_rows(view)]


def load_text(view: View) -> str:
    """`load_rows` as a table in Markdown, and how to read it."""
    head, *rows = load_rows(view)
    lines = [" | ".join(map(plain_markdown, cells)) for cells in (head, ["---"] * len(head), *rows)]
    table = "\n".join(f"| {line} |" for line in lines)
    return (
        f"{table}\n\n± are 95 % intervals, the centre of mass is in the axes of the tool, I1 to I3 are the "
        "principal moments of inertia about it. The box and the ellipsoid have the load's mass and "
        "inertia; the red ellipsoids hold the centre of mass and the ends of the principal axes with 95 %."
        f"{' The parts of a shape are drawn, the denser the darker.' if _density_rows(view) else ''}"
    )


def _density_rows(view: View) -> list[list[str]]:
    """A row for each part of the loads' shapes; none without shapes."""
    found = [{} if load.shape is None else {part.name: part for part in load.shape.filled_parts} for load in view.loads]
    rows = []
    for name in dict.fromkeys(name for parts in found for name in parts):
        parts = [one.get(name) for one in found]
        cells = ["" if one is None else _known(one.density, NORMAL_95 * one.standard_deviation) for one in parts]
        rows.append([f"{name} [kg/m³]", *cells])
    return rows


def _known(value: float, half: float | None) -> str:
    return f"{value:.4g}" if half is None else with_interval(value, half)


def _three(values: list[Any], decimals: int) -> str:
    return ", ".join(f"{float(value):.{decimals}f}" for value in values)

"""`PagePanel`: controls, readings and charts beside the scene of a page that is served, in step with the time.

It takes viser's server and imports nothing of it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np

from iparam.plotting.matplotlib_backend import VERMILLION
from iparam.plotting.time_plots import Panel
from iparam.printable import plain_markdown
from iparam.robot.kinematics import frame_poses
from iparam.rounding import NORMAL_95, with_interval
from iparam.viewer.curves import bounds_of, with_uprights
from iparam.viewer.drawing import Drawing
from iparam.viewer.load_shapes import principal_moments
from iparam.viewer.source import Moment, PageSource
from iparam.viewer.track import FRAMES_PER_SECOND, joint_states
from iparam.viewer.view import View

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
CHARTS_PER_SECOND = 5.0
"""At which the charts follow a motion."""


class Playback:
    """A slider, a button and a speed that move a time.

    Attributes:
        time: that is shown [s].
    """

    def __init__(self, gui: Any, duration: float) -> None:
        self.time, self._duration, self._playing, self._moved = 0.0, duration, False, True
        self._slider = gui.add_slider("time [s]", min=0.0, max=duration, step=0.01, initial_value=0.0)
        self._button = gui.add_button("Play")
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
        self._slider.on_update(self._dragged)
        self._button.on_click(self._clicked)

    def advance(self, seconds: float) -> bool:
        """Let time pass; whether there is anything new to show."""
        if self._playing:
            self.time = min(self.time + seconds * float(self._speed.value.removesuffix("x")), self._duration)
            self._slider.value = round(self.time, 2)
            self._play(self.time < self._duration)
            return True
        moved, self._moved = self._moved, False
        return moved

    def _dragged(self, event: Any) -> None:
        if event.client is not None:  # moved by hand, not by `advance`
            self._play(False)
            self.time, self._moved = float(self._slider.value), True

    def _clicked(self, event: Any) -> None:
        if self.time >= self._duration - 1e-3:
            self.time = 0.0
        self._play(not self._playing)

    def _play(self, wanted: bool) -> None:
        if wanted != self._playing:
            self._playing, self._moved = wanted, True
            self._button.label = "Pause" if wanted else "Play"


class PagePanel:
    """The controls of one page.

    Attributes:
        time: that is shown [s].
    """

    def __init__(self, server: Any, drawing: Drawing, source: PageSource) -> None:
        self._server, self._gui, self.drawing, self._source = server, server.gui, drawing, source
        self._lock, self.time = threading.RLock(), 0.0
        self._playback = Playback(self._gui, source.duration) if source.duration > 0.0 else None
        self._reading = self._gui.add_markdown("")
        self._tabs = self._gui.add_tab_group()
        self._folders = {name: self._tabs.add_tab(name) for name in source.charts}
        self._handles: list[Any] = []
        self._charts: list[Panel] = []
        if drawing.view.loads:
            with self._tabs.add_tab("Load"):
                self._gui.add_markdown(load_text(drawing.view))
        drawing.show(replace(source.moment(0.0), load=None))
        if drawing.groups:
            with self._tabs.add_tab("Show"):
                for group in drawing.groups:
                    self._add_checkbox(group)
        self._below = self._gui.add_markdown("")
        self.show(0.0)

    def run(self, stopped: threading.Event) -> None:
        """Follow the slider or what is new, until the event is set."""
        charted = before = time.monotonic()
        behind = False
        while not stopped.wait(max(0.001, 1.0 / FRAMES_PER_SECOND - (time.monotonic() - before))):
            now = time.monotonic()
            step, before = now - before, now
            moving = self._playback.advance(step) if self._playback is not None else self._source.news()
            due = (moving or behind) and now - charted >= 1.0 / CHARTS_PER_SECOND
            if moving or due:
                self.show(self.time if self._playback is None else self._playback.time, due)
                charted, behind = (now, False) if due else (charted, True)

    def take(self, view: View) -> None:
        """Show a view that knows more of the same files in place of the one that was shown."""
        with self._lock:
            self._source = view
            self.drawing.complete(view)
            self.show(self.time)

    def show(self, time: float, charts: bool = True) -> None:
        """Everything as it is at a time [s]."""
        with self._lock, self._server.atomic():
            self.time, moment = time, self._source.moment(time)
            self.drawing.show(moment)
            self._reading.content = self._text(moment)
            if charts:
                self._below.content = moment.below
                self._show_charts(moment)

    def _text(self, moment: Moment) -> str:
        lines = list(moment.above)
        for index, (arm, (q, _)) in enumerate(zip(self.drawing.arms, moment.motions, strict=True)):
            tool = arm.robot.tool_frame
            x, y, z = 1e3 * frame_poses(arm.robot, q)[tool][:3, 3]
            words = plain_markdown(f"{tool} at {x:.1f}, {y:.1f}, {z:.1f} mm")
            lines.append(words if index == 0 else f"ghost ({plain_markdown(arm.track.name)}): {words}")
        nearest = self.drawing.nearest
        if nearest is not None:
            one, other = map(plain_markdown, nearest.bodies)
            lines.append(f"nearest: **{one} - {other}, {1e3 * nearest.distance:.0f} mm**")
        if self.drawing.arms:
            robot = self.drawing.arms[0].robot
            states = joint_states(robot, *moment.motions[0])
            near = [name for name, state in zip(robot.joint_names, states, strict=True) if state > 0.0]
            lines.append(f"near a limit: **{plain_markdown(', '.join(near))}**" if near else "no joint near a limit")
        if "measured" in moment.wrenches:
            row, (force, torque) = moment.wrenches["measured"].tolist(), moment.scales
            lines.append(
                f"force {_three(row[:3], 2)} N, torque {_three(row[3:], 3)} N m; "
                f"an arrow of 100 mm is {0.1 / force:.3g} N or {0.1 / torque:.3g} N m"
            )
        lines += [f"*{plain_markdown(note)}.*" for note in self.drawing.notes]
        return "\n\n".join(lines)

    def _add_checkbox(self, group: str) -> None:
        box = self._gui.add_checkbox(group, initial_value=True)

        def switched(event: Any) -> None:
            for node in self.drawing.groups[group]:
                node.visible = bool(box.value)

        box.on_update(switched)

    def _show_charts(self, moment: Moment) -> None:
        """Put the curves of the source and the marks of a moment into the charts; other curves are other charts."""
        by_tab = self._source.charts
        charts = [chart for panels in by_tab.values() for chart in panels]
        if [(chart.label, chart.names) for chart in charts] != [(chart.label, chart.names) for chart in self._charts]:
            for handle in self._handles:
                handle.remove()
            self._handles = []
            for tab, panels in by_tab.items():
                with self._folders[tab]:
                    self._handles += [self._add_chart(chart) for chart in panels]
        self._charts = charts
        for chart, handle in zip(charts, self._handles, strict=True):
            scales = _scales(chart)
            if handle.scales != scales:
                handle.scales = scales
            handle.data = with_uprights(chart, moment.marks)

    def _add_chart(self, chart: Panel) -> Any:
        curves = zip(chart.names, chart.colors, strict=True)
        series: list[dict[str, Any]] = [{"label": "time [s]"}]
        series += [{"label": name, "stroke": color, "width": 1.5} for name, color in curves]
        series.append({"label": "mark", "stroke": VERMILLION, "width": 1})
        x_axis = {"label": "time [s]", "labelSize": 18, "size": 34, "labelFont": "12px sans-serif"}
        return self._gui.add_uplot(
            with_uprights(chart, ()),
            tuple(series),
            title=chart.label,
            scales=_scales(chart),
            axes=(x_axis, {}),
            legend={"show": len(chart.names) > 1},
            height=210,
        )


def _scales(chart: Panel) -> dict[str, dict[str, Any]]:
    return {"x": {"time": False}, "y": {"range": bounds_of(chart.values)}}


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
        "inertia; the red ellipsoid holds the centre of mass with 95 %."
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


def _three(values: list[float], decimals: int) -> str:
    return ", ".join(f"{value:.{decimals}f}" for value in values)

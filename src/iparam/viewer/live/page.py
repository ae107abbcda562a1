"""`LivePanel`: a `LiveState` beside and in the scene of a page that is served. It takes viser's server and imports
nothing of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.plotting.matplotlib_backend import BLUE, SKY, VERMILLION
from iparam.plotting.time_plots import thinned
from iparam.printable import plain_markdown
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.cell import WorkCell
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95, with_interval
from iparam.viewer.drawing import Drawing
from iparam.viewer.live.state import LiveEvent, LiveReading, LiveSnapshot
from iparam.viewer.load_shapes import estimated_load
from iparam.viewer.track import FRAMES_PER_SECOND, Track
from iparam.viewer.view import View, ViewInput, pose_text
from iparam.viewer.wrench import ARROW, ShownWrench

CHARTS_PER_SECOND = 4.0
LOADS_PER_SECOND = 2.0
LISTED = 8
"""Events that are listed, the newest first."""

BAND = ("value", BLUE), ("95 % from", SKY), ("to", SKY)
CHARTS = (("mass [kg]", 190), *((f"centre of mass, {axis} [mm]", 130) for axis in "xyz"))
"""Title and height [pixels] of each: beside a centre at z = 100 mm, what x and y do could not be seen in one chart."""


def live_view(
    robot: Robot,
    state: LiveReading,
    title: str,
    *,
    cell: WorkCell | None = None,
    gravity: Sequence[float] = STANDARD_GRAVITY,
    capsules: bool = False,
) -> View:
    """A view whose arm stands where the newest sample says, whatever time it is asked for."""

    def motion(times: FloatArray) -> tuple[FloatArray, FloatArray]:
        _, q, dq, _ = state.newest()
        return np.tile(q, (len(times), 1)), np.tile(dq, (len(times), 1))

    return View(
        title=title,
        robot=robot,
        tracks=(Track(title, robot, 0.0, motion),),
        loads=(),
        payload=(),
        cell=cell or WorkCell(),
        clearance=0.0,
        wrench=None,
        capsules=capsules,
        notes=(),
        given=ViewInput(robot=robot, title=title),
        gravity=np.array(gravity),
    )


def chart_rows(now: LiveSnapshot) -> tuple[tuple[FloatArray, ...], ...]:
    """The curves of each of `CHARTS`: the time, the value, the ends of its interval, and upright lines where something
    happened.
    """
    history = now.history
    time, rows = thinned(history[:, 0], history[:, 1:]) if len(history) else (np.zeros(1), np.full((1, 8), np.nan))
    known = [(rows[:, 0], rows[:, 1]), *((1e3 * rows[:, 2 + axis], 1e3 * rows[:, 5 + axis]) for axis in range(3))]
    events = [event.time for event in now.events if event.kind != "end"]
    return tuple(with_uprights(time, (value, value - half, value + half), events) for value, half in known)


def with_uprights(time: FloatArray, curves: Sequence[FloatArray], moments: Sequence[float]) -> tuple[FloatArray, ...]:
    """Times, curves, and one more that is below the chart, out of sight, and goes up to its upper edge at each moment.

    Each moment is put among the times three times, where the curves have no value. The last curve has one everywhere,
    because the chart connects what is to either side of a NaN.
    """
    low, high = bounds_of(curves)
    below = 2.0 * low - high
    inside = [moment for moment in moments if time[0] <= moment <= time[-1]]
    places = np.repeat(np.searchsorted(time, inside), 3)
    rows = [np.insert(time, places, np.repeat(inside, 3))]
    rows += [np.insert(curve, places, np.nan) for curve in curves]
    return (*rows, np.insert(np.full(len(time), below), places, np.tile([below, high, below], len(inside))))


def bounds_of(curves: Sequence[FloatArray]) -> tuple[float, float]:
    """Least and largest value of the vertical axis, in steps of a tenth of the range so that they seldom change.

    They are given to the chart, which cannot find them itself where there are NaN.
    """
    values = np.concatenate(curves)
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-3 * max(abs(high), 1e-6)))) / 2.0
    return float(step * (np.floor(low / step) - 0.5)), float(step * (np.ceil(high / step) + 0.5))


class LivePanel:
    """What a live page shows, 30 times a second."""

    def __init__(self, server: Any, drawing: Drawing, state: LiveReading) -> None:
        self._server, self._gui, self.drawing, self._state = server, server.gui, drawing, state
        self._reading = self._gui.add_markdown("waiting for the first sample")
        self._load = self._gui.add_markdown("")
        self._charts = [self._chart(title, height) for title, height in CHARTS]
        self._events = self._gui.add_markdown("")
        self._largest = np.array([1.0, 0.1])
        self._charted = self._drawn = -np.inf
        self._shown: Any = None
        self.frames = 0

    def run(self, stopped: threading.Event) -> None:
        """Follow the state until the event is set."""
        while not stopped.is_set():
            begun = time.monotonic()
            if self._state.changed.is_set():
                self._state.changed.clear()
                now = self._state.snapshot()
                if now is not None:
                    self.show(now, begun)
            stopped.wait(max(0.001, 1.0 / FRAMES_PER_SECOND - (time.monotonic() - begun)))

    def show(self, now: LiveSnapshot, moment: float) -> None:
        """Show what is known; charts and load only as often as that makes a difference.

        Args:
            now: it.
            moment: of a clock that always increases [s].
        """
        with self._server.atomic():
            self._arrows(now)
            self.drawing.show(0.0)
            self._reading.content = self._text(now)
            if moment - self._charted >= 1.0 / CHARTS_PER_SECOND:
                self._charted = moment
                for chart, rows in zip(self._charts, chart_rows(now), strict=True):
                    scales = {"x": {"time": False}, "y": {"range": bounds_of(rows[1:-1])}}
                    if chart.scales != scales:
                        chart.scales = scales
                    chart.data = rows
                self._load.content = load_line(now)
                self._events.content = event_lines(now.events)
            if moment - self._drawn >= 1.0 / LOADS_PER_SECOND and now.estimate is not self._shown:
                self._drawn, self._shown = moment, now.estimate
                usable = now.estimate is not None and now.estimate.complete and now.estimate.mass > 0.0
                self.drawing.show_load(estimated_load(now.estimate, "load") if usable and now.estimate else None)
        self.frames += 1

    def _arrows(self, now: LiveSnapshot) -> None:
        sizes = np.array([np.linalg.norm(now.wrench[:3]), np.linalg.norm(now.wrench[3:])])
        self._largest = np.maximum(self._largest, sizes)
        reach = self.drawing.arms[0].track.robot.reach
        scales = ARROW * reach / self._largest[0], 0.6 * ARROW * reach / self._largest[1]
        shown = ShownWrench(np.zeros(1), now.wrench[None], None, (float(scales[0]), float(scales[1])))
        self.drawing.view = replace(self.drawing.view, wrench=shown)

    def _text(self, now: LiveSnapshot) -> str:
        track = self.drawing.arms[0].track
        tool = track.robot.tool_frame
        states = track.joint_states(np.zeros(1))[0]
        near = [name for name, state in zip(track.robot.joint_names, states, strict=True) if state > 0.0]
        return "\n\n".join(
            [
                f"**{now.time:.1f} s**, {now.rate:.0f} samples a second, counted within {1e3 * now.delay:.0f} ms",
                plain_markdown(pose_text(track.poses(0.0)[tool], tool)),
                f"near a limit: **{plain_markdown(', '.join(near))}**" if near else "no joint near a limit",
                *(f"*{plain_markdown(note)}.*" for note in self.drawing.notes),
            ]
        )

    def _chart(self, title: str, height: int) -> Any:
        series: list[dict[str, Any]] = [{"label": "time [s]"}]
        series += [{"label": label, "stroke": color, "width": 1.5} for label, color in BAND]
        series.append({"label": "event", "stroke": VERMILLION, "width": 1})
        empty = np.array([0.0, 1.0])
        return self._gui.add_uplot(
            (empty, *(np.full(2, np.nan) for _ in series[1:])),
            tuple(series),
            title=title,
            scales={"x": {"time": False}, "y": {"range": (0.0, 1.0)}},
            legend={"show": False},
            height=height,
        )


def load_line(now: LiveSnapshot) -> str:
    """The load as it is known, for people."""
    estimate = now.estimate
    if estimate is None or not np.isfinite(now.history[-1:, 1]).any():
        return "The load is not known yet: the arm has to move and turn."
    half = estimate.standard_deviation
    center = ", ".join(
        with_interval(1e3 * value, 1e3 * NORMAL_95 * width)
        for value, width in zip(estimate.center_of_mass, half.center_of_mass, strict=True)
    )
    refuted = "" if estimate.refutation is None else f"**REFUTED**: {plain_markdown(estimate.refutation.reason)}\n\n"
    return (
        f"{refuted}mass **{with_interval(estimate.mass, NORMAL_95 * half.mass, 'kg')}**\n\ncentre of mass {center} mm"
    )


def event_lines(events: Sequence[LiveEvent]) -> str:
    """The last events, the newest first, for people."""
    return "\n\n".join(f"{event.time:.1f} s: {plain_markdown(event.text)}" for event in reversed(events[-LISTED:]))

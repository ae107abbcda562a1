"""`LiveView`: an arm as it moves, and its load as far as it is known; a `PageSource`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.estimate import Estimate
from iparam.plotting.matplotlib_backend import BLUE, SKY
from iparam.plotting.time_plots import Panel, thinned
from iparam.printable import plain_markdown
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.cell import WorkCell
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95, with_interval
from iparam.viewer.live.state import LiveEvent, LiveSnapshot, LiveState
from iparam.viewer.load_shapes import LoadShapes, estimated_load
from iparam.viewer.source import Moment, arrow_scales
from iparam.viewer.track import standing_track
from iparam.viewer.view import View, ViewInput

LISTED = 8
"""Events that are listed, the newest first."""

CURVES = ("mass [kg]", 1.0), *((f"centre of mass, {axis} [mm]", 1e3) for axis in "xyz")
"""Title and unit of each chart: beside a centre at z = 100 mm, what x and y do could not be seen in one chart."""

LEAST_WRENCH = np.array([1.0, 0.1])
"""Force and torque below which no arrow has its full length [N, N m]."""


class LiveView:
    """The newest of a `LiveState`.

    Args:
        robot: the arm.
        state: what is known of it.
    """

    duration = 0.0

    def __init__(self, robot: Robot, state: LiveState) -> None:
        self._robot, self._state = robot, state
        self._largest = LEAST_WRENCH
        self._load: LoadShapes | None = None
        self._drawn: Estimate | None = None

    def news(self) -> bool:
        """See `PageSource`."""
        changed = self._state.changed.is_set()
        self._state.changed.clear()
        return changed

    def moment(self, time: float) -> Moment:
        """See `PageSource`."""
        now = self._state.snapshot()
        if now is None:
            return Moment(0.0, (standing_track(self._robot).at(0.0),), above=("waiting for the first sample",))
        self._largest = np.maximum(self._largest, np.linalg.norm(now.wrench.reshape(2, 3), axis=1))
        if now.estimate is not self._drawn:
            usable = now.estimate is not None and now.estimate.complete and now.estimate.mass > 0.0
            self._load = estimated_load(now.estimate, "load") if now.estimate is not None and usable else None
            self._drawn = now.estimate
        state = f"**{now.time:.1f} s**, {now.rate:.0f} samples a second, counted within {1e3 * now.delay:.0f} ms"
        return Moment(
            now.time,
            ((now.q, now.dq),),
            {"measured": now.wrench},
            arrow_scales(self._largest, self._robot.reach),
            tuple(event.time for event in now.events if event.kind != "end"),
            self._load,
            (state, load_line(now)),
            event_lines(now.events),
        )

    @property
    def charts(self) -> dict[str, tuple[Panel, ...]]:
        """See `PageSource`."""
        now = self._state.snapshot()
        history = now.history if now is not None and len(now.history) else np.full((1, 9), np.nan)
        time = np.nan_to_num(history[:, 0])
        found = []
        for (label, unit), value, half in zip(CURVES, (1, 3, 4, 5), (2, 6, 7, 8), strict=True):
            middle, width = unit * history[:, value], unit * history[:, half]
            band = thinned(time, np.column_stack([middle, middle - width, middle + width]))
            found.append(Panel(label, *band, ("value", "95 % from", "to"), (BLUE, SKY, SKY)))
        return {"Load": tuple(found)}


def live_scene(
    robot: Robot,
    title: str,
    q: FloatArray | None,
    *,
    cell: WorkCell | None = None,
    gravity: Sequence[float] = STANDARD_GRAVITY,
    capsules: bool = False,
) -> View:
    """What a live page is arranged around: the arm in a pose (n,), or at zero, in its cell."""
    return View(
        title=title,
        robot=robot,
        tracks=(standing_track(robot, q),),
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

"""The curves that go with what is seen: margins, joints and wrench over the time of the slider."""

from __future__ import annotations

import numpy as np

from iparam.charts.chart import Chart, Line, lines_of
from iparam.plotting.matplotlib_backend import AXES, BLUE, MANY, PALE_AXES, VERMILLION
from iparam.plotting.time_plots import thinned
from iparam.robot.model import JointKind
from iparam.viewer.margins import Margins
from iparam.viewer.track import Track, interpolated
from iparam.viewer.wrench import ShownWrench


def margin_chart(margins: Margins) -> Chart:
    """The distance of the nearest pair, and the clearance that was planned with."""
    time, values = thinned(margins.time, 1e3 * margins.distance[:, None])
    lines = [Line("nearest pair", BLUE, values[:, 0])]
    if margins.clearance > 0.0:
        lines.append(Line("clearance", VERMILLION, np.full(len(time), 1e3 * margins.clearance), dashed=True))
    return Chart("nearest", "nearest pair [mm]", time, tuple(lines))


def joint_charts(track: Track) -> tuple[Chart, ...]:
    """Joint positions and velocities; turning joints in degrees, sliding ones in millimetres."""
    q, dq = track.motion(track.samples)
    turning = np.array([joint.kind is JointKind.REVOLUTE for joint in track.robot.moving_joints])
    scale = np.where(turning, np.degrees(1.0), 1e3)
    unit, speed = ("°", "°/s") if turning.all() else ("° or mm", "°/s or mm/s")
    names = [f"q{joint}" if turns else f"q{joint} (mm)" for joint, turns in enumerate(turning)]
    charts = []
    for slug, title, values in (("q", f"joint positions [{unit}]", q), ("dq", f"joint velocities [{speed}]", dq)):
        time, rows = thinned(track.samples, scale * values)
        charts.append(Chart(slug, title, time, lines_of(names, MANY, rows)))
    return tuple(charts)


def wrench_charts(wrench: ShownWrench) -> tuple[Chart, ...]:
    """Force and torque, measured and predicted, and below each the residual."""
    charts = []
    for name, unit, part in (("force", "N", slice(3)), ("torque", "N m", slice(3, 6))):
        axes = [f"{name[0]}{axis}" for axis in "xyz"]
        time, rows = thinned(wrench.time, wrench.measured[:, part])
        lines = lines_of(axes, AXES if wrench.predicted is None else PALE_AXES, rows)
        if wrench.predicted is not None:
            predicted = interpolated(time, wrench.time, wrench.predicted[:, part])
            lines += lines_of([f"{axis} predicted" for axis in axes], AXES, predicted)
        charts.append(Chart(name, f"{name} [{unit}]", time, lines))
        if wrench.residual is not None:
            time, rows = thinned(wrench.time, wrench.residual[:, part])
            charts.append(
                Chart(f"{name}-residual", f"residual of the {name} [{unit}]", time, lines_of(axes, AXES, rows))
            )
    return tuple(charts)

"""The curves that go with what is seen, and what a chart of a page is given of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iparam.arrays import FloatArray
from iparam.plotting.matplotlib_backend import AXES, BLUE, PALE_AXES, VERMILLION
from iparam.plotting.time_plots import Panel, thinned
from iparam.robot.model import JointKind
from iparam.viewer.margins import Margins
from iparam.viewer.track import Track, interpolated
from iparam.viewer.wrench import ShownWrench


def margin_chart(margins: Margins) -> Panel:
    """The distance of the nearest pair, and the clearance that was planned with."""
    time, values = thinned(margins.time, 1e3 * margins.distance[:, None])
    if margins.clearance <= 0.0:
        return Panel("nearest pair [mm]", time, values, ("distance",), (BLUE,))
    rows = np.column_stack([values, np.full(len(time), 1e3 * margins.clearance)])
    return Panel("nearest pair [mm]", time, rows, ("distance", "clearance"), (BLUE, VERMILLION))


def joint_charts(track: Track) -> tuple[Panel, ...]:
    """Joint positions and velocities; turning joints in degrees, sliding ones in millimetres."""
    q, dq = track.motion(track.samples)
    turning = np.array([joint.kind is JointKind.REVOLUTE for joint in track.robot.moving_joints])
    scale = np.where(turning, np.degrees(1.0), 1e3)
    unit, speed = ("°", "°/s") if turning.all() else ("° or mm", "°/s or mm/s")
    names = tuple(f"q{joint}" if turns else f"q{joint} (mm)" for joint, turns in enumerate(turning))
    return tuple(
        Panel(f"{title} [{unit}]", *thinned(track.samples, scale * values), names)
        for title, unit, values in (("joint positions", unit, q), ("joint velocities", speed, dq))
    )


def wrench_charts(wrench: ShownWrench) -> tuple[Panel, ...]:
    """Force and torque, measured and predicted, and below each the residual."""
    charts = []
    for name, unit, part in (("force", "N", slice(3)), ("torque", "N m", slice(3, 6))):
        axes = tuple(f"{name[0]}{axis}" for axis in "xyz")
        time, rows = thinned(wrench.time, wrench.measured[:, part])
        if wrench.predicted is None:
            charts.append(Panel(f"{name} [{unit}]", time, rows, axes, AXES))
            continue
        both = np.column_stack([rows, interpolated(time, wrench.time, wrench.predicted[:, part])])
        names = (*axes, *(f"{axis} model" for axis in axes))
        charts.append(Panel(f"{name} [{unit}]", time, both, names, (*PALE_AXES, *AXES)))
        left = thinned(wrench.time, wrench.measured[:, part] - wrench.predicted[:, part])
        charts.append(Panel(f"{name} residual [{unit}]", *left, axes, AXES))
    return tuple(charts)


def with_uprights(chart: Panel, moments: Sequence[float]) -> tuple[FloatArray, ...]:
    """Times, the curves of a chart, and one more that is below it, out of sight, and goes up to its upper edge at each
    moment.

    Each moment is put among the times three times, where the curves have no value. The last curve has one everywhere,
    because the chart connects what is to either side of a NaN.
    """
    time, (low, high) = chart.time, bounds_of(chart.values)
    below = 2.0 * low - high
    inside = sorted(moment for moment in moments if time[0] <= moment <= time[-1])
    places = np.repeat(np.searchsorted(time, inside), 3)
    rows = [np.insert(time, places, np.repeat(inside, 3))]
    rows += [np.insert(curve, places, np.nan) for curve in chart.values.T]
    return (*rows, np.insert(np.full(len(time), below), places, np.tile([below, high, below], len(inside))))


def bounds_of(values: FloatArray) -> tuple[float, float]:
    """Least and largest value of the vertical axis, in steps of a tenth of the range so that they seldom change.

    They are given to the chart, which cannot find them itself where there are NaN.
    """
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    step = 10.0 ** np.floor(np.log10(max(high - low, 1e-3 * max(abs(high), 1e-6)))) / 2.0
    return float(step * (np.floor(low / step) - 0.5)), float(step * (np.ceil(high / step) + 0.5))

"""The curves of a trajectory over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iparam.plotting.time_plots import Panel, time_figure

if TYPE_CHECKING:
    from iparam.trajectory.trajectory import Trajectory

PLOTTED = (("q", "rad"), ("dq", "rad/s"), ("ddq", "rad/s^2"))
"""What is drawn of a motion, with its unit."""

POINTS = 1001
"""Samples that a motion is drawn with."""


def motion_figure(trajectory: Trajectory) -> Any:
    """A ``matplotlib.figure.Figure`` of position, velocity and acceleration of every joint."""
    samples = trajectory.evaluate(np.linspace(0.0, trajectory.duration, POINTS))
    panels = [
        Panel(
            f"{name} [{unit}]",
            samples.time,
            getattr(samples, name),
            tuple(f"{name}{joint}" for joint in range(samples.num_joints)),
        )
        for name, unit in PLOTTED
    ]
    return time_figure(panels)

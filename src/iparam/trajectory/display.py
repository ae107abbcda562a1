"""A trajectory as a notebook shows it: what each joint does, and curves over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from iparam.plotting.html import html_fragment, html_table
from iparam.plotting.time_plots import Panel, time_figure

if TYPE_CHECKING:
    from iparam.trajectory.trajectory import Trajectory, TrajectorySamples

PLOTTED = (("q", "rad"), ("dq", "rad/s"), ("ddq", "rad/s^2"))
"""What is drawn of a motion, with its unit."""

POINTS = 1001
"""Samples that a motion is drawn with."""


def motion_figure(trajectory: Trajectory, *, small: bool = False) -> Any:
    """A ``matplotlib.figure.Figure`` of position, velocity and acceleration of every joint; the last not if small."""
    samples = _samples(trajectory)
    panels = [
        Panel(
            f"{name} [{unit}]",
            samples.time,
            getattr(samples, name),
            tuple(f"{name}{joint}" for joint in range(samples.num_joints)),
        )
        for name, unit in PLOTTED[: 2 if small else None]
    ]
    return time_figure(panels, small=small)


def motion_html(trajectory: Trajectory, title: str, *tables: str, remarks: Sequence[str] = ()) -> str:
    """What a notebook shows of a motion.

    Args:
        trajectory: it.
        title: plain text.
        tables: HTML that stands before the table of the joints.
        remarks: plain texts.
    """
    samples = _samples(trajectory)
    rows = [
        [
            f"q{joint}",
            f"{samples.q[:, joint].min():.3f}",
            f"{samples.q[:, joint].max():.3f}",
            f"{np.abs(samples.dq[:, joint]).max():.3f}",
            f"{np.abs(samples.ddq[:, joint]).max():.3f}",
        ]
        for joint in range(samples.num_joints)
    ]
    header = ("joint", "from [rad]", "to [rad]", "largest speed [rad/s]", "largest acceleration [rad/s^2]")
    joints = html_table(rows, header)
    return html_fragment(title, *tables, joints, remarks=remarks, plot=lambda: motion_figure(trajectory, small=True))


def _samples(trajectory: Trajectory) -> TrajectorySamples:
    return trajectory.evaluate(np.linspace(0.0, trajectory.duration, POINTS))

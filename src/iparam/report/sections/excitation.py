"""The part of the page about excitation: what the motion could tell."""

from __future__ import annotations

import numpy as np

from iparam.arrays import FloatArray
from iparam.excitation.information.condition import condition_number
from iparam.plotting.matplotlib_backend import BLUE, SKY, new_figure, plain_log_ticks
from iparam.recording.statements import recorded_gravity
from iparam.report.content import (
    Card,
    Cards,
    Missing,
    Paragraph,
    Section,
    figure_card,
    missing_wrench,
)
from iparam.report.context import ReportContext
from iparam.rounding import significant

HEIGHT = 3.1
UNSEEN = 1e-6
"""Share of the largest singular value below which a direction is none that the motion shows."""


def excitation_section(context: ReportContext) -> Section | Missing:
    """How well the motion excites the load."""
    if context.run is None or context.singular_values is None:
        return missing_wrench("Excitation quality")
    values = context.singular_values
    planned = context.given.trajectory
    if values[-1] <= UNSEEN * values[0]:
        shown = int((values > UNSEEN * values[0]).sum())
        sentence = f"The motion shows {shown} of ten directions of the parameters, and nothing of the others"
    else:
        sentence = f"The condition number of the stacked regressor is {significant(values[0] / values[-1])}"
    robot, recording = context.given.robot, context.given.recording
    if planned is not None and robot is not None and recording is not None:
        gravity = recorded_gravity(recording)
        wanted = condition_number(robot, planned.trajectory, gravity, planned.fps).regressor
        sentence += f"; that of the planned motion is {significant(wanted)}"
    blocks = (Paragraph(sentence + "."), Cards([_singular_card(values)]))
    return Section("excitation", "Excitation quality", blocks)


def _singular_card(values: FloatArray) -> Card:
    figure = new_figure(HEIGHT)
    axes = figure.add_axes((0.18, 0.135, 0.795, 0.82))
    axes.bar(np.arange(1, 11), values, color=SKY, edgecolor=BLUE, linewidth=0.8)
    for place, value in enumerate(values, start=1):
        if value <= UNSEEN * values[0]:
            continue
        axes.annotate(
            significant(value, 2), (place, value), xytext=(0, 2), textcoords="offset points", ha="center", fontsize=7.5
        )
    axes.set_xticks(np.arange(1, 11))
    axes.set_xlabel("number")
    axes.set_ylabel("singular value")
    axes.grid(False, axis="x")
    axes.set_ylim(0.0, 1.12 * float(values[0]))
    if values[0] > 30.0 * values[-1]:
        least = float(values[values > UNSEEN * values[0]][-1])
        axes.set_yscale("log")
        plain_log_ticks(axes.yaxis)
        axes.set_ylim(0.4 * least, 2.5 * float(values[0]))
    words = "Of the stacked regressor in SI units, per root of a sample. The closer together, the better."
    return figure_card(figure, "singular-values", "Singular values.", words)

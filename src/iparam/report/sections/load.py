"""The part of the page about the load itself: its principal axes, and solids that have the same inertia."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.plotting.matplotlib_backend import AXES, BLUE, INK, ORANGE, new_figure
from iparam.report.content import Cards, Missing, Paragraph, Section, Table, figure_card
from iparam.report.context import ReportContext
from iparam.report.figures.view import View, box_faces
from iparam.rounding import fixed, significant
from iparam.spatial.equivalent_body import EquivalentBody

VIEWS = (
    ("oblique", "From the side and above", View(-55.0, 24.0)),
    ("front", "Along y: x and z", View(-90.0, 0.0)),
    ("side", "Along x: y and z", View(0.0, 0.0)),
)
"""Slug, title and direction of the pictures."""


def load_section(context: ReportContext) -> Section | Missing:
    """The load as a picture."""
    body = context.body
    if not context.estimate.complete:
        return Missing("The load on the tool", "the data determine a part of its parameters only")
    if body is None:
        return Missing("The load on the tool", "no solid has the estimated parameters; use the method consistent")
    shown = "Solid: the box of even density with the estimated mass, centre of mass and inertia. Dashed: the ellipsoid."
    if context.true_body is not None:
        shown += " Dotted: the true load's box."
    figures = [
        figure_card(_picture(body, context.true_body, view), f"load-{slug}", f"{title}.", shown)
        for slug, title, view in VIEWS
    ]
    words = (
        "The arrows are the axes of the tool frame. A real load of another shape has the same inertia as this box; it "
        "need not look like it."
    )
    principal = _principal_table(body, context.estimate.mass)
    return Section("load", "The load on the tool", (Paragraph(words), Cards(figures), principal))


def _principal_table(body: EquivalentBody, mass: float) -> Table:
    radii = np.sqrt(body.moments / mass)
    half_axes = np.sqrt(5.0 / 12.0) * body.box_size
    rows = [
        [
            f"axis near {'xyz'[i]}",
            " · ".join(fixed(value, 3) for value in body.rotation[:, i]),
            significant(1e3 * body.moments[i], 4),
            fixed(1e3 * radii[i], 1),
            fixed(1e3 * body.box_size[i], 1),
            fixed(1e3 * half_axes[i], 1),
        ]
        for i in range(3)
    ]
    header = ["principal", "direction", "moment [g m²]", "radius of gyration [mm]", "box edge [mm]", "half axis [mm]"]
    return Table(header, rows, "Principal axes and equivalent solids")


def _picture(body: EquivalentBody, truth: EquivalentBody | None, view: View) -> Any:
    """A figure of the load on the tool frame.

    Args:
        body: the estimate's solids.
        truth: those of what the arm really carried, or None.
        view: in the tool frame.
    """
    figure = new_figure(3.3)
    flat = view.elevation == 0.0
    axes = figure.add_axes((0.13, 0.13, 0.85, 0.77) if flat else (0.01, 0.01, 0.98, 0.9))
    for outline, facing in box_faces(body.center, body.rotation, body.box_size, view):
        closed = 1e3 * np.concatenate([outline, outline[:1]])
        axes.fill(*closed.T, facecolor=ORANGE, alpha=0.2 + 0.15 * facing, zorder=2)
        axes.plot(*closed.T, color="#8a5f00", linewidth=1.2, zorder=3, label=_once(axes, "equivalent box"))
    if truth is not None:
        for outline, _ in box_faces(truth.center, truth.rotation, truth.box_size, view):
            closed = 1e3 * np.concatenate([outline, outline[:1]])
            axes.plot(*closed.T, color=INK, linestyle=":", linewidth=1.4, zorder=5, label=_once(axes, "true box"))
    outline = 1e3 * view.ellipse(body.ellipsoid, body.center)
    axes.plot(*outline.T, color=BLUE, linestyle="--", linewidth=1.2, zorder=4, label="ellipsoid")
    middle = 1e3 * view.on_page(body.center)
    axes.plot(*middle, marker="+", markersize=9, markeredgewidth=1.6, color=INK, linestyle="", zorder=6, label="CoM")
    _tool_frame(axes, view, 0.65 * float(body.box_size.max()))
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    if flat:
        axes.set_xlabel(f"{'x' if abs(view.axes[0, 0]) > 0.5 else 'y'} [mm]", labelpad=1)
        axes.set_ylabel("z [mm]", labelpad=1)
    else:
        axes.axis("off")
    figure.legend(*axes.get_legend_handles_labels(), loc="upper center", ncols=4, bbox_to_anchor=(0.5, 1.0))
    return figure


def _once(axes: Any, label: str) -> str:
    """The label of a line, for the first line only."""
    return "_" if label in axes.get_legend_handles_labels()[1] else label


def _tool_frame(axes: Any, view: View, length: float) -> None:
    origin: FloatArray = np.zeros(2)
    for axis in range(3):
        tip = 1e3 * length * view.on_page(np.eye(3)[axis])
        if np.linalg.norm(tip) < 1.0:
            continue
        axes.annotate(
            "", tip, xytext=origin, arrowprops={"arrowstyle": "-|>", "color": AXES[axis], "linewidth": 1.8}, zorder=7
        )
        away = tip / np.linalg.norm(tip)
        axes.annotate(
            "xyz"[axis],
            tip,
            xytext=7.0 * away,
            textcoords="offset points",
            ha="center",
            va="center",
            fontweight="bold",
            color=AXES[axis],
            zorder=9,
        )

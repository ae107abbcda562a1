"""The part of the page about the load itself: its principal axes, and solids that have the same inertia."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from iparam.arrays import FloatArray
from iparam.estimation.shape.found import FoundShape
from iparam.plotting.matplotlib_backend import AXES, BLUE, INK, ORANGE, new_figure
from iparam.report.content import Cards, Missing, Paragraph, Section, Table, figure_card
from iparam.report.context import ReportContext
from iparam.report.figures.view import View, box_faces
from iparam.rounding import NORMAL_95, fixed, numbers, significant
from iparam.spatial.derived import second_moment_derivative
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
    shown += " Thin: the ellipsoids at the ends of the 95 % intervals of its half axes."
    if context.true_body is not None:
        shown += " Dotted: the true load's box."
    shape = context.estimate.shape
    if shape is not None:
        shown += " Blue: the parts of the shape, the denser the darker."
    bounds = _ellipsoids_95(context.estimate.phi, context.estimate.covariance_phi, body)
    figures = [
        figure_card(_picture(body, context.true_body, view, shape, bounds), f"load-{slug}", f"{title}.", shown)
        for slug, title, view in VIEWS
    ]
    words = (
        "The arrows are the axes of the tool frame. A real load of another shape has the same inertia as this box; it "
        "need not look like it."
    )
    principal = _principal_table(body, context.estimate.mass)
    densities = () if shape is None or not shape.filled_parts else (_density_table(shape),)
    return Section("load", "The load on the tool", (Paragraph(words), Cards(figures), principal, *densities))


def _density_table(shape: FoundShape) -> Table:
    rows = [
        [part.name, *numbers([part.density, NORMAL_95 * part.standard_deviation], 0)] for part in shape.filled_parts
    ]
    return Table(["part", "density [kg/m³]", "± 95 %"], rows, "Densities of the shape's parts")


def _ellipsoids_95(phi: FloatArray, covariance: FloatArray, body: EquivalentBody) -> list[FloatArray]:
    """(3, 3) matrices of the ellipsoids whose half axes are at the ends of their 95 % intervals."""
    mass, second = float(phi[0]), second_moment_derivative(phi)
    axes = body.rotation
    squares = np.diag(axes.T @ body.ellipsoid @ axes)  # of the half axes: 5 s / m
    slopes = 5.0 * np.einsum("ai,kab,bi->ik", axes, second, axes) / mass
    slopes[:, 0] -= squares / mass
    half = NORMAL_95 * np.sqrt(np.maximum(np.einsum("ik,kl,il->i", slopes, covariance, slopes), 0.0))
    return [(axes * np.maximum(squares + sign * half, 0.0)) @ axes.T for sign in (-1.0, 1.0)]


def _principal_table(body: EquivalentBody, mass: float) -> Table:
    radii = np.sqrt(body.moments / mass)
    half_axes = np.sqrt(5.0 / 12.0) * body.box_size
    rows = [
        [
            f"axis near {'xyz'[i]}",
            " · ".join(fixed(value, 3) for value in body.rotation[:, i]),
            significant(body.moments[i], 4),
            fixed(1e3 * radii[i], 1),
            fixed(1e3 * body.box_size[i], 1),
            fixed(1e3 * half_axes[i], 1),
        ]
        for i in range(3)
    ]
    header = ["principal", "direction", "moment [kg m²]", "radius of gyration [mm]", "box edge [mm]", "half axis [mm]"]
    return Table(header, rows, "Principal axes and equivalent solids")


def _picture(
    body: EquivalentBody,
    truth: EquivalentBody | None,
    view: View,
    shape: FoundShape | None,
    bounds: list[FloatArray],
) -> Any:
    """A figure of the load on the tool frame.

    Args:
        body: the estimate's solids.
        truth: those of what the arm really carried, or None.
        view: in the tool frame.
        shape: what was found of the load's shape, or None.
        bounds: (3, 3) ellipsoids at the ends of the 95 % intervals.
    """
    figure = new_figure(3.3)
    flat = view.elevation == 0.0
    axes = figure.add_axes((0.13, 0.13, 0.85, 0.77) if flat else (0.01, 0.01, 0.98, 0.9))
    if shape is not None:
        for part in shape.parts:
            corners = 1e3 * np.array([view.on_page(corner) for corner in part.outline])
            _fill_hull(axes, corners, (1.0 - 0.9 * part.shade, 1.0 - 0.7 * part.shade, 1.0 - 0.4 * part.shade))
    for outline, facing in box_faces(body.center, body.rotation, body.box_size, view):
        closed = 1e3 * np.concatenate([outline, outline[:1]])
        axes.fill(*closed.T, facecolor=ORANGE, alpha=0.06 if shape else 0.2 + 0.15 * facing, zorder=2)
        axes.plot(*closed.T, color="#8a5f00", linewidth=1.2, zorder=3, label=_once(axes, "equivalent box"))
    if truth is not None:
        for outline, _ in box_faces(truth.center, truth.rotation, truth.box_size, view):
            closed = 1e3 * np.concatenate([outline, outline[:1]])
            axes.plot(*closed.T, color=INK, linestyle=":", linewidth=1.4, zorder=5, label=_once(axes, "true box"))
    outline = 1e3 * view.ellipse(body.ellipsoid, body.center)
    axes.plot(*outline.T, color=BLUE, linestyle="--", linewidth=1.2, zorder=4, label="ellipsoid")
    for bound in bounds:
        outline = 1e3 * view.ellipse(bound, body.center)
        axes.plot(*outline.T, color=BLUE, linewidth=0.7, zorder=4, label=_once(axes, "95 %"))
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


def _fill_hull(axes: Any, corners: FloatArray, color: Any) -> None:
    """The hull of corners (k, 2) on the page; nothing where they lie on a line."""
    try:
        outline = corners[ConvexHull(corners).vertices]
    except QhullError:
        return
    closed = np.concatenate([outline, outline[:1]])
    axes.fill(*closed.T, facecolor=color, alpha=0.55, zorder=1)
    axes.plot(*closed.T, color=BLUE, linewidth=0.8, zorder=1, label=_once(axes, "shape"))


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

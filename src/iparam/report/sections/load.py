"""The part of the page about the load itself: its principal axes, and solids that have the same inertia."""

from __future__ import annotations

import numpy as np

from iparam.estimation.shape.found import FoundShape
from iparam.report.content import Cards, Missing, Paragraph, Section, Table, figure_card
from iparam.report.context import ReportContext
from iparam.report.figures import load_figure
from iparam.rounding import NORMAL_95, fixed, numbers, significant
from iparam.spatial.equivalent_body import EquivalentBody

VIEWS = (
    ("oblique", "From the side and above", (-55.0, 24.0)),
    ("front", "Along y: x and z", (-90.0, 0.0)),
    ("side", "Along x: y and z", (0.0, 0.0)),
)
"""Slug, title, and azimuth and elevation of the viewer [deg]."""


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
    shape = context.estimate.shape
    if shape is not None:
        shown += " Blue: the parts of the shape, the denser the darker."
    figures = [
        figure_card(load_figure(body, context.true_body, shape, *view), f"load-{slug}", f"{title}.", shown)
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

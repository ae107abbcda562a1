"""The part of the page about the load itself: its principal axes, and solids that have the same inertia."""

from __future__ import annotations

import numpy as np

from iparam.report.context import ReportContext
from iparam.report.figures.equivalent_body import EquivalentBody
from iparam.report.figures.load import VIEWS, load_picture
from iparam.report.figures.svg import figure_card
from iparam.report.markup import Missing, Section, cards, paragraph, table
from iparam.rounding import fixed, significant


def load_section(context: ReportContext) -> Section | Missing:
    """The load as a picture."""
    body = context.body
    if body is None:
        return Missing("The load on the tool", "no solid has the estimated parameters; use the method consistent")
    shown = "Solid: the box of even density with the estimated mass, centre of mass and inertia. Dashed: the ellipsoid."
    if context.true_body is not None:
        shown += " Dotted: the true load's box."
    figures = [
        figure_card(load_picture(body, context.true_body, view), f"load-{slug}", f"{title}.", shown)
        for slug, title, view in VIEWS
    ]
    words = (
        "The arrows are the axes of the tool frame. A real load of another shape has the same inertia as this box; it "
        "need not look like it."
    )
    parts = [paragraph(words), cards(figures), _principal_table(body, context.estimate.mass)]
    return Section("load", "The load on the tool", "\n".join(parts))


def _principal_table(body: EquivalentBody, mass: float) -> str:
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
    return table(header, rows, "Principal axes and equivalent solids")

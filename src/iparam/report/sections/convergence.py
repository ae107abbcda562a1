"""The part of the page about convergence: the recursive estimators over time with their bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError
from iparam.estimation.assessment.convergence import Convergence, recursive_convergence
from iparam.estimation.assessment.derived_values import parameter_scales
from iparam.plotting.matplotlib_backend import BLUE, INK, SKY, VERMILLION, new_figure, side_label, stacked_axes
from iparam.report.content import Card, Cards, Missing, Paragraph, Section, figure_card, missing_wrench
from iparam.report.context import ReportContext

HEIGHT = 4.9
SETTLED = 0.25
"""Share of the run after which the estimates set the range that is shown."""

_LINES = {"rls": (BLUE, "-"), "rtls": (VERMILLION, "--")}
_GROUPS = (
    ("mass-com", "Mass and centre of mass.", ((0, "mass [kg]"), (1, "x [mm]"), (2, "y [mm]"), (3, "z [mm]"))),
    ("moments", "Moments of inertia.", ((4, "Ixx [%]"), (7, "Iyy [%]"), (9, "Izz [%]"))),
    ("products", "Products of inertia.", ((5, "Ixy [%]"), (6, "Ixz [%]"), (8, "Iyz [%]"))),
)


def convergence_section(context: ReportContext) -> Section | Missing:
    """How the recursive estimators settle."""
    title = "Convergence over time"
    if context.run is None:
        return missing_wrench(title)
    if not context.estimate.complete:
        return Missing(title, "the recursive estimators answer with all ten parameters, and the data determine a part")
    try:
        found = recursive_convergence(context.run.problem)
    except IparamError as error:
        return Missing(title, f"the recursive estimators have no answer here: {error}")
    if not found:
        return Missing(title, "the recursive estimators have no answer here: record a motion that excites the load")
    scales = np.array([1.0, *[1e3] * 3, *[100.0] * 6])
    scales[4:] /= parameter_scales(context.estimate)[4:]
    figures = [_card(context, found, scales, slug, title, panels) for slug, title, panels in _GROUPS]
    words = (
        "What the recursive estimators, rls (least squares) and rtls (total least squares), would have answered while "
        "the arm moved. Bands (shaded for rls, between thin lines for rtls): 95 % intervals, for errors that are "
        "independent from sample to sample. The inertia is about the centre of mass, in per cent of the largest "
        "principal moment of the estimate."
    )
    if context.true_values is not None:
        words += " Dotted: the truth."
    return Section("convergence", title, (Paragraph(words), Cards(figures)))


def _card(
    context: ReportContext,
    found: tuple[Convergence, ...],
    scales: FloatArray,
    slug: str,
    title: str,
    panels: tuple[tuple[int, str], ...],
) -> Card:
    figure = new_figure(HEIGHT)
    rows = stacked_axes(figure, (1.0,) * len(panels), top=0.3)
    limits = parameter_scales(context.estimate)
    for axes, (index, label) in zip(rows, panels, strict=True):
        limit = float(limits[index])
        for track in found:
            known = slice(_first_known(track, index, limit), None)
            values, half = scales[index] * track.values[known, index], scales[index] * track.half_widths[known, index]
            time = track.time[known]
            color, style = _LINES[track.method]
            if track.method == "rls":
                axes.fill_between(time, values - half, values + half, color=SKY, alpha=0.35, linewidth=0.0)
            else:  # an outline, since the two often coincide
                for edge in (values - half, values + half):
                    axes.plot(time, edge, color=color, linestyle=style, linewidth=0.8)
            axes.plot(time, values, color=color, linestyle=style, label=track.method)
        if context.true_values is not None:
            axes.axhline(scales[index] * context.true_values[index], color=INK, linestyle=":", linewidth=1.3)
        _set_range(axes, found, index, float(scales[index]), limit)
        side_label(axes, label)
    rows[-1].set_xlabel("time [s]")
    rows[-1].set_xlim(0.0, float(found[0].time[-1]))
    rows[0].legend(loc="lower center", bbox_to_anchor=(0.5, 0.97), ncols=2)
    names = ", ".join(label.split(" ")[0] for _, label in panels)
    return figure_card(figure, f"convergence-{slug}", title, f"{names} as the run goes on.")


def _set_range(axes: Any, found: tuple[Convergence, ...], index: int, scale: float, limit: float) -> None:
    """Show where the estimates settle; what they do before may leave the picture."""
    low, high = np.inf, -np.inf
    for track in found:
        late = max(_first_known(track, index, 0.5 * limit), int(np.argmax(track.time >= SETTLED * track.time[-1])))
        values, half = scale * track.values[late:, index], scale * track.half_widths[late:, index]
        low, high = min(low, float((values - half).min())), max(high, float((values + half).max()))
    if np.isfinite(low) and high > low:
        axes.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))


def _first_known(track: Convergence, index: int, limit: float) -> int:
    """The instant from which an interval stays narrower than ``limit``; the last one if none does."""
    wide = np.flatnonzero(track.half_widths[:, index] > limit)
    return min(int(wide[-1]) + 1, len(track.time) - 1) if wide.size else 0

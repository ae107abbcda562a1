"""The part of the page that compares estimators on the same run."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.estimation.assessment.derived_values import derived_values, parameter_scales
from iparam.estimation.estimate import Estimate
from iparam.plotting.matplotlib_backend import AXES, INK, MARKERS, new_figure
from iparam.report.content import Block, BulletList, Card, Cards, Missing, Paragraph, Section, Table, figure_card
from iparam.report.context import ReportContext
from iparam.report.rendering import plain
from iparam.rounding import fixed, significant, with_interval

_PANELS = (
    ("mass", "Mass.", "[g]", (0,), ("m",)),
    ("com", "Centre of mass.", "[mm]", (1, 2, 3), ("x", "y", "z")),
    ("inertia", "Moments of inertia.", "[% of the largest]", (4, 7, 9), ("Ixx", "Iyy", "Izz")),
)


def methods_section(context: ReportContext) -> Section | Missing:
    """All methods beside each other."""
    title = "Methods compared"
    comparison = context.given.comparison
    if comparison is None:
        return Missing(title, "add the recording, and compare all methods")
    blocks: list[Block] = []
    if comparison.estimates:
        of = "the truth" if context.true_values is not None else f"the estimate by {plain(context.estimate.method, 30)}"
        reference = context.derived.values if context.true_values is None else context.true_values
        scales = np.array([1e3, *[1e3] * 3, *[100.0] * 6])
        scales[4:] /= parameter_scales(context.estimate)[4:]
        words = "The inertia error is the largest of the six entries about the centre of mass, in per cent of the "
        words += "largest principal moment."
        blocks += [
            Paragraph(f"Differences to {of}, with 95 % intervals. All methods had the same run."),
            Cards([_card(comparison.estimates, reference, scales, *panel) for panel in _PANELS]),
            _method_table(context, comparison.estimates),
            Paragraph(words, "small"),
        ]
    if comparison.failures:
        reasons = [f"{name}: {reason}" for name, reason in comparison.failures.items()]
        blocks += [Paragraph("No answer from:"), BulletList(reasons)]
    return Section("methods", title, blocks)


def _card(
    estimates: Any,
    reference: FloatArray,
    scales: FloatArray,
    slug: str,
    title: str,
    unit: str,
    indices: tuple[int, ...],
    names: tuple[str, ...],
) -> Card:
    figure = new_figure(0.85 + 0.29 * len(estimates))
    height = figure.get_figheight()
    axes = figure.add_axes((0.21, 0.42 / height, 0.765, 1.0 - 0.74 / height))
    places = np.arange(len(estimates))
    for k, index in enumerate(indices):
        found = [derived_values(estimate) for estimate in estimates.values()]
        values = np.array([scales[index] * (one.values[index] - reference[index]) for one in found])
        half = np.array([scales[index] * one.half_widths[index] for one in found])
        shift = 0.24 * (k - 0.5 * (len(indices) - 1))
        axes.errorbar(
            values,
            places + shift,
            xerr=half,
            linestyle="",
            marker=MARKERS[k],
            markersize=4,
            color=AXES[k] if len(indices) > 1 else AXES[2],
            capsize=2,
            linewidth=1.0,
            label=names[k],
        )
    axes.axvline(0.0, color=INK, linestyle=":", linewidth=1.3)
    axes.set_yticks(places, [plain(name, 14) for name in estimates])
    axes.set_ylim(len(estimates) - 0.4, -0.6)
    axes.set_xlabel(f"difference {unit}")
    axes.grid(False, axis="y")
    if len(indices) > 1:
        axes.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=3)
    return figure_card(figure, f"methods-{slug}", title, "By method, with 95 % intervals.")


def _method_table(context: ReportContext, estimates: Any) -> Table:
    truth = context.true_values
    header = ["method", "mass [kg] ± 95 %", "centre of mass [mm]", "± 95 % [mm]", "moments [kg m²]", "consistent"]
    if truth is not None:
        header += ["mass error [%]", "CoM error [mm]", "inertia error [%]", "inside 95 %"]
    rows = []
    for name, estimate in estimates.items():
        row = _basic_row(name, estimate)
        if truth is not None and context.given.truth is not None:
            from iparam.estimation.assessment.accuracy import accuracy

            errors = accuracy(estimate.phi, context.given.truth.phi)
            row += [
                significant(errors.mass_percent, 2),
                significant(1e3 * errors.center_of_mass_distance, 2),
                significant(float(errors.inertia_percent.max()), 2),
                f"{int(derived_values(estimate).holds(truth).sum())} of 10",
            ]
        rows.append(row)
    return Table(header, rows, "Methods compared")


def _basic_row(name: str, estimate: Estimate) -> list[str]:
    derived = derived_values(estimate)
    return [
        name,
        with_interval(derived.values[0], derived.half_widths[0]),
        " · ".join(fixed(1e3 * value, 2) for value in estimate.center_of_mass),
        significant(1e3 * float(derived.half_widths[1:4].max()), 2),
        " · ".join(significant(value) for value in np.linalg.eigvalsh(estimate.inertia_about_com)),
        "yes" if estimate.physically_consistent else "no",
    ]

"""The part of the page that compares estimators on the same run."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.estimation.assessment.derived_values import derived_values
from iparam.estimation.estimate import Estimate
from iparam.report.content import Block, BulletList, Missing, Paragraph, Section, Table
from iparam.report.context import ReportContext
from iparam.rounding import fixed, significant, with_interval


def methods_section(context: ReportContext) -> Section | Missing:
    """All methods beside each other."""
    title = "Methods compared"
    comparison = context.given.comparison
    if comparison is None:
        return Missing(title, "add the recording, and compare all methods")
    blocks: list[Block] = []
    if comparison.estimates:
        words = "All methods had the same run. The inertia error is the largest of the six entries about the centre of "
        words += "mass, in per cent of the largest principal moment."
        blocks += [
            _method_table(context, comparison.estimates),
            Paragraph(words, "small"),
        ]
    if comparison.failures:
        reasons = [f"{name}: {reason}" for name, reason in comparison.failures.items()]
        blocks += [Paragraph("No answer from:"), BulletList(reasons)]
    return Section("methods", title, blocks)


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

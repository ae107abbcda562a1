"""The first part of the page: the verdict, the ten numbers, and what a reader should know."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from iparam.estimation.assessment.derived_values import NAMES, SCALES, UNITS, parameter_scales
from iparam.estimation.assessment.verdict import verdict_on
from iparam.remarks import Plain, fix_text
from iparam.report.content import Block, BulletList, Heading, Headline, Section, Table
from iparam.report.context import ReportContext
from iparam.rounding import decimals_for, fixed, significant, with_interval

_SYMBOLS = {"": "·", "green": "✔", "amber": "⚠", "red": "✘"}


def summary_section(context: ReportContext) -> Section:
    """What was found."""
    blocks: list[Block] = [Headline(verdict_on(context.estimate), _tiles(context))]
    refutation, estimate = context.estimate.refutation, context.estimate
    if causes := estimate.causes if refutation is None else refutation.causes:
        told = tuple(_corrected(f"{cause.cause}: {cause.sentence}", cause.fix) for cause in causes)
        blocks += [Heading("Causes, best first"), BulletList(told)]
    every = (*context.given.remarks, *estimate.remarks)
    doubts, notes = (
        tuple(dict.fromkeys(_corrected(one.message, one.fix) for one in every if one.lowers == lowering))
        for lowering in (True, False)
    )
    if doubts:
        blocks += [Heading("Warnings"), BulletList(doubts, "warnings")]
    if notes:
        blocks += [Heading("Notes"), BulletList(notes)]
    if context.estimate.correction:
        blocks += [Heading("Corrected"), BulletList(context.corrections)]
    blocks += [Heading("The estimate"), _estimate_table(context)]
    if context.checkup is not None:
        # What the verdict and the result's own warnings say is above.
        shown = [check for check in context.checkup.checks if check.name not in ("remark", "load")]
        rows = [[f"{_SYMBOLS[check.level]} {check.name}", check.finding] for check in shown]
        blocks += [Heading("Checks of the recording"), Table((), rows, "Checks of the recording", "words")]
    return Section("summary", "Summary", blocks)


def _corrected(text: str, fix: Mapping[str, Plain] | None) -> str:
    """A sentence, and what to change in the setup."""
    return f"{text} Correction: {fix_text(fix)}" if fix else text


def _estimate_table(context: ReportContext) -> Table:
    """The ten numbers with their 95 % intervals, and the truth where it is known."""
    derived, truth, scales = context.derived, context.true_values, parameter_scales(context.estimate)
    header = ["parameter", "estimate ± 95 %"]
    header += ["truth", "error", "inside"] if truth is not None else []
    rows = []
    for i, name in enumerate(NAMES):
        value, half = SCALES[i] * derived.values[i], SCALES[i] * derived.half_widths[i]
        if np.isnan(value):
            blank = ["–"] * (3 if truth is not None else 0)
            rows.append([f"{name} [{UNITS[i]}]", "not determined", *blank, "–"])
            continue
        row = [f"{name} [{UNITS[i]}]", with_interval(value, half)]
        if truth is not None:
            true, decimals = SCALES[i] * truth[i], decimals_for(half)
            row += [fixed(true, decimals), fixed(value - true, decimals), "yes" if abs(value - true) <= half else "no"]
        share = 100 * derived.half_widths[i] / scales[i]
        rows.append([*row, "–" if np.isnan(share) else f"{significant(share, 2)} %"])
    header.append("± of scale")
    return Table(header, rows, "Estimated inertial parameters", notes=_explanation(context))


def _tiles(context: ReportContext) -> list[tuple[str, str]]:
    estimate, derived = context.estimate, context.derived
    center = " · ".join("–" if np.isnan(value) else fixed(1e3 * value, 1) for value in estimate.center_of_mass)
    return [
        ("mass", with_interval(derived.values[0], derived.half_widths[0], "kg")),
        ("centre of mass x · y · z", f"{center} mm"),
        ("condition number", significant(estimate.condition_number) if estimate.complete else "–"),
        ("samples", f"{estimate.samples}"),
    ]


def _explanation(context: ReportContext) -> str:
    robot = context.given.robot
    frame = context.estimate.frame or ("the tool frame" if robot is None else robot.tool_frame)
    sentence = (
        f"Method {context.estimate.method}: {context.estimate.status} All values are in the axes of {frame}; the "
        "inertia is about the centre of mass (CoM). The scale is the mass itself, the load's radius of gyration for "
        "the centre of mass, and the largest principal moment for the inertia."
    )
    if context.true_values is not None:
        inside = int(context.derived.holds(context.true_values).sum())
        count = int(np.isfinite(context.derived.values).sum())
        sentence += (
            f" {inside} of the {count} intervals hold the truth; on average {significant(0.95 * count, 2)} do. The "
            "truth comes from a file of its own and was not used for the estimate."
        )
    return sentence

"""An `Estimate` as texts: the rows that commands print, `print(estimate)` writes and a notebook shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from iparam.estimation.assessment.verdict import verdict_on
from iparam.plotting.html import html_fragment, html_table, shown
from iparam.plotting.interval_plots import IntervalGroup, interval_figure
from iparam.printable import printable
from iparam.remarks import Plain, Severity, fix_text
from iparam.rounding import NORMAL_95, decimals_for, number

if TYPE_CHECKING:
    from iparam.estimation.estimate import Cause, Estimate
    from iparam.estimation.shape.found import FoundShape

_SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))

MOST_PARTS = 12
"""Of a shape whose densities are printed."""

_WIDTH = 100
"""Columns of a line that is wrapped."""

Spell = Callable[[Mapping[str, Plain]], str]
"""How a fix is written for those who read the table."""


def estimate_rows(estimate: Estimate, spell: Spell = fix_text) -> Iterator[tuple[str, str]]:
    """The verdict, the ten parameters with their 95 % intervals, what they rest on, and what would explain the data
    better: name and text of each row.
    """
    deviation = estimate.standard_deviation
    yield verdict_row(estimate)
    mass = f"{_interval(estimate.mass, NORMAL_95 * deviation.mass, 4)} kg"
    yield "mass", "-" if np.isnan(estimate.mass) else mass
    for axis, value, one in zip("xyz", estimate.center_of_mass, deviation.center_of_mass, strict=True):
        text = f"{_interval(1e3 * value, 1e3 * NORMAL_95 * one, 3)} mm"
        yield f"centre of mass {axis}", "-" if np.isnan(value) else text
    for i, j in _SIX:
        value, one = estimate.inertia_about_com[i, j], deviation.inertia_about_com[i, j]
        text = f"{_interval(value, NORMAL_95 * one, 6)} kg m^2 about it"
        yield f"inertia {'xyz'[i]}{'xyz'[j]}", "-" if np.isnan(value) else text
    if not np.isnan(deviation.phi).all():
        yield "+-", "95 % interval, 1.96 standard deviations"
    if estimate.sensor_bias is not None:
        yield "sensor bias", str(estimate.sensor_bias)
    if estimate.residual_rms.force.any() or estimate.residual_rms.torque.any():
        yield "residual", f"{estimate.residual_rms} rms"
    yield "consistent", "yes" if estimate.physically_consistent else "no"
    if not estimate.complete:
        yield "determined", f"{', '.join(estimate.determined) or 'nothing'}; from {estimate.samples} samples"
    else:
        condition = f"{estimate.condition_number:.2f}" if np.isfinite(estimate.condition_number) else "-"
        yield "condition", f"{condition}, from {estimate.samples} samples"
    if estimate.data_share is not None:
        shares = " ".join(f"{100.0 * share:.0f}" for share in estimate.data_share)
        yield "from the data", f"{shares} % of phi, the rest from the prior"
    if estimate.shape is not None:
        yield from shape_rows(estimate.shape)
    for line in _correction_lines(estimate, spell):
        yield "corrected", line
    yield from doubt_rows(estimate, spell)


def shape_rows(shape: FoundShape) -> Iterator[tuple[str, str]]:
    """The densities of the parts of a shape."""
    for part in shape.filled_parts[:MOST_PARTS]:
        half = NORMAL_95 * part.standard_deviation
        yield "density", f"{_interval(part.density, half)} kg/m^3 of {part.name}"
    if len(shape.filled_parts) > MOST_PARTS:
        yield "density", f"and of {len(shape.filled_parts) - MOST_PARTS} further parts, in the result file"


def verdict_row(estimate: Estimate) -> tuple[str, str]:
    """The verdict in a few words."""
    if estimate.refutation is not None:
        return "REFUTED", "by its own data: do not use these numbers"
    verdict = verdict_on(estimate)
    heading = f"{verdict.heading[:1].lower()}{verdict.heading[1:]}"
    return "verdict", f"{verdict.word}: {heading}" if verdict.level == "poor" else heading


def doubt_rows(estimate: Estimate, spell: Spell = fix_text) -> Iterator[tuple[str, str]]:
    """What would explain the data better, best first, with its correction; what is doubted; and what no data show."""
    for cause in _causes(estimate):
        correction = f" Correction: {spell(cause.fix)}" if cause.fix else ""
        yield "cause", f"{cause.cause}: {cause.sentence}{correction}"
    for one in estimate.remarks:
        if one.lowers:
            correction = f" Correction: {spell(one.fix)}" if one.fix else ""
            yield str(one.severity), f"{one.code}: {one.message}{correction}"
    if unseen := verdict_on(estimate).unseen:
        yield "unseen", unseen


def estimate_lines(
    estimate: Estimate, spell: Spell = fix_text, rows: Iterable[tuple[str, str]] | None = None
) -> Iterator[str]:
    """Rows about an estimate as lines for a terminal: sentences are wrapped, corrections stay on one line."""
    options = [printable(spell(cause.fix)) for cause in _causes(estimate) if cause.fix]
    for name, text in estimate_rows(estimate, spell) if rows is None else rows:
        line = printable(table_line(name, text))
        if len(line) <= _WIDTH or name not in ("cause", "unseen", *Severity):
            yield line
            continue
        for typed in options:
            line = line.replace(typed, typed.replace(" ", "\0"))
        indent = " " * len(table_line("", ""))
        for part in wrap(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False):
            yield part.replace("\0", " ")


def table_line(name: str, text: str) -> str:
    """A row of a table of two columns, as a line."""
    return f"{name:<17} {text}"


def _causes(estimate: Estimate) -> tuple[Cause, ...]:
    return estimate.causes if estimate.refutation is None else estimate.refutation.causes


def _correction_lines(estimate: Estimate, spell: Spell) -> Iterator[str]:
    """What was corrected in the recording, a line each: as given, or as estimated with its 95 % interval."""
    fix = estimate.correction.fix
    for name, value in fix.items():
        deviations, unit = estimate.correction_deviations.get(name), estimate.correction.unit(name)
        if deviations is None:
            yield f"{spell({name: value})}{f' {unit}' if unit else ''}"
            continue
        pairs = zip(np.ravel(np.asarray(value)), deviations, strict=True)
        each = ", ".join(_interval(float(one), NORMAL_95 * deviation) for one, deviation in pairs)
        yield f"{name.replace('_', ' ')} {each}{f' {unit}' if unit else ''} (95 %), estimated"


def _interval(value: float, half_width: float, least: int = 0) -> str:
    """Of 95 %, which the line says; at least so many decimals, and more where a small load would else be 0 +- 0. A half
    width that nobody knows is left out.
    """
    if np.isnan(half_width):
        return number(value, least)
    decimals = max(least, decimals_for(half_width) if half_width > 0.0 or not least else 0)
    return f"{number(value, decimals)} +- {number(half_width, decimals)}"


def interval_groups(estimate: Estimate) -> tuple[IntervalGroup, ...]:
    """The ten parameters and half widths of their 95 % intervals: mass [kg], centre of mass [mm], inertia [kg m^2]."""
    deviation = estimate.standard_deviation
    rows, columns = zip(*_SIX, strict=True)
    return (
        IntervalGroup("mass [kg]", ("m",), np.array([estimate.mass]), NORMAL_95 * np.array([deviation.mass])),
        IntervalGroup(
            "centre of mass [mm]",
            tuple("xyz"),
            1e3 * estimate.center_of_mass,
            1e3 * NORMAL_95 * deviation.center_of_mass,
        ),
        IntervalGroup(
            "inertia about it [kg m²]",
            tuple(f"{'xyz'[i]}{'xyz'[j]}" for i, j in _SIX),
            estimate.inertia_about_com[rows, columns],
            NORMAL_95 * deviation.inertia_about_com[rows, columns],
        ),
    )


def estimate_html(estimate: Estimate) -> str:
    """What a notebook shows: the verdict, the rows, the warnings, and the intervals as a plot."""
    verdict = verdict_on(estimate)
    doubtful = estimate.refutation is not None
    return html_fragment(
        f"Estimate by {estimate.method}: {verdict.heading[:1].lower()}{verdict.heading[1:]}",
        f"<p>{shown(verdict.sentence)}</p>",
        html_table(estimate_rows(estimate)),
        remarks=estimate.warnings,
        plot=lambda: interval_figure(interval_groups(estimate), small=True, doubtful=doubtful),
    )

"""`write_fleet_report`: the table of a fleet on one page: changes, outliers, loads over time, causes and errors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.fleet.history import (
    FEWEST,
    Finding,
    Group,
    Series,
    changes_of,
    counted_errors,
    groups_of,
    outliers_of,
    series_of,
)
from iparam.fleet.table import FleetTable, Row
from iparam.plotting.matplotlib_backend import (
    BLUE,
    GREY,
    VERMILLION,
    date_ticks,
    new_figure,
    plot_style,
    side_label,
    stacked_axes,
)
from iparam.report.content import BulletList, Card, Cards, Paragraph, Section, Table, figure_card
from iparam.report.rendering import page_environment
from iparam.rounding import NORMAL_95, significant

PAGE = "report.html"
MOST_FIGURES = 24
"""Histories that are drawn, those with changes first; the table has all."""

MOST_LISTED = 200
"""Rows of a list: refuted recordings, errors, outliers."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # nothing is loaded, and nothing runs


def write_fleet_report(folder: str | os.PathLike[str], output: str | os.PathLike[str] | None = None) -> Path:
    """Write the page of the table in a folder, in one file without scripts that needs no network.

    Args:
        folder: of `identify_fleet`.
        output: the page, .html; ``report.html`` in the folder if not given.

    Raises:
        FileFormatError: there is no table.
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    place = Path(folder) / PAGE if output is None else Path(output)
    if place.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a report is an HTML file: give a path that ends in .html, not {str(place)!r}")
    rows = list(FleetTable(folder).rows().values())
    with plot_style():
        sections = _sections(rows)
    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    page = page_environment().get_template("page.html")
    subtitle = f"{_counted(len(rows), 'recording')}, {made}. Made by iparam."
    content = {"title": "Fleet", "subtitle": subtitle, "sections": sections, "policy": _POLICY}
    write_atomically(place, page.render(**content))
    return place


def _sections(rows: Sequence[Row]) -> list[Section]:
    series, groups = series_of(rows), groups_of(rows)
    changes = {one.label: changes_of(one) for one in series}
    listed = [change for some in changes.values() for change in some]
    outliers = outliers_of(series)
    undated = sum(int(np.isnan(one.times).sum()) for one in series)
    compared = "There is nothing to compare: no load has enough recordings." if _few(series) else "None."
    return [
        Section("short", "In short", _short(rows, groups, len(listed), len(outliers))),
        Section(
            "changes",
            "Changes",
            [
                *([Paragraph(_undated(undated), "verdict caution")] if undated else []),
                *_listed(["robot, arm, tool", "kind", "what", "recordings"], listed, compared),
            ],
        ),
        Section(
            "outliers",
            "Outliers against the fleet",
            _listed(["robot, arm, tool", "kind", "what", "recording"], outliers, compared),
        ),
        Section("time", "Loads over time", _over_time(series, changes)),
        Section("overview", "Robots and tools", _groups(groups)),
        Section("causes", "Causes and errors", _causes(rows)),
    ]


def _few(series: Sequence[Series]) -> bool:
    return all(len(one.times) < FEWEST for one in series)


def _undated(count: int) -> str:
    return (
        f"{_counted(count, 'recording does', 'recordings do')} not say when {'it was' if count == 1 else 'they were'} "
        "recorded, and are in no history. A layout with {time} takes it from their names."
    )


def _short(rows: Sequence[Row], groups: Sequence[Group], changes: int, outliers: int) -> list[Any]:
    """How many of what, and what to know before anything else is believed."""
    good, usable, refuted, errors = (
        sum(getattr(group, name) for group in groups) for name in ("good", "usable", "refuted", "errors")
    )
    text = (
        f"{_counted(len(rows), 'recording')} of {_counted(len(groups), 'arm with its tool', 'arms and tools')}: "
        f"{good} good, {usable} usable, {refuted} refuted by their own data, {errors} without a result. "
        f"{_counted(changes, 'change')} over time, {_counted(outliers, 'outlier')}."
    )
    settings = Counter(row["settings"] for row in rows)
    if len(settings) == 1:
        return [Paragraph(text)]
    mixed = (
        f"Not all rows were made with the same options: {', '.join(str(n) for _, n in settings.most_common())} rows."
    )
    return [Paragraph(text), Paragraph(mixed, "verdict caution")]


def _listed(header: list[str], findings: Sequence[Finding], none: str) -> list[Any]:
    if not findings:
        return [Paragraph(none)]
    lines = [[one.label, one.kind, one.sentence, " … ".join(one.sources)] for one in findings]
    return [Table(header, lines[:MOST_LISTED], "", "words"), *_more(lines)]


def _over_time(series: Sequence[Series], changes: Mapping[str, list[Finding]]) -> list[Any]:
    dated = [one.part(np.isfinite(one.times)) for one in series]
    drawn = sorted((one for one in dated if len(one.times) > 1), key=lambda one: (-len(changes[one.label]), one.label))
    if not drawn:
        return [Paragraph("No load has two recordings that say when they were recorded.")]
    cards = [_history(one, changes[one.label], place) for place, one in enumerate(drawn[:MOST_FIGURES])]
    rest = len(drawn) - MOST_FIGURES
    return [Cards(cards), *([Paragraph(f"{rest} more, with fewest changes, are not drawn.")] if rest > 0 else [])]


def _history(one: Series, changes: Sequence[Finding], place: int) -> Card:
    figure = new_figure(2.9)
    axes = stacked_axes(figure, (1.0, 1.0))
    moments = [datetime.fromtimestamp(time, UTC) for time in one.times]
    spread = np.ptp(one.values[:, 1:], axis=0) / one.deviations[:, 1:].mean(axis=0)
    moving = int(np.argmax(spread))  # the axis along which the centre of mass moves most, in its deviations
    middle = float(np.median(one.values[:, 1 + moving]))
    for shown, column, scale, offset, label in (
        (axes[0], 0, 1.0, 0.0, "mass [kg]"),
        (axes[1], 1 + moving, 1e3, middle, f"CoM {'xyz'[moving]} - median [mm]"),
    ):
        half, values = NORMAL_95 * one.deviations[:, column], one.values[:, column] - offset
        shown.errorbar(moments, scale * values, scale * half, fmt="o", color=BLUE, ecolor=GREY, markersize=2.5)
        side_label(shown, label)
        for change in changes:
            if change.kind == "step":
                shown.axvline(datetime.fromtimestamp(change.time, UTC), color=VERMILLION, linewidth=1.2)
    date_ticks(axes[-1].xaxis)
    description = f"{len(moments)} recordings with their 95 % intervals; {_counted(len(changes), 'change')}."
    return figure_card(figure, f"history-{place}", one.label, description)


def _groups(groups: Sequence[Group]) -> list[Any]:
    lines = [
        [
            " ".join(part for part in (group.robot, group.arm, group.tool) if part) or "unnamed",
            *(str(count) for count in (group.recordings, group.good, group.usable, group.refuted, group.errors)),
            *(
                significant(value, 4) if np.isfinite(value) else "-"
                for value in (group.mass, group.mass_deviation, group.mass_scatter)
            ),
        ]
        for group in groups
    ]
    header = [
        *("robot, arm, tool", "recordings", "good", "usable", "refuted", "errors"),
        *("mass [kg]", "its deviation [kg]", "scatter [kg]"),
    ]
    note = (
        "Medians of what is good or usable. The deviation is what each recording says of itself, the scatter that from "
        "recording to recording. Much more scatter means a load that changes, or a deviation that is too small."
    )
    return [Table(header, lines, "Robots and tools"), Paragraph(note, "small")]


def _causes(rows: Sequence[Row]) -> list[Any]:
    blocks: list[Any] = []
    causes = Counter(cause for row in rows for cause in set(row["causes"] or ())).most_common()
    for title, counted in (("Causes", causes), ("Errors", counted_errors(rows))):
        if counted:
            lines = [[str(count), text] for text, count in counted]
            blocks += [Table(["recordings", title.lower()], lines[:MOST_LISTED], title, "words"), *_more(lines)]
    refuted = [row for row in rows if row["verdict"] == "refuted"]
    if refuted:
        listed = [f"{row['source']}: {' '.join(row['cause_sentences'] or ()) or row['sentence']}" for row in refuted]
        blocks += [Paragraph("Refuted by their own data:"), BulletList(listed[:MOST_LISTED]), *_more(listed)]
    return blocks or [Paragraph("None: every recording was good or usable.")]


def _more(listed: Sequence[Any]) -> list[Paragraph]:
    more = len(listed) - MOST_LISTED
    return [Paragraph(f"And {more} more, which the table has.")] if more > 0 else []


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"

"""`write_fleet_report`: a fleet's table as one page: loads over time, changes, outliers, causes and errors."""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.fleet.changes import Change, fleet_changes
from iparam.fleet.history import (
    FEWEST,
    HISTORY_COLUMNS,
    Outlier,
    Series,
    dated_series_of,
    fleets_of,
    outliers_of,
    series_of,
)
from iparam.fleet.summary import SUMMARY_COLUMNS, FleetSummary, Group, summarize
from iparam.fleet.table import FleetTable, Rows
from iparam.fleet.task import options_of
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
from iparam.report.content import BulletList, Card, Cards, Heading, Links, Paragraph, Section, Table, figure_card
from iparam.report.rendering import page_environment
from iparam.rounding import NORMAL_95, significant

PAGE = "report.html"
REPORTS = "reports"
"""The folder beside the page that holds the full reports, where they are asked for."""

MOST_FIGURES = 24
"""Histories that are drawn, those with changes first; the table has all."""

MOST_TOLD = 3
"""Changes that are told beside a history."""

MOST_LISTED = 200
"""Rows of a list: refuted recordings, errors, outliers."""

_COLUMNS = [*dict.fromkeys([*SUMMARY_COLUMNS, *HISTORY_COLUMNS, "sentence", "cause_sentences", "settings"])]
_UNFINISHED = Paragraph(
    "The run that makes this table has not come to its end: it goes on, or was cut off. Recordings are missing, or "
    "stand here as an earlier run left them; the same 'iparam fleet identify' with --resume does the rest.",
    "verdict caution",
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # nothing is loaded, and nothing runs


def write_fleet_report(folder: str | os.PathLike[str], output: str | os.PathLike[str] | None = None) -> Path:
    """Write the page of the table in a folder, in one file without scripts that needs no network.

    Args:
        folder: of `iparam fleet identify`.
        output: the page, .html; ``report.html`` in the folder if not given.

    Raises:
        FileFormatError: there is no table.
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    place = Path(folder) / PAGE if output is None else Path(output)
    if place.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a report is an HTML file: give a path that ends in .html, not {str(place)!r}")
    table = FleetTable(folder)
    rows = table.rows(_COLUMNS)
    with plot_style():
        sections = _sections(rows, Path(folder), place)
    if table.unfinished:
        sections[0] = dataclasses.replace(sections[0], blocks=[_UNFINISHED, *sections[0].blocks])
    made = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %z")
    page = page_environment().get_template("page.html")
    subtitle = f"{_counted(len(rows), 'recording')}, {made}. Made by iparam."
    content = {"title": "Fleet", "subtitle": subtitle, "sections": sections, "policy": _POLICY}
    write_atomically(place, page.render(**content, chart_style="", chart_data="", chart_script=""))
    return place


def report_name(source: str) -> str:
    """The file of the full report of a recording, in the folder ``reports``: its name, and what makes it unique."""
    kept = "".join(char if char.isalnum() or char in "._-" else "-" for char in source)[-80:].lstrip(".-")
    return f"{kept}-{hashlib.blake2b(source.encode(), digest_size=4).hexdigest()}.html"


def _sections(rows: Rows, folder: Path, page: Path) -> list[Section]:
    series, histories = series_of(rows), dated_series_of(rows)
    changes: dict[int, list[Change]] = {id(one): [] for one in histories}
    for change in fleet_changes(histories):
        changes[id(change.series)].append(change)
    summary, outliers = summarize(rows), outliers_of(series)
    return [
        _short(rows, summary, sum(map(len, changes.values())), len(outliers)),
        _changes(histories, changes, _told_of_times(rows)),
        _outliers(outliers, series),
        _over_time(histories, changes),
        _groups(summary),
        _causes(rows, summary),
        _full_reports(rows, folder, page),
    ]


def _short(rows: Rows, summary: FleetSummary, changes: int, outliers: int) -> Section:
    """How many of what, and what to know before anything else is believed."""
    counts = {
        name: sum(getattr(group, name) for group in summary.groups) for name in ("good", "usable", "refuted", "errors")
    }
    told = [f"{counts['good']} good", f"{counts['usable']} usable", f"{counts['refuted']} refuted by their own data"]
    whose = _counted(len(summary.groups), "robot with its tool", "robots and tools")
    text = (
        f"{_counted(len(rows), 'recording')} of {whose}: {', '.join(told)}, {counts['errors']} without a result. "
        f"{_counted(changes, 'change')} over time, {_counted(outliers, 'outlier')}."
    )
    blocks: list[Any] = [Paragraph(text)]
    settings = Counter(_options_text(row["settings"]) for row in rows)
    if len(settings) > 1:
        listed = "; ".join(f"{count} with {options}" for options, count in settings.most_common(MOST_TOLD))
        more = f"; and {len(settings) - MOST_TOLD} more" if len(settings) > MOST_TOLD else ""
        blocks.append(Paragraph(f"Not all rows were made with the same options: {listed}{more}.", "verdict caution"))
    if summary.copies:
        blocks.append(Paragraph(_told_of_copies(summary.copies), "verdict caution"))
    return Section("short", "In short", blocks)


def _told_of_copies(copies: Sequence[Sequence[str]]) -> str:
    """Which recordings are the same file under several names."""
    more = sum(len(names) - 1 for names in copies)
    listed = "; ".join(" = ".join(names[:MOST_TOLD]) for names in copies[:MOST_TOLD])
    rest = ", ..." if len(copies) > MOST_TOLD or any(len(names) > MOST_TOLD for names in copies) else ""
    return (
        f"{_counted(more, 'recording has', 'recordings have')} the contents of another, under another name: "
        f"{listed}{rest}. Medians, histories and outliers count each contents once for an arm and tool."
    )


def _options_text(settings: str | None) -> str:
    options = options_of(settings)
    return ", ".join(f"{name} {options[name]}" for name in sorted(options)) or "the usual ones"


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def _groups(summary: FleetSummary) -> Section:
    some_named = any(group.arm or group.tool for group in summary.groups)
    lines = [
        [
            _label(group, some_named),
            *(str(count) for count in (group.recordings, group.good, group.usable, group.refuted, group.errors)),
            _number(group.mass, 4),
            _number(group.mass_deviation, 2),
            _number(group.mass_scatter, 2),
        ]
        for group in summary.groups
    ]
    header = [
        "robot, arm, tool", "recordings", "good", "usable", "refuted", "errors", "mass [kg]", "its deviation [kg]",
        "scatter [kg]",
    ]  # fmt: skip
    note = (
        "Medians of what is good or usable. The deviation is what each recording says of itself, the scatter that from "
        "recording to recording; much more of the latter is a load that changes, or a deviation that is too small."
    )
    return Section("overview", "Robots and tools", [Table(header, lines, "Robots and tools"), Paragraph(note, "small")])


def _label(group: Group, some_named: bool) -> str:
    """Robot, arm and tool in one line; that arm and tool are unknown is said where others' are not."""
    known = " ".join(part for part in (group.robot, group.arm, group.tool) if part) or "unnamed"
    return f"{known} (arm and tool unknown)" if some_named and not (group.arm or group.tool) else known


def _over_time(series: Sequence[Series], changes: Mapping[int, list[Change]]) -> Section:
    drawn = sorted((one for one in series if len(one.times) > 1), key=lambda one: (-len(changes[id(one)]), one.label))
    cards = [_history(one, changes[id(one)], place) for place, one in enumerate(drawn[:MOST_FIGURES])]
    blocks: list[Any] = [Cards(cards)] if cards else [Paragraph("No load has two recordings with times of their own.")]
    if len(drawn) > MOST_FIGURES:
        more = _counted(len(drawn) - MOST_FIGURES, "more is", "more are")
        blocks.append(Paragraph(f"{more} not drawn: those above have most changes."))
    return Section("time", "Loads over time", blocks)


def _history(one: Series, changes: Sequence[Change], place: int) -> Card:
    figure = new_figure(2.9)
    axes = stacked_axes(figure, (1.0, 1.0))
    moments = np.array([datetime.datetime.fromtimestamp(time, datetime.UTC) for time in one.times])
    middle = np.median(one.values[:, 1:], axis=0)
    for shown, column, scale, offset, label in (
        (axes[0], 0, 1.0, 0.0, "mass [kg]"),
        (axes[1], 1 + _moving(one), 1e3, middle[_moving(one)], f"CoM {'xyz'[_moving(one)]} - median [mm]"),
    ):
        half = NORMAL_95 * one.deviations[:, column]
        values = one.values[:, column] - offset
        shown.errorbar(moments, scale * values, scale * half, fmt="o", color=BLUE, ecolor=GREY, markersize=2.5)
        side_label(shown, label)
        for change in changes:
            if change.kind == "step":
                between = moments[change.first] + (moments[change.last] - moments[change.first]) / 2
                shown.axvline(between, color=VERMILLION, linewidth=1.2)
    date_ticks(axes[-1].xaxis)
    first = changes[:MOST_TOLD]
    told = " ".join(f"{change.sentence[:1].upper()}{change.sentence[1:]}.".replace("?.", "?") for change in first)
    rest = len(changes) - MOST_TOLD
    more = f" {_counted(rest, 'more is', 'more are')} in the list of changes." if rest > 0 else ""
    description = f"{len(one.times)} recordings with their 95 % intervals. {told}{more}".strip()
    return figure_card(figure, f"history-{place}", one.label, description)


def _moving(one: Series) -> int:
    """The axis along which the centre of mass moves most, in its scatter."""
    spread = np.ptp(one.values[:, 1:], axis=0) / one.deviations[:, 1:].mean(axis=0)
    return int(np.argmax(spread))


def _told_of_times(rows: Rows) -> list[Paragraph]:
    """What is to be known of times and arms before a history is believed."""
    told = []
    undated = sum(row["recorded_from"] == "store" and row["error"] is None for row in rows)
    if undated:
        told.append(
            f"{_counted(undated, 'recording has', 'recordings have')} no time but that of the file, which is when it "
            "was copied last: they are in no history. A layout with {time} names it."
        )
    if any(row["error"] is None and not row["arm"] for row in rows):
        told.append(
            "Not every recording says which arm it is of: those of one type and tool count as one arm's. A layout with "
            "{arm} tells them apart."
        )
    return [Paragraph(text, "verdict caution") for text in told]


def _changes(series: Sequence[Series], changes: Mapping[int, list[Change]], told: list[Paragraph]) -> Section:
    lines = [
        [one.label, change.kind, change.sentence, f"{one.sources[change.first]} … {one.sources[change.last]}"]
        for one in series
        for change in changes[id(one)]
    ]
    long = sum(len(one.times) >= FEWEST for one in series)
    if not long:
        text = f"There is nothing to compare: no load has {FEWEST} good or usable recordings with a time of their own."
        return Section("changes", "Changes", [*told, Paragraph(text)])
    if not lines:
        of = _counted(long, "history", "histories")
        text = f"In {of} of {FEWEST} recordings or more, no load and no sensor changed beyond its scatter."
        return Section("changes", "Changes", [*told, Paragraph(text)])
    table = Table(["robot, arm, tool", "kind", "what", "recordings"], lines[:MOST_LISTED], "Changes", "words")
    return Section("changes", "Changes", [*told, table, *_more(lines)])


def _outliers(outliers: Sequence[Outlier], series: Sequence[Series]) -> Section:
    lines = [[outlier.source, outlier.label, outlier.sentence] for outlier in outliers]
    if not lines:
        compared = sum(len(one.times) for members in fleets_of(series).values() for one in members)
        text = (
            f"Of {compared} good or usable recordings none differs from the others of its robot and tool."
            if compared
            else f"There is nothing to compare: no robot and tool has {FEWEST} good or usable recordings."
        )
        return Section("outliers", "Outliers", [Paragraph(text)])
    table = Table(["recording", "robot, arm, tool", "what"], lines[:MOST_LISTED], "Outliers", "words")
    return Section("outliers", "Outliers against the fleet", [table, *_more(lines)])


def _causes(rows: Rows, summary: FleetSummary) -> Section:
    blocks: list[Any] = []
    for title, counted, what in (("Causes", summary.causes, "cause"), ("Errors", summary.errors, "error")):
        if counted:
            lines = [[str(count), f"e.g. {text}" if what == "error" and count > 1 else text] for text, count in counted]
            table = Table(["recordings", what], lines[:MOST_LISTED], f"{title} by frequency", "words")
            blocks += [Heading(title), table, *_more(lines)]
    refuted = [row for row in rows if row["verdict"] == "refuted"]
    if refuted:
        listed = [f"{row['source']}: {' '.join(row['cause_sentences'] or ()) or row['sentence']}" for row in refuted]
        blocks += [Heading("Refuted by their own data"), BulletList(listed[:MOST_LISTED]), *_more(listed)]
    return Section("causes", "Causes and errors", blocks or [Paragraph("None: every recording was good or usable.")])


def _full_reports(rows: Rows, folder: Path, page: Path) -> Section:
    reports = folder / REPORTS
    there = {path.name for path in reports.glob("*.html")}
    made = {row["source"]: name for row in rows if there and (name := report_name(row["source"])) in there}
    text = (
        "The full report of any recording is made on demand, with the pattern and the options that the table was made "
        "with: iparam fleet report DIR --from PATTERN --full RECORDING"
    )
    links = [
        (source, os.path.relpath(reports / name, page.absolute().parent).replace(os.sep, "/"))
        for source, name in sorted(made.items())
    ]
    return Section("full", "Full reports", [Paragraph(text), *([Links(links)] if links else [])])


def _more(listed: Sequence[Any]) -> list[Paragraph]:
    more = len(listed) - MOST_LISTED
    return [Paragraph(f"And {more} more, which the table has.")] if more > 0 else []


def _number(value: float, digits: int) -> str:
    return "-" if not np.isfinite(value) else significant(value, digits)

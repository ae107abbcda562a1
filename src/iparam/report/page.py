"""`write_report`: everything about an identification on one page, in one file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import os

from iparam.charts.chart import chart_document, chart_script, chart_style
from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.plotting.matplotlib_backend import plot_style, require_matplotlib
from iparam.report.content import BulletList, Cards, Missing, Section
from iparam.report.context import ReportContext
from iparam.report.input import ReportInput
from iparam.report.rendering import page_environment
from iparam.report.sections.convergence import convergence_section
from iparam.report.sections.excitation import excitation_section
from iparam.report.sections.load import load_section
from iparam.report.sections.methods import methods_section
from iparam.report.sections.motion import motion_section
from iparam.report.sections.provenance import provenance_section
from iparam.report.sections.summary import summary_section
from iparam.report.sections.wrench import wrench_section

_SECTIONS = (
    summary_section,
    motion_section,
    excitation_section,
    wrench_section,
    convergence_section,
    load_section,
    methods_section,
    provenance_section,
)


def require_plot_extra() -> None:
    """Check that a report can be made, before the work that leads to one.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    require_matplotlib()
    page_environment()


def write_report(path: str | os.PathLike[str], given: ReportInput) -> None:
    """Write the report as one HTML file, replacing what is there in one step.

    It needs no network, and runs no script but its own.

    Args:
        path: of the file: .html.
        given: the estimate, and what else is known.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    if not os.fspath(path).lower().endswith((".html", ".htm")):
        raise InputError(f"a report is an HTML file: give a path that ends in .html, not {os.fspath(path)!r}")
    write_atomically(path, report_page(given))


def report_page(given: ReportInput) -> str:
    """The page as text."""
    template, context = page_environment().get_template("page.html"), ReportContext(given)
    with plot_style():
        parts = [make(context) for make in _SECTIONS]
    sections = [part for part in parts if isinstance(part, Section)]
    missing = [f"{part.title}: {part.needed}." for part in parts if isinstance(part, Missing)]
    if missing:
        sections.insert(len(sections) - 1, Section("left-out", "Left out", [BulletList(missing, "missing")]))
    cards = [
        card for section in sections for block in section.blocks if isinstance(block, Cards) for card in block.cards
    ]
    charts = [chart for card in cards for chart in card.charts]
    script = chart_script()
    return template.render(
        title=given.title,
        subtitle=_subtitle(given),
        sections=sections,
        policy=_policy(script, bool(given.scene)),
        chart_style=chart_style(),
        chart_data=chart_document(charts),
        chart_script=script,
    )


def _policy(script: str, scene: bool) -> str:
    """What the page may load and run: nothing from anywhere, and no script but its own, whatever a file had in it.

    The scene in its frame is under the same policy, and makes scripts of its own from what it holds.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = "'unsafe-inline' 'unsafe-eval' blob: data:" if scene else f"'sha256-{digest}'"
    rest = "; font-src data:; connect-src data: blob:; worker-src blob: data:; frame-src 'self'" if scene else ""
    images = "data: blob:" if scene else "data:"
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src {images}{rest}"


def _subtitle(given: ReportInput) -> str:
    arm = f"{given.robot.name}, " if given.robot is not None else ""
    return f"{arm}method {given.estimate.method}, {given.estimate.samples} samples. Made by iparam."

"""`write_report`: everything about an identification on one page, in one file that needs nothing else."""

from __future__ import annotations

import os

from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.plotting.matplotlib_backend import plot_style, require_matplotlib
from iparam.report.content import BulletList, Missing, Section
from iparam.report.context import ReportContext
from iparam.report.input import ReportInput
from iparam.report.rendering import page_environment
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
    load_section,
    methods_section,
    provenance_section,
)


_STILL_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""Of a page of texts and pictures: nothing is loaded, and nothing runs, whatever a file had in it."""

_SCENE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; connect-src data: blob:; worker-src blob: data:; frame-src 'self'"
)
"""Of a page with a scene in a frame, which is under the same policy and makes scripts of its own from what it holds:
nothing is loaded from anywhere."""


def require_plot_extra() -> None:
    """Check that a report can be made, before the work that leads to one.

    Raises:
        MissingExtraError: matplotlib or jinja2 is not installed.
    """
    require_matplotlib()
    page_environment()


def write_report(path: str | os.PathLike[str], given: ReportInput) -> None:
    """Write the report as one HTML file, replacing what is there in one step.

    It needs no network, and runs no script but that of a scene in it.

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
    return template.render(
        title=given.title,
        subtitle=_subtitle(given),
        sections=sections,
        policy=_SCENE_POLICY if given.scene else _STILL_POLICY,
    )


def _subtitle(given: ReportInput) -> str:
    arm = f"{given.robot.name}, " if given.robot is not None else ""
    return f"{arm}method {given.estimate.method}, {given.estimate.samples} samples. Made by iparam."

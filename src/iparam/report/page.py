"""`write_report`: everything about an identification on one page, in one file that needs nothing else."""

from __future__ import annotations

import os

from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.report.context import ReportContext
from iparam.report.figures.matplotlib_backend import plot_style
from iparam.report.input import ReportInput
from iparam.report.markup import Missing, Section, bullet_list, text
from iparam.report.sections.convergence import convergence_section
from iparam.report.sections.excitation import excitation_section
from iparam.report.sections.load import load_section
from iparam.report.sections.methods import methods_section
from iparam.report.sections.motion import motion_section
from iparam.report.sections.provenance import provenance_section
from iparam.report.sections.summary import summary_section
from iparam.report.sections.wrench import wrench_section
from iparam.report.stylesheet import STYLESHEET

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

# Nothing may be loaded or run, whatever a file had in it.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def write_report(path: str | os.PathLike[str], given: ReportInput) -> None:
    """Write the report as one HTML file without scripts that needs no network, replacing what is there in one step.

    Args:
        path: of the file: .html.
        given: the estimate, and what else is known.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not os.fspath(path).lower().endswith((".html", ".htm")):
        raise InputError(f"a report is an HTML file: give a path that ends in .html, not {os.fspath(path)!r}")
    write_atomically(path, report_page(given))


def report_page(given: ReportInput) -> str:
    """The page as text."""
    context = ReportContext(given)
    with plot_style():
        parts = [make(context) for make in _SECTIONS]
    sections = [part for part in parts if isinstance(part, Section)]
    missing = [f"{part.title}: {part.needed}." for part in parts if isinstance(part, Missing)]
    if missing:
        left_out = Section("left-out", "Left out", bullet_list(missing, "missing"))
        sections.insert(len(sections) - 1, left_out)
    links = "".join(f'<li><a href="#{section.slug}">{text(section.title)}</a></li>' for section in sections)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{text(given.title)}</title>",
            '<link rel="icon" href="data:,">',
            f"<style>{STYLESHEET}</style>",
            "</head>",
            "<body>",
            f"<header><h1>{text(given.title)}</h1><p>{text(_subtitle(given))}</p></header>",
            f'<nav aria-label="Sections"><ul>{links}</ul></nav>',
            "<main>",
            *(section.markup for section in sections),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _subtitle(given: ReportInput) -> str:
    arm = f"{given.robot.name}, " if given.robot is not None else ""
    return f"{arm}method {given.estimate.method}, {given.estimate.samples} samples. Made by iparam."

"""`write_view`: a view as one file that opens from disk: the scene with its slider, and the curves beside it."""

from __future__ import annotations

import html
import os
import re
from importlib.resources import files

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.files.atomic import write_atomically
from iparam.plotting.matplotlib_backend import LEFT, svg_text
from iparam.plotting.time_plots import RIGHT, WIDTH, time_figure
from iparam.viewer.panel import load_rows
from iparam.viewer.view import View
from iparam.viewer.viser_backend import scene_page

MOST_FRAMES, FRAMES_PER_SECOND = 400, 15.0
"""Poses that a file holds, and how many of them a second."""

MOST_TRIANGLES = 12_000
"""Of the arm in a file."""

MOST_BYTES = 3_000_000
"""Size of a file."""


def write_view(path: str | os.PathLike[str], view: View) -> None:
    """Write a complete view as one HTML file, replacing what is there in one step.

    Raises:
        MissingExtraError: viser is not installed.
        InputError: the path does not end in .html.
    """
    if not os.fspath(path).lower().endswith((".html", ".htm")):
        raise InputError(f"a view is an HTML file: give a path that ends in .html, not {os.fspath(path)!r}")
    write_atomically(path, view_page(view))


def view_page(view: View) -> str:
    """The page as text: nothing is loaded from anywhere, and its policy lets nothing be."""
    scene, notes = scene_page(view, frame_times(view.duration), MOST_TRIANGLES)
    parts = {
        "TITLE": html.escape(view.title),
        "SCENE": html.escape(scene, quote=True),
        "NOTES": "".join(f"<li>{html.escape(note)}.</li>" for note in (*notes, *further_notes(view))),
        "LOADS": _loads(view),
        "CURVES": _curves(view),
    }
    page = files("iparam.viewer").joinpath("page.html").read_text(encoding="utf-8")
    return re.sub("@([A-Z]+)@", lambda place: parts[place[1]], page)  # at once: a title may hold such a name, too


def embedded_scene(view: View) -> str:
    """The scene of a complete view with its slider, an HTML document for a frame of a page."""
    return scene_page(view, frame_times(view.duration), MOST_TRIANGLES)[0]


def frame_times(duration: float) -> FloatArray:
    """(F,) times of the poses in a file, from 0 to the end [s]."""
    count = int(np.clip(round(duration * FRAMES_PER_SECOND), 0, MOST_FRAMES - 1)) + 1
    return np.linspace(0.0, duration, count) if count > 1 else np.zeros(1)


def further_notes(view: View) -> tuple[str, ...]:
    """What a page that is served shows as readings: where anything comes nearest, and how long an arrow is."""
    notes = []
    margins = view.margins
    if margins is not None:
        names = [pair for group in margins.scene.distances for pair in group.pairs]
        one, other = names[int(margins.column[margins.least])]
        least, moment = 1e3 * margins.distance[margins.least], margins.time[margins.least]
        notes.append(f"nearest: {one} and {other}, {least:.0f} mm at {moment:.2f} s")
    if view.wrench is not None:
        force, torque = (0.1 / scale for scale in view.wrench.scales)
        notes.append(
            "arrows: blue and purple the measured force and torque, orange the predicted ones; "
            f"100 mm are {force:.3g} N or {torque:.3g} N m"
        )
    return tuple(notes)


def _curves(view: View) -> str:
    """The curves in one picture, with a line that the script of the page moves to the time of the slider."""
    charts = [chart for panels in view.charts.values() for chart in panels]
    if not charts:
        return ""
    first, last = min(chart.time[0] for chart in charts), max(chart.time[-1] for chart in charts)
    left = 100.0 * LEFT / WIDTH
    now = f'<i data-first="{first:.6g}" data-last="{last:.6g}" data-left="{left:.4g}" data-right="{100.0 * RIGHT:.4g}">'
    return f'<div id="curves">{svg_text(time_figure(charts))}{now}</i></div>'


def _loads(view: View) -> str:
    if not view.loads:
        return ""
    head, *rows = load_rows(view)
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"

"""Colours that people with any colour vision tell apart (Okabe & Ito 2008), and line styles that differ as well."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any

from iparam.report.markup import text

INK = "#1a1a1a"
GREY = "#6b6b6b"
PALE = "#d9d9d9"
BLUE = "#0072b2"
ORANGE = "#e69f00"
GREEN = "#009e73"
VERMILLION = "#d55e00"
SKY = "#56b4e9"
PURPLE = "#cc79a7"

AXES = (VERMILLION, GREEN, BLUE)
"""Of x, y and z."""

STYLES = ("-", "--", ":")
"""Line styles of what AXES or other triples colour."""

MARKERS = ("o", "s", "^")
"""Markers of the same."""


_FONT = re.compile(r"font: ([^;\"]*?)'DejaVu Sans'[^;\"]*")
_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_STYLE = re.compile(r"\s*<style type=\"text/css\">.*?</style>", re.DOTALL)
_COMMENT = re.compile(r"\s*<!--.*?-->", re.DOTALL)
_ID = re.compile(r'\sid="([^"]*)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^")]*)')
_OPENING = re.compile(r"<svg[^>]*?(viewBox=\"[^\"]*\")[^>]*>", re.DOTALL)


def figure_card(figure: Any, slug: str, title: str, description: str) -> str:
    """A figure with its caption as HTML.

    Args:
        figure: a ``matplotlib.figure.Figure``.
        slug: unique on the page.
        title: a few words, above the figure.
        description: what it shows, one or two sentences; also what is read aloud.
    """
    return (
        f'<figure class="card" id="{text(slug)}"><figcaption><b>{text(title)}</b> {text(description)}</figcaption>'
        f"{svg_of(figure, slug, title, description)}</figure>"
    )


def svg_of(figure: Any, slug: str, title: str, description: str) -> str:
    """The SVG element of a figure, as wide as its place."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the browser has its own fonts
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    drawing = _HEAD.sub("", buffer.getvalue(), count=1)
    for clutter in (_COMMENT, _METADATA, _STYLE):
        drawing = clutter.sub("", drawing)
    used = {match[2] for match in _REFERENCE.finditer(drawing)}
    drawing = _ID.sub(lambda match: f' id="{slug}-{match[1]}"' if match[1] in used else "", drawing)
    drawing = _REFERENCE.sub(lambda match: f"{match[1]}{slug}-{match[2]}", drawing)
    drawing = _FONT.sub(r"font: \1'DejaVu Sans', Verdana, sans-serif", drawing)
    label = f'role="img" aria-label="{text(f"{title}: {description}")}"'
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    drawing = _OPENING.sub(
        lambda match: f"<svg {names} {match[1]} {label}><title>{text(title)}</title>", drawing, count=1
    )
    return drawing.strip()

"""The one place that imports matplotlib: figures without its global state, their style, and what they are as SVG."""

from __future__ import annotations

import hashlib
import io
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from iparam.errors import MissingExtraError

# Colours that people with any colour vision tell apart (Okabe & Ito 2008).
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

PALE_AXES = ("#f0b48c", "#8fd3bf", "#8cc0de")
"""The same for what stands behind another curve."""

MANY = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, GREY)
"""Of what comes in larger numbers, as joints."""

WIDTH = 4.4
"""Of the figures of pages: at this size their text is readable on a phone and on a desk [inch]."""

LEFT = 0.79
"""Where the axes of time plots begin: room for six digits and a label [inch]."""

_LABEL = 0.56  # from the axes to their label [inch]

_STYLE = {
    "svg.fonttype": "none",  # text stays text: it can be read aloud, searched and copied
    "svg.hashsalt": "iparam",  # the same page from the same data
    "text.parse_math": False,  # names from files are not formulas
    "font.family": ["DejaVu Sans"],
    "font.size": 9.0,
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.columnspacing": 1.2,
    "legend.borderpad": 0.1,
    "lines.linewidth": 1.3,
}

_FONT = re.compile(r"font: ([^;\"]*?)'DejaVu Sans'[^;\"]*")
_CLUTTER = re.compile(r"\s*(?:<!--.*?-->|<metadata>.*?</metadata>|<style type=\"text/css\">.*?</style>)", re.DOTALL)
_ID = re.compile(r'\sid="([^"]*)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^")]*)')
_DRAWING = re.compile(r"<svg[^>]*?viewBox=\"([^\"]*)\"[^>]*>(.*)</svg>", re.DOTALL)


def require_matplotlib() -> Any:
    """The module `matplotlib`.

    Raises:
        MissingExtraError: it is not installed.
    """
    log = logging.getLogger("matplotlib")
    level = log.level
    if level == logging.NOTSET:
        log.setLevel(logging.ERROR)  # where no home can be written it warns of a folder, which concerns no user of ours
    try:
        import matplotlib
    except ImportError:
        raise MissingExtraError("matplotlib", "plot") from None
    finally:
        log.setLevel(level)
    return matplotlib


@contextmanager
def plot_style() -> Iterator[None]:
    """Inside it figures have the style of the report; what matplotlib was set to before comes back at the end."""
    matplotlib = require_matplotlib()
    with matplotlib.rc_context(_STYLE):
        yield


def new_figure(height: float, width: float = WIDTH) -> Any:
    """An empty ``matplotlib.figure.Figure`` of width x height [inch] that no global state knows of.

    A notebook shows it as SVG, whether or not ``matplotlib.pyplot`` was imported there.
    """
    return _figure_class()(figsize=(width, height))


@cache
def _figure_class() -> Any:
    require_matplotlib()
    from matplotlib.figure import Figure

    class NotebookFigure(Figure):
        """A figure that a notebook shows by itself."""

        def _repr_svg_(self) -> str:
            return svg_text(self)

    NotebookFigure.__qualname__ = "NotebookFigure"  # where `__getattr__` has it, for pickle
    return NotebookFigure


def __getattr__(name: str) -> Any:
    if name == "NotebookFigure":
        return _figure_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def stacked_axes(figure: Any, ratios: tuple[float, ...], top: float = 0.06, right: float = 0.975) -> list[Any]:
    """Axes one above the other that share the time axis.

    Args:
        figure: from `new_figure`.
        ratios: of their heights.
        top: margin, for a legend [inch].
        right: where they end, as a share of the width.
    """
    width, height = figure.get_size_inches()
    grid = {"left": LEFT / width, "right": right, "top": 1.0 - top / height, "bottom": 0.42 / height, "hspace": 0.14}
    found = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios, gridspec_kw=grid, squeeze=False)
    return list(found[:, 0])


def side_label(axes: Any, shown: str) -> None:
    """Label the vertical axis of one of `stacked_axes`, in line with those of its neighbours."""
    axes.set_ylabel(shown)
    width = axes.get_position().width * axes.figure.get_figwidth()
    axes.yaxis.set_label_coords(-_LABEL / width, 0.5)


def plain_log_ticks(axis: Any) -> None:
    """Give a logarithmic ``axes.xaxis`` or ``axes.yaxis`` ticks that are numbers and not formulas."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


LEAST_SPAN = 1.0 / 24.0
"""Of an axis of dates: an hour [days]."""


def date_ticks(axis: Any) -> None:
    """Give an ``axes.xaxis`` of dates a few ticks that leave room for each other."""
    from matplotlib import dates

    kinds: Any = dates  # typed in parts only
    first, last = axis.get_view_interval()
    room = 0.5 * (LEAST_SPAN - (last - first))
    if room > 0.0:  # of moments that are all but one, the locator would make fractions of seconds, and say so
        axis.axes.set_xlim(first - room, last + room)
    locator = kinds.AutoDateLocator(minticks=2, maxticks=6)
    axis.set_major_locator(locator)
    axis.set_major_formatter(kinds.ConciseDateFormatter(locator))


def inline_svg(figure: Any, prefix: str = "") -> tuple[str, str]:
    """The view box of a figure's SVG and what is in it: no ids that others have, and no fonts that must be loaded.

    Args:
        figure: a ``matplotlib.figure.Figure``.
        prefix: of its ids, unique on the page; "" makes one of its contents.
    """
    buffer = io.StringIO()
    with plot_style(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # the browser has its own fonts
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Type": None, "Format": None})
    _, view_box, shapes, _ = _DRAWING.split(buffer.getvalue(), maxsplit=1)
    shapes = _CLUTTER.sub("", shapes)
    prefix = prefix or f"f{hashlib.blake2b(shapes.encode(), digest_size=6).hexdigest()}"
    used = {match[2] for match in _REFERENCE.finditer(shapes)}
    shapes = _ID.sub(lambda match: f' id="{prefix}-{match[1]}"' if match[1] in used else "", shapes)
    shapes = _REFERENCE.sub(lambda match: f"{match[1]}{prefix}-{match[2]}", shapes)
    shapes = _FONT.sub(r"font: \1'DejaVu Sans', Verdana, sans-serif", shapes)
    return view_box, shapes


def svg_text(figure: Any) -> str:
    """A figure as one SVG element of its own size, on white whatever the page is on."""
    view_box, shapes = inline_svg(figure)
    width, height = (96.0 * size for size in figure.get_size_inches())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{view_box}" '
        f'width="{width:.0f}" height="{height:.0f}" style="background:#fff;max-width:100%;height:auto">{shapes}</svg>'
    )

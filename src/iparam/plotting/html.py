"""What a notebook shows of a value: a title, a table, remarks and a plot, in the notebook's own style.

Names and sentences may come from anybody's files: all texts are escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Any

from iparam.errors import MissingExtraError
from iparam.plotting.matplotlib_backend import svg_text
from iparam.printable import printable

_LEFT = ' style="text-align:left"'


def shown(text: str) -> str:
    """A text as HTML shows it."""
    return escape(printable(text))


def html_table(rows: Iterable[Sequence[str]], header: Sequence[str] = ()) -> str:
    """A table of plain texts, its first column the names of the rows.

    Args:
        rows: each as long as the header.
        header: () for none.
    """
    head = "".join(f"<th{_LEFT}>{shown(name)}</th>" for name in header)
    body = "".join(
        f"<tr><th{_LEFT}>{shown(name)}</th>{''.join(f'<td{_LEFT}>{shown(cell)}</td>' for cell in cells)}</tr>"
        for name, *cells in rows
    )
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def html_fragment(title: str, *parts: str, remarks: Sequence[str] = (), plot: Callable[[], Any] | None = None) -> str:
    """A title, then parts that are HTML already, remarks as a list, and a figure where matplotlib is installed.

    Args:
        title: plain text.
        parts: HTML.
        remarks: plain texts.
        plot: draws a ``matplotlib.figure.Figure``.
    """
    noted = f"<ul>{''.join(f'<li>{shown(remark)}</li>' for remark in remarks)}</ul>" if remarks else ""
    return f"<div><p><strong>{shown(title)}</strong></p>{''.join(parts)}{noted}{_drawn(plot)}</div>"


def _drawn(plot: Callable[[], Any] | None) -> str:
    if plot is None:
        return ""
    try:
        return svg_text(plot())
    except MissingExtraError:
        return ""

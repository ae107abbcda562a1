"""HTML from values: every text that comes from a file passes `text`, and nothing else may write one into the page."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LONGEST = 2000
"""Characters of a text that are shown; a longer one is cut."""


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes:
        slug: its anchor.
        title: its heading.
        body: its HTML.
    """

    slug: str
    title: str
    body: str

    @property
    def markup(self) -> str:
        """The whole section as HTML."""
        return f'<section id="{text(self.slug)}">\n<h2>{text(self.title)}</h2>\n{self.body}\n</section>'


@dataclass(frozen=True)
class Missing:
    """A part that had to be left out.

    Attributes:
        title: what it would have been.
        needed: what to add, one sentence.
    """

    title: str
    needed: str


def text(value: object) -> str:
    """A value as HTML text, safe in elements and in quoted attributes; control characters are shown as spaces."""
    return html.escape(plain(value), quote=True)


def plain(value: object, longest: int = LONGEST) -> str:
    """A value as one line of text without control characters, cut where it is too long."""
    shown = str(value)
    if len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    return "".join(" " if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") else char for char in shown)


def paragraph(sentence: str, kind: str = "") -> str:
    """A paragraph of plain text, with a CSS class if given."""
    return f'<p class="{text(kind)}">{text(sentence)}</p>' if kind else f"<p>{text(sentence)}</p>"


def bullet_list(sentences: Iterable[str], kind: str = "") -> str:
    """A list of plain texts."""
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f'<ul class="{text(kind)}">{items}</ul>'


def table(header: Sequence[str], rows: Iterable[Sequence[str]], label: str, kind: str = "") -> str:
    """A table of plain texts: the first column names the row, the others are numbers. It scrolls where it is too wide.

    Args:
        header: of the columns; () for none.
        rows: each as long as the header.
        label: what the table shows, for readers who do not see it.
        kind: a CSS class: "words" aligns all columns to the left.
    """
    head = "".join(f'<th scope="col">{text(_unbroken(name))}</th>' for name in header)
    lines = []
    for first, *rest in rows:
        lines.append(f'<tr><th scope="row">{text(first)}</th>{"".join(f"<td>{text(cell)}</td>" for cell in rest)}</tr>')
    top = f"<thead><tr>{head}</tr></thead>" if header else ""
    return (
        f'<div class="scroll" role="region" aria-label="{text(label)}" tabindex="0"><table class="{text(kind)}">{top}'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _unbroken(name: str) -> str:
    """A heading whose unit stays in one line."""
    return re.sub(r"\[[^\]]*\]| %", lambda unit: unit[0].replace(" ", "\N{NO-BREAK SPACE}"), name)


def beside(left: str, right: str) -> str:
    """Two pieces of HTML beside each other where there is room, else one below the other."""
    return f'<div class="beside"><div>{left}</div><div>{right}</div></div>'


def cards(figures: Iterable[str]) -> str:
    """Figures side by side, as many as the width allows."""
    return f'<div class="cards">{"".join(figures)}</div>'

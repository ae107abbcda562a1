"""What a section of the page is made of, as values: `templates/blocks.html` has a macro for each kind of block."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iparam.estimation.assessment.verdict import Verdict
from iparam.plotting.matplotlib_backend import inline_svg

_UNIT = re.compile(r"\[[^\]]*\]| %")


@dataclass(frozen=True)
class Headline:
    """What to make of the estimate, and the numbers to see first: name and value of each."""

    verdict: Verdict
    tiles: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Heading:
    """The heading of what follows in a section."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """Sentences, with a CSS class if given."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class BulletList:
    """A list of sentences, with a CSS class if given."""

    items: Sequence[str]
    style: str = ""


@dataclass(frozen=True)
class Table:
    """A table of plain texts: the first column names the row, the others are numbers.

    Attributes:
        header: of the columns; () for none.
        rows: each as long as the header.
        label: what the table shows, for readers who do not see it.
        style: a CSS class: "words" aligns all columns to the left.
        notes: what to know about it, beside it where there is room; "" for nothing.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    label: str
    style: str = ""
    notes: str = ""

    @property
    def columns(self) -> list[str]:
        """The header with units that stay in one line."""
        return [_UNIT.sub(lambda unit: unit[0].replace(" ", "\N{NO-BREAK SPACE}"), name) for name in self.header]


@dataclass(frozen=True)
class Card:
    """A figure with its caption.

    Attributes:
        slug: unique on the page.
        title: a few words, above the figure.
        description: what it shows, one or two sentences; also what is read aloud.
        view_box: of the SVG element.
        shapes: what is in it, as SVG.
    """

    slug: str
    title: str
    description: str
    view_box: str
    shapes: str


def figure_card(figure: Any, slug: str, title: str, description: str) -> Card:
    """A figure with its caption; its SVG fills its place.

    Args:
        figure: a ``matplotlib.figure.Figure``.
        slug, title, description: of the `Card`.
    """
    return Card(slug, title, description, *inline_svg(figure, slug))


@dataclass(frozen=True)
class Cards:
    """Figures side by side, as many as the width allows."""

    cards: Sequence[Card]


@dataclass(frozen=True)
class Scene:
    """A scene to turn and to play, for pages that run scripts.

    Attributes:
        document: HTML that needs nothing else.
        title: what it shows, for readers who do not see it.
    """

    document: str
    title: str


@dataclass(frozen=True)
class Links:
    """Other pages: the text and the relative address of each."""

    items: Sequence[tuple[str, str]]


Block = Headline | Heading | Paragraph | BulletList | Table | Cards | Scene | Links


@dataclass(frozen=True)
class Section:
    """A part of the page: its anchor, its heading, and what it shows from top to bottom."""

    slug: str
    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Missing:
    """A part that had to be left out: what it would have been, and what to add, one sentence."""

    title: str
    needed: str


def missing_wrench(title: str) -> Missing:
    """A part that needs a run with a wrench."""
    return Missing(title, "add the recording with the joint angles q and the wrench")

"""The one place that imports Jinja2: the templates of the page, filled with texts that may be anybody's."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from iparam.errors import MissingExtraError

if TYPE_CHECKING:
    from jinja2 import Environment

LONGEST = 2000
"""Characters of a text that are shown; a longer one is cut."""


def page_environment() -> Environment:
    """The templates: whatever an expression in them gives passes `plain`, is escaped, and must exist.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("jinja2", "plot") from None
    return Environment(
        loader=PackageLoader("iparam.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if hasattr(value, "__html__") else plain(value),  # markup is done already
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def plain(value: object, longest: int = LONGEST) -> str:
    """A value as one line of text without control characters, cut where it is too long."""
    shown = str(value)
    if len(shown) > longest:
        shown = shown[: longest - 1] + "…"
    return "".join(" " if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") else char for char in shown)

"""Text from files, messages and arguments, as a terminal or a page in Markdown may show it."""

from __future__ import annotations

_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_{}[]<>#|&~!$:@"})


def printable(text: str) -> str:
    r"""``text`` on one line, with every character that is not visible written as its escape: ``\x1b``, ``\u202e``.

    Names and comments in a file may be anybody's. A terminal obeys control characters and escape sequences (C0, C1 and
    DEL), a line end makes one message look like two, and marks for the direction of writing reorder what is shown. What
    cannot be encoded at all, such as a file's name that is not UTF-8, is escaped as well.
    """
    if text.isprintable():
        return text
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode("ascii") for mark in text)


def plain_markdown(text: str) -> str:
    """``text`` so that Markdown shows it as it is: a name from a file makes nothing bold, no link and no picture."""
    return printable(text).translate(_MARKUP)

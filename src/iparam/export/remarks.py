"""What an exported file says about itself: frame, point, units, warnings; and how that becomes a comment.

Warnings come from a file, so they are untrusted: they must not end a comment and become part of a robot's program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from iparam.export.result import IdentifiedLoad
from iparam.export.static_load import StaticLoad

MAX_LENGTH = 300


def remarks(load: IdentifiedLoad | StaticLoad, *lines: str) -> list[str]:
    """The lines of a file's comment: ``lines`` of the exporter, then the load's warnings, each one line."""
    every = [
        f"Load identified by iparam, in the frame {load.frame}.",
        *lines,
        *(f"Warning: {text}" for text in load.warnings),
        *(f"NOT PHYSICALLY CONSISTENT, exported on demand: {text}" for text in load.violations),
    ]
    return [one_line(text) for text in every]


def one_line(text: str) -> str:
    """``text`` in printable characters on one line, not too long."""
    flat = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return flat if len(flat) <= MAX_LENGTH else f"{flat[:MAX_LENGTH]}..."


def xml_comment(lines: Iterable[str], indent: str = "") -> str:
    """An XML comment, which must not hold two hyphens in a row; no newline at its end."""
    body = "".join(f"{indent}  {re.sub('-(?=-)', '- ', line)}\n" for line in lines)
    return f"{indent}<!--\n{body}{indent}-->"


def line_comment(lines: Iterable[str], marker: str, ascii_only: bool = False) -> str:
    """A comment of whole lines that each begin with ``marker``; a newline at its end."""
    text = "".join(f"{marker} {line}\n" for line in lines)
    return text.encode("ascii", "replace").decode("ascii") if ascii_only else text

"""Texts and names that mean harm to a terminal, a shell or a template."""

from __future__ import annotations

HOSTILE = "\x1b]0;owned\x07\x1b[31m\x9b32m\u202e\x7f\r\x08"
"""Renames the terminal's window, turns it red, turns the direction of writing and rubs out."""

HOSTILE_NAMES = (
    "escape\x1b]0;owned\x07\x1b[2J",
    "line\nend",
    "c1\x9b31m",
    "bytes\udcff\udc9b",
    "turned\u202ed\u2066e",
    "-x",
    "--output",
    " ",
    "'; touch owned; '",
    "%s%n{0}[red]",
    "*?[a]",
    "n" * 200,
)
"""Names of files, without a suffix, that are allowed and awkward."""

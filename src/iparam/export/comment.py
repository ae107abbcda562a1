"""What an exported file says about itself (frame, point, units, remarks), how that becomes a comment, and numbers
as text that every consumer reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from iparam.export.load import IdentifiedLoad, StaticLoad
from iparam.remarks import Severity


def decimal(value: float) -> str:
    """``value`` with every digit and always a decimal point.

    YAML takes ``1e-05`` for a string and ``1`` for an integer, which is another type to ROS 2; ``1.0e-05`` is a number
    to everyone.
    """
    text = repr(float(value) + 0.0)
    mantissa, exponent_sign, exponent = text.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}{exponent_sign}{exponent}"


def plain_decimal(value: float) -> str:
    """``value`` to at most 12 decimals and never with an exponent, for the languages of robot controllers."""
    text = np.format_float_positional(float(value), unique=True, precision=12, trim="0")
    return text.removeprefix("-") if not text.strip("-0.") else text


def decimals(values: Iterable[float], separator: str = " ") -> str:
    """`decimal` of each, joined."""
    return separator.join(decimal(value) for value in values)


def plain_decimals(values: Iterable[float]) -> str:
    """`plain_decimal` of each, joined by commas."""
    return ", ".join(plain_decimal(value) for value in values)


MAX_LENGTH = 300

LABELS = {
    Severity.INFO: "Note",
    Severity.CORRECTED: "Corrected",
    Severity.DOUBT: "Warning",
    Severity.REFUTED: "Refuted",
}
"""How a remark is introduced, by its severity."""


def comment_lines(load: IdentifiedLoad | StaticLoad, *lines: str) -> list[str]:
    """The lines of a file's comment: ``lines`` of the exporter, then the load's remarks, each one line."""
    every = [
        f"Load identified by iparam, in the frame {frame_of(load)}.",
        *([load.origin] if isinstance(load, IdentifiedLoad) and load.origin else []),
        *lines,
        *(f"{LABELS[one.severity]}: {one.message}" for one in load.remarks),
        *([f"REFUTED BY ITS DATA, exported on demand: {load.refuted}"] if load.refuted else []),
        *(f"NOT PHYSICALLY CONSISTENT, exported on demand: {text}" for text in load.violations),
    ]
    return [one_line(text) for text in every]


def uncertainty(load: IdentifiedLoad) -> tuple[str, ...]:
    """The lines of a comment that state the standard deviations of a load; none where they are not known."""
    found = load.deviations
    if found is None:
        return ()
    mass, center, inertia = significant(found[:1]), significant(found[1:4]), significant(found[4:])
    return (
        f"Uncertainty of the estimate, in {frame_of(load)}: standard deviations (95 % lie within 1.96 of them),",
        f"  mass {mass} kg; centre of mass x y z {center} m;",
        f"  inertia about the centre of mass xx xy xz yy yz zz {inertia} kg m^2.",
    )


def significant(values: Iterable[float]) -> str:
    """Two digits of each, which is what a standard deviation is known to; joined by blanks."""
    return " ".join(f"{value:.2g}" for value in values)


def frame_of(load: IdentifiedLoad | StaticLoad) -> str:
    """The name of the load's frame as part of a sentence: in quotes where it holds blanks."""
    return f"'{load.frame}'" if " " in load.frame else load.frame


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
    return text.replace("±", "+-").encode("ascii", "replace").decode("ascii") if ascii_only else text

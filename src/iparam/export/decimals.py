"""Numbers as text that every consumer reads."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


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


def plain_decimals(values: Iterable[float], separator: str = ", ") -> str:
    """`plain_decimal` of each, joined."""
    return separator.join(plain_decimal(value) for value in values)

"""Numbers with as many digits as their uncertainty leaves them."""

from __future__ import annotations

import math
from collections.abc import Iterable

MOST_DECIMALS = 9

NORMAL_95 = 1.959963984540054
"""Half width of the interval that holds 95 % of a normal distribution, in standard deviations."""


def decimals_for(uncertainty: float, digits: int = 2) -> int:
    """Decimals that show ``digits`` significant digits of an uncertainty."""
    if not (math.isfinite(uncertainty) and uncertainty > 0.0):
        return 6
    return min(max(digits - 1 - math.floor(math.log10(uncertainty)), 0), MOST_DECIMALS)


def fixed(value: float, decimals: int) -> str:
    """A number with that many decimals and a proper minus sign, none before zero; in powers of ten where it is huge."""
    if not math.isfinite(value):
        return "–"
    shown = f"{value:.{decimals}f}" if abs(value) < 1e7 else f"{value:.3e}"
    if not shown.strip("-0."):
        shown = shown.removeprefix("-")
    return shown.replace("-", "\N{MINUS SIGN}")


def number(value: float, decimals: int = 6) -> str:
    """A number of fixed decimals in ASCII, without a minus before zero; in powers of ten where it would be too long."""
    if not math.isfinite(value):
        return "-"
    text = f"{value:.{decimals}f}" if abs(value) < 1e6 else f"{value:.{decimals}e}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def numbers(values: Iterable[float], decimals: int = 6) -> list[str]:
    """`number` of each."""
    return [number(float(value), decimals) for value in values]


def percent(share: float, digits: int = 2) -> str:
    """A share in per cent with that many significant digits, never in powers of ten."""
    if not math.isfinite(share):
        return "-"
    value = 100.0 * share
    text = f"{value:.{digits}g}"
    return f"{f'{value:.0f}' if 'e+' in text else text} %"


def significant(value: float, digits: int = 3) -> str:
    """A number with that many significant digits."""
    if not math.isfinite(value):
        return "–"
    if value == 0.0:
        return "0"
    if not 1e-5 <= abs(value) < 1e7:
        return f"{value:.{digits - 1}e}".replace("-", "\N{MINUS SIGN}")
    return fixed(value, decimals_for(abs(value), digits))


def with_interval(value: float, half_width: float, unit: str = "") -> str:
    """``value ± half_width unit``, both to two digits of the half width."""
    decimals = decimals_for(half_width)
    return f"{fixed(value, decimals)} ± {fixed(half_width, decimals)}{unit and ' ' + unit}"

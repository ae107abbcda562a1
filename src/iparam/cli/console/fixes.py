"""How a fix, which is a value, is spelled as options of the commands."""

from __future__ import annotations

from collections.abc import Mapping

from iparam.errors import IparamError
from iparam.remarks import Plain, Remark, fix_words


def option_of(argument: str) -> str:
    """The option of an argument or a field: ``sensor_rotation`` is ``--sensor-rotation``."""
    return f"--{argument.replace('_', '-')}"


def as_options(fix: Mapping[str, Plain]) -> str:
    """What a user types for a fix, e.g. ``--sensor-rotation 0 0 90.1``."""
    return " ".join(_typed(name, value) for name, value in fix.items())


def in_words(remark: Remark) -> str:
    """A remark for those who run a command: its message, and the options that correct what it is about."""
    return corrected(remark.message, remark.fix)


def corrected(text: str, fix: Mapping[str, Plain] | None) -> str:
    """What is wrong, and the options that correct it."""
    return f"{text} Correction: {as_options(fix)}" if fix else text


def error_in_words(error: IparamError) -> str:
    """An error for those who run a command: its argument and its fix are options."""
    return error.told(option_of(error.argument) if error.argument else "", as_options(error.fix))


def _typed(name: str, value: Plain) -> str:
    option = option_of(name)
    if value is True:
        return option
    if name == "exclude" and isinstance(value, tuple):  # once for each interval
        return " ".join(f"{option} {' '.join(fix_words(interval))}" for interval in value)
    if name == "wrench_axes" and isinstance(value, tuple):
        joined = ",".join(fix_words(value))
        return f"{option}{'=' if joined.startswith('-') else ' '}{joined}"  # else it looks like an option
    return f"{option} {' '.join(fix_words(value))}"

"""Fixes: what to change in a setup or in arguments, as values that each interface writes in its own way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Plain = float | int | str | bool | None | tuple["Plain", ...]
"""What a value of a remark can be: what JSON can hold."""


def fix_text(fix: Mapping[str, Plain]) -> str:
    """A fix for people: ``sensor_rotation = 0 0 90, delay = 0.02``."""
    return ", ".join(f"{name} = {' '.join(fix_words(value))}" for name, value in fix.items())


def fix_words(value: Plain) -> list[str]:
    """The numbers and words of one value of a fix, rounded to what matters."""
    if isinstance(value, tuple):
        return [word for part in value for word in fix_words(part)]
    return [f"{value:.6g}" if isinstance(value, float) else str(value)]


def plain(value: Any) -> Plain:
    """A value of a file, or of numpy, as a remark holds it."""
    if isinstance(value, list | tuple):
        return tuple(plain(part) for part in value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return plain(value.tolist())

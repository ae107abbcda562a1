"""How arguments and fixes, which are values, are spelled as options of the running command."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping
from contextvars import ContextVar

from iparam.errors import IparamError
from iparam.remarks import Plain, Remark, fix_words

_OTHERWISE = {
    "count": ("samples",),
    "num_harmonics": ("harmonics",),
    "fps": ("rate",),
    "rate": ("sensor_rate",),
    "speed": ("max_speed",),
    "fraction": ("limit_fraction",),
    "size": ("payload_size", "shape_box"),
    "targets": ("until_precision", "precision"),
    "center": ("payload_center",),
    "mass": ("payload_mass",),
    "scale": ("mesh_scale", "shape_scale", "amplitude"),
    "displacement": ("max_displacement",),
    "joint_angle": ("angle_noise",),
    "blend_time": ("blend",),
}
"""Arguments whose options are called otherwise."""

_options: ContextVar[frozenset[str]] = ContextVar("options", default=frozenset())


def speak_for(command_type: type) -> None:
    """From now on, errors are for those who run this command.

    Args:
        command_type: a dataclass whose fields are the options.
    """
    _options.set(frozenset(field.name for field in dataclasses.fields(command_type)))


def option_of(argument: str) -> str:
    """The option of an argument or a field: ``sensor_rotation`` is ``--sensor-rotation``."""
    own = next((name for name in (argument, *_OTHERWISE.get(argument, ())) if name in _options.get()), argument)
    return f"--{own.replace('_', '-')}"


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
    own = any(name in _options.get() for name in (error.argument, *_OTHERWISE.get(error.argument, ())))
    return error.told(option_of(error.argument) if own else error.argument * error.opens, as_options(error.fix))


def _typed(name: str, value: Plain) -> str:
    option = option_of(name)
    if value is True:
        return option
    if name in ("exclude", "delays") and isinstance(value, tuple):  # once for each pair
        return " ".join(f"{option} {' '.join(fix_words(interval))}" for interval in value)
    if name == "wrench_axes" and isinstance(value, tuple):
        joined = ",".join(fix_words(value))
        return f"{option}{'=' if joined.startswith('-') else ' '}{joined}"  # else it looks like an option
    return f"{option} {shlex.join(fix_words(value))}"

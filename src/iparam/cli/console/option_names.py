"""The library's messages name its arguments; on the command line they are options: `angles='degrees'` in a message
becomes `--angles degrees` where the running command has that option.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from contextvars import ContextVar

_OF_RECORDINGS = (
    *("recording", "columns", "map", "time_unit", "angles", "rows", "time_range", "motion", "delay", "measures"),
    *("sensor_rotation", "sensor_offset", "wrench_axes", "wrench_scale", "wrench_frame", "low_pass"),
    *(
        "low_pass_order",
        "clock",
        "joint_offset",
        "joint_order",
        "joint_sign",
        "external_force",
        "exclude",
        "without",
        "rezeroed",
    ),
    *("known_mass", "mass_tolerance"),
)
_OF_PLANS = (
    "max_velocity",
    "max_acceleration",
    "max_jerk",
    "max_torque",
    "payload_size",
    "payload_center",
    "payload_mass",
)

ARGUMENTS = {
    **{name: name for name in (*_OF_RECORDINGS, *_OF_PLANS)},
    **{name: name for name in ("robot", "sensor", "tip", "base", "lock", "gravity", "link", "drive_gains", "cell")},
    **{name: name for name in ("friction", "mounting", "clearance")},
    **{name: name for name in ("stage", "prim", "pose", "own_mass", "copy")},
    **{name: name for name in ("layout", "scheduler", "workers")},
    **{name: name for name in ("seed", "physics_rate", "q0", "joint_names", "validate_rows")},
    "speed": "max_speed",
    "count": "samples",
    "scale": "mesh_scale",
    "segments": "shape_parts",
}
"""Arguments of the library that its messages name, and the options that they are. Only these: what looks alike may be
part of a value, as mass=0.5% is of a list of targets."""

_ELSEWHERE = {
    **dict.fromkeys(_OF_RECORDINGS, "iparam identify payload"),
    **dict.fromkeys(_OF_PLANS, "iparam excite optimize"),
}
"""Options that a command which lacks them can only refer to, such as one that repeats the warnings of a result, and the
command that has them."""

_ARGUMENT = re.compile(r"(?<!in Python )(?<![^\s(])([a-z][a-z0-9_]*)=('[^']*'|\"[^\"]*\"|\.\.\.|[\w.+-]*\w)?")

_options: ContextVar[frozenset[str]] = ContextVar("options", default=frozenset())


def speak_for(command_type: type) -> None:
    """From now on, messages are for those who run this command.

    Args:
        command_type: a dataclass whose fields are the options.
    """
    _options.set(frozenset(field.name for field in dataclasses.fields(command_type)))


def in_options(text: str) -> str:
    """The text with the arguments that the running command has as options written as such."""
    return _ARGUMENT.sub(_option, text)


def _option(match: re.Match[str]) -> str:
    name, options = ARGUMENTS.get(match[1], ""), _options.get()
    if name not in options and not (options and name in _ELSEWHERE):
        return match[0]
    value = "" if match[2] in (None, "True") else match[2]
    if value[:1] in ("'", '"'):
        value = shlex.quote(value[1:-1])
    option = f"--{name.replace('_', '-')} {value}".rstrip()
    return option if name in options else f"{option} of '{_ELSEWHERE[name]}'"

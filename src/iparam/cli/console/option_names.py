"""The library's messages name its arguments; on the command line they are options: `angles='degrees'` in a message
becomes `--angles degrees` where the running command has that option.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from contextvars import ContextVar

_SPELT_OTHERWISE = {"scale": "mesh_scale"}
"""Arguments of the library whose option has another name, for commands that have it."""

_ARGUMENT = re.compile(r"(?<![^\s(])([a-z][a-z_]*)=('[^']*'|\"[^\"]*\"|\.\.\.|[\w.+-]*\w)?")

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
    options = _options.get()
    name = match[1] if match[1] in options else _SPELT_OTHERWISE.get(match[1], "")
    if name not in options:
        return match[0]
    value = match[2] or ""
    if value[:1] in ("'", '"'):
        value = shlex.quote(value[1:-1])
    return f"--{name.replace('_', '-')} {value}".rstrip()

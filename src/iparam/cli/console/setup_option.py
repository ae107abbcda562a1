"""`--setup FILE`, which every command takes: the one place where a `setup.toml` and the options of a command meet.

The file gives the options that the command has and that were not given. What is given wins, along with what belongs to
it: with another --robot the setup's tip says nothing, with --gravity its mounting does not.
"""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from tyro.conf import Positional, Suppress

import iparam
from iparam.cli.console.printing import note
from iparam.errors import InputError
from iparam.robot.loading import stated_in_setup

if TYPE_CHECKING:
    from iparam.cli.command_table import Command

OPTION = "--setup"

_SETTLES = {
    "robot": ("tip", "base"),
    "mounting": ("gravity",),
    "gravity": ("mounting",),
    "wrench_scale": ("sensor",),
}
"""Options that, given, leave nothing for others to say."""

_OF_LOGS = {"sensor_rotation", "sensor_offset", "measures", "wrench_frame", "sensor"}
"""What a sensor's entries are about is a log as it was written: for the commands that put one right, all of them."""

_OF_ROBOT = {"tip", "base"}
_AT_REST = "--static"


@dataclass(frozen=True)
class Filled:
    """The arguments of a command with what a setup gives.

    Attributes:
        arguments: with the options that it gives; with itself only where the command has an option for it.
        setup: its path; None without one.
        of_setup: names of the options that it gave.
    """

    arguments: list[str]
    setup: Path | None = None
    of_setup: tuple[str, ...] = ()

    def told(self, command: Command) -> Command:
        """A parsed command that knows which of its options a setup gave, if it wants to know."""
        values = {"setup": self.setup, "of_setup": self.of_setup}
        wanted = {name: values[name] for name in values if _hidden(type(command), name)}
        return dataclasses.replace(command, **wanted) if self.setup is not None and wanted else command


def with_setup(arguments: list[str], command_type: type[Command]) -> Filled:
    """The arguments with the options that a setup among them gives, and without it."""
    path, rest = _taken(arguments)
    if path is None:
        return Filled(rest)
    setup = iparam.sensing.Setup.load(path)
    own = {field.name for field in dataclasses.fields(command_type)}
    given = {word.split("=")[0].lstrip("-").replace("-", "_") for word in rest if word.startswith("--")}
    settled = {other for name in given for other in _SETTLES.get(name, ())}
    if of_own := "robot" in given and _same_robot(rest, setup.robot):  # as the error says that does not follow it
        settled -= _OF_ROBOT
    taken: list[str] = []
    of_setup: list[str] = []
    for name, words in setup.options.items():
        if name in given | settled or not _takes(command_type, name, words):
            continue
        if name in _OF_ROBOT and "--robot" not in taken and not of_own:  # of whose description they are
            continue
        if name == "robot":
            stated_in_setup(words[0], path)
        if name == "bias" and _AT_REST in rest:  # rests always have their bias estimated
            continue
        taken += [f"--{name.replace('_', '-')}", *words]
        of_setup.append(name)
    passed_on = "setup" in own and not _hidden(command_type, "setup")
    if taken or not passed_on:
        note(f"from {path}: {shlex.join(taken)}" if taken else f"nothing of {path} concerns this command")
    return Filled([*rest, *taken, *([OPTION, str(path)] if passed_on else [])], path, tuple(of_setup))


def _same_robot(arguments: list[str], robot: str) -> bool:
    """Whether the option --robot names the same as a setup."""
    typed = [
        value for word, after in zip(arguments, [*arguments[1:], ""], strict=True) for value in _value(word, after)
    ]
    return [os.path.abspath(value) for value in typed] == [os.path.abspath(robot)]


def _value(word: str, after: str) -> list[str]:
    name, joined, value = word.partition("=")
    return [] if name != "--robot" else [value if joined else after]


def concerned(command_type: type[Command]) -> bool:
    """Whether a command has an option that a setup can give, or looks at the setup itself."""
    hints = get_type_hints(command_type, include_extras=True)
    entries = {field.name for field in dataclasses.fields(iparam.sensing.Setup)} | {"bias"}
    return "setup" in hints or any(_has(hints, name) for name in entries - _OF_ROBOT)  # which come with the robot


def _has(hints: dict[str, Any], name: str) -> bool:
    """Whether among a command's fields is an option of this name that means what a setup's entry does."""
    about_log = name in _OF_LOGS and "sensor_rotation" not in hints
    return name in hints and not about_log and not _positional(hints[name])


def _taken(arguments: list[str]) -> tuple[Path | None, list[str]]:
    """The path that --setup gives, and the other arguments."""
    rest: list[str] = []
    path: Path | None = None
    words = iter(arguments)
    for word in words:
        name, joined, value = word.partition("=")
        if name != OPTION:
            rest.append(word)
            continue
        if path is not None:
            raise InputError(f"{OPTION} is given twice: one setup holds for a command")
        value = value if joined else next(words, "")
        if not value or value.startswith("--"):
            raise InputError(f"{OPTION} needs a file, as 'iparam setup' writes it")
        path = Path(value)
    return path, rest


def _takes(command_type: type[Command], name: str, words: tuple[str, ...]) -> bool:
    """Whether a command has an option that means what a setup's entry of that name does."""
    hints = get_type_hints(command_type, include_extras=True)
    if not _has(hints, name):
        return False
    if (name, words) == ("wrench_frame", ("tool",)) and not any(
        get_origin(kind) is Literal for kind in _kinds(hints[name])
    ):
        return False  # where it is the name of a frame, the messages say which
    choices = [one for kind in _kinds(hints[name]) if get_origin(kind) is Literal for one in get_args(kind)]
    return not choices or words[0] in choices


def _hidden(command_type: type[Command], name: str) -> bool:
    """Whether a command has a field of that name which is no option."""
    hint = get_type_hints(command_type, include_extras=True).get(name)
    return hint is not None and any(mark is Suppress for mark in getattr(hint, "__metadata__", ()))


def _kinds(hint: Any) -> Iterator[Any]:
    yield hint
    for inner in get_args(hint):
        yield from _kinds(inner)


def _positional(hint: Any) -> bool:
    marks = set(getattr(Positional[str], "__metadata__", ()))
    return any(mark in marks for kind in _kinds(hint) for mark in getattr(kind, "__metadata__", ()))

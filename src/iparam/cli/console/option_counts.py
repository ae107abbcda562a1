"""`check_counts`: an option has as many values as it takes, and is given once; one of an earlier tool is answered with
its present name.

tyro takes what follows an option that is complete for something else, the last of two for both, and none at all for an
option that is not given: none of it is what somebody meant who typed it, or whose shell variable is empty.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from tyro.conf import UseAppendAction

from iparam.errors import InputError

if TYPE_CHECKING:
    from iparam.cli.command_table import Command

ALIASES = {"seconds_budget": "time_budget"}
"""Other names of options, and their own."""

OF_EARLIER_TOOLS = {"json_path": "input", "output_path": "output", "restarts": "starts"}
"""Options of the tools that this program replaces, and what they are called here."""

NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?![\w.])"

_INSTEAD = {"--dry-run": ("--amplitude", "--speed-scale")}
"""Options that take no value, and those that whoever gives them one may mean."""

_HELP = ("-h", "--help")


@dataclass(frozen=True)
class _Option:
    """What an option takes.

    Attributes:
        most: values at most; None for any number of them.
        metavar: how its values are called; "" if nobody says.
        repeatable: it may be given several times.
    """

    most: int | None
    metavar: str
    repeatable: bool


def check_counts(arguments: Sequence[str], command_type: type[Command]) -> None:
    """Refuse an option with a number more than it takes, or without any value, and one that is given twice.

    Args:
        arguments: of the command.
        command_type: a dataclass whose fields are the options.
    """
    if any(word in _HELP for word in arguments):
        return
    known = dict(_known(command_type))
    given: dict[str, str] = {}
    for option, joined, words in _given(arguments):
        name = option[2:].replace("-", "_")
        name = name if name in known else ALIASES.get(name, name)
        if name not in known:
            _refuse_earlier(option, name, known)
            continue
        takes = known[name]
        if not joined:
            _refuse_too_many(option, words, takes.most, known)
        if takes.most == 0 or takes.repeatable:
            continue
        if not words and takes.most is None:
            needed = f", {takes.metavar}" if takes.metavar else ""
            raise InputError(
                f"{option} needs a value{needed}, and has none: is a shell variable empty? Or leave it out"
            )
        typed = " ".join([option, *words[: takes.most]])
        if name in given:
            raise InputError(f"{option} is given twice, {given[name]!r} and {typed!r}: leave one of them out")
        given[name] = typed


def _refuse_earlier(option: str, name: str, known: Mapping[str, _Option]) -> None:
    """Answer an option of an earlier tool with its present name."""
    present = OF_EARLIER_TOOLS.get(name)
    if present in known:
        raise InputError(f"there is no {option}: did you mean --{present}?")


def _given(arguments: Sequence[str]) -> Iterator[tuple[str, bool, list[str]]]:
    """Each option that is typed, whether its value is joined to it, and the words behind it."""
    places = [place for place, word in enumerate(arguments) if word.startswith("--") and len(word) > 2]
    for place, end in pairwise([*places, len(arguments)]):
        option, joined, value = arguments[place].partition("=")
        yield option, bool(joined), [value] if joined else list(arguments[place + 1 : end])


def _refuse_too_many(option: str, words: Sequence[str], most: int | None, known: dict[str, _Option]) -> None:
    """What follows an option that is complete is a file, or an option."""
    extra = "" if most is None or most >= len(words) else words[most]
    if not re.fullmatch(NUMBER, extra) or os.path.exists(extra):
        return
    if most == 0:
        others = [f"{other} {extra}" for other in _INSTEAD.get(option, ()) if other[2:].replace("-", "_") in known]
        instead = f"; for a part of the motion, or a slower one: {' or '.join(others)}" if others else ""
        raise InputError(f"{option} takes no value, got {extra}{instead}")
    raise InputError(f"{option} takes {most} value{'s' if most and most > 1 else ''}, got {' '.join(words)}")


def _known(command_type: type[Command]) -> Iterator[tuple[str, _Option]]:
    plain = get_type_hints(command_type)
    for name, hint in get_type_hints(command_type, include_extras=True).items():
        marks = getattr(hint, "__metadata__", ())
        metavar = next((mark.metavar for mark in marks if getattr(mark, "metavar", None)), "")
        called = next((mark.name for mark in marks if getattr(mark, "name", None) and hasattr(mark, "metavar")), name)
        yield called.replace("-", "_"), _Option(_most(plain[name]), metavar, UseAppendAction in marks)


def _most(hint: Any) -> int | None:
    """How many words an option of a type takes at most; None for any number of them."""
    (kind, *_) = [one for one in get_args(hint) if one is not NoneType] if NoneType in get_args(hint) else [hint]
    if get_origin(kind) is tuple:
        return None if Ellipsis in get_args(kind) else len(get_args(kind))
    return 0 if kind is bool else 1

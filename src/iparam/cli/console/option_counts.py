"""`check_counts`: an option that is given has a value, and is given once; one of an earlier tool is answered with its
present name.

tyro takes the last of two for both, and an option without any value for one that is not given: neither is what somebody
meant who typed it, or whose shell variable is empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from tyro.conf import UseAppendAction

from iparam.errors import InputError

if TYPE_CHECKING:
    from iparam.cli.command_table import Command

_HELP = ("-h", "--help")

OF_EARLIER_TOOLS = {"json_path": "input", "output_path": "output", "restarts": "starts"}
"""Options of the tools that this program replaces, and what they are called here."""


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
    """Refuse an option without any value, one that is given twice, and one of an earlier tool.

    Args:
        arguments: of the command.
        command_type: a dataclass whose fields are the options.
    """
    if any(word in _HELP for word in arguments):
        return
    known = dict(_known(command_type))
    given: dict[str, str] = {}
    for option, words in _given(arguments):
        name = option[2:].replace("-", "_")
        takes = known.get(name)
        if takes is None and (present := OF_EARLIER_TOOLS.get(name)) in known:
            raise InputError(f"there is no {option}: did you mean --{present}?")
        if takes is None or takes.most == 0 or takes.repeatable:
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


def _given(arguments: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Each option that is typed, and the words behind it."""
    places = [place for place, word in enumerate(arguments) if word.startswith("--") and len(word) > 2]
    for place, end in pairwise([*places, len(arguments)]):
        option, joined, value = arguments[place].partition("=")
        yield option, [value] if joined else list(arguments[place + 1 : end])


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

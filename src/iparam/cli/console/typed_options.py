"""Which option an error is about: the library names what it was given, the command line names the option as typed.

An error that names no option gets one from what was typed, by three signs only: it begins with the option's name
("duration must be ...") or with the file that it gives ("cell.json does not exist"), or it repeats the option's value
("..., got 1.5", "unknown link 'x'"). Where several options have that value, the one whose name the sentence comes
closest to is meant; if that does not decide, all are named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from iparam.errors import FileWriteError, InputError, RobotModelError, UnknownNameError

if TYPE_CHECKING:
    from iparam.cli.command_table import Command

OF_ARGUMENTS = (InputError, UnknownNameError, RobotModelError, FileWriteError)
"""Errors that are about what was given; those about the contents of a file name the file."""

_OTHER_WORDS = {
    "num_harmonics": "harmonics",
    "fps": "rate",
    "rate": "sensor_rate",
    "count": "samples",
    "number_of_poses": "count",
    "segments": "shape_parts",
    "blend_time": "blend",
    "guess_of_the_payload's_mass": "payload_mass",
    "payload's_mass": "payload_mass",
    "payload's_size": "payload_size",
    "payload's_center": "payload_center",
}
"""Words with which a sentence begins, and the options that they are where the command has no option of that name."""

_COUNTS = ("duration", "rate", "fps", "sensor_rate", "physics_rate", "samples", "runs", "repetitions", "harmonics")
"""Options that say how much there is to compute."""

_NARROWING = ("rows", "time_range")
"""Options that leave out a part of a recording."""

_TOO_FEW = re.compile(r"\bsamples?\b.*\b(?:needed|needs?|got|only)\b")
_SUBJECT = re.compile(r"(?:the |each )?([a-z][a-z_' ]*?)=? (?=must |needs |has |have |is |are |cannot |does )")
NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)(?![\w.])"
_GIVEN = re.compile(
    rf"\b(?:got|but is|port)\b[^'\"]*?(?<![\w.+-])({NUMBER})(?:[]\w/^ ]* and \[?({NUMBER}))?", re.IGNORECASE
)
_QUOTED = re.compile(r"(?<!\w)'([^']*)'|\"([^\"]*)\"")
_SAME = 1e-5  # relative: messages round


@dataclass(frozen=True)
class Typed:
    """An option as it was typed.

    Attributes:
        name: of the command's field.
        option: as it was written, with its dashes.
        words: behind it.
    """

    name: str
    option: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.option, *self.words))


_typed: ContextVar[tuple[Typed, ...]] = ContextVar("typed", default=())


def remember(arguments: Sequence[str] = (), command: Command | None = None) -> None:
    """From now on, errors are about these arguments, from which the command was read; without any, about none."""
    _typed.set(() if command is None else tuple(_options(arguments, command)))


def naming_file(text: str) -> str:
    """The text of any error, with the option whose file it begins with."""
    for one in _typed.get():
        for path in one.words:
            if path and not _named(text, one) and re.match(rf"{re.escape(path)}(:? |$)", text):
                return f"{one.option} {text}"
    return text


def naming_option(text: str) -> str:
    """The text of an error about what was given, with the option that it is about."""
    typed = _typed.get()
    for one in typed:
        text = re.sub(rf"(?<![\w'\"./=-]){one.name}(?![\w'\"./=-])", one.option, text) if "_" in one.name else text
    subject = _SUBJECT.match(text)
    named = _option_called(subject[1].replace(" ", "_"), typed) if subject else None
    if subject and named:
        return f"{named.option} {text[subject.end() :]}"
    if any(text.startswith(f"{one.option} ") for one in typed):
        return text
    quoted = [one for one in typed if _repeats(text, one)]
    if any(_named(text, one) for one in (quoted or typed)):
        return text
    narrowed = [str(one) for one in typed if one.name in _NARROWING]
    if narrowed and _TOO_FEW.search(text):
        return f"{' '.join(narrowed)}: {text}"
    closest = max((_common_words(text, one) for one in quoted), default=0)
    blamed = dict.fromkeys(str(one) for one in quoted if _common_words(text, one) == closest)
    return f"{' or '.join(blamed)}: {text}" if blamed else naming_file(text)


def too_much() -> str:
    """What to ask less of, where there is not enough memory."""
    asked = [str(one) for one in _typed.get() if one.name in _COUNTS]
    return f": ask for less than {' and '.join(asked)}" if asked else ": use a part of the data, or a lower rate"


def _options(arguments: Sequence[str], command: Command) -> Iterator[Typed]:
    values = {spec.name: getattr(command, spec.name) for spec in fields(command)}
    places = [place for place, word in enumerate(arguments) if word.startswith("--") and len(word) > 2]
    for place, end in pairwise([*places, len(arguments)]):
        option, joined, value = arguments[place].partition("=")
        name = option[2:].replace("-", "_")
        if name not in values:
            continue
        words = (value,) if joined else tuple(arguments[place + 1 : end])
        yield Typed(name, option, words[: _count(values[name])])


def _count(value: Any) -> int:
    """Of the words that an option's value was made from."""
    if isinstance(value, tuple | list):
        return sum(_count(one) for one in value)
    return 0 if isinstance(value, bool) else 1


def _option_called(name: str, typed: Iterable[Typed]) -> Typed | None:
    known = {one.name: one for one in typed}
    return known.get(name) or known.get(_OTHER_WORDS.get(name, ""))


def _named(text: str, one: Typed) -> bool:
    """Whether a text names an option, and not only as that of another command."""
    return bool(re.search(rf"{re.escape(one.option)}(?![\w-])", re.sub("'iparam [^']*'", "", text)))


def _repeats(text: str, one: Typed) -> bool:
    """Whether a text repeats the value of an option, or a part of it that commas or equal signs make."""
    texts = {found[1] or found[2] or "" for found in _QUOTED.finditer(text)}
    parts = [part for word in one.words for part in (word, word.strip(), *filter(None, re.split("[,=]", word)))]
    if any(repr(part)[1:-1] in texts for part in parts):
        return True
    given = _GIVEN.search(text)
    numbers = [float(found) for found in given.groups() if found] if given else []
    return any(_same(word, number) for word in one.words for number in numbers)


def _same(word: str, number: float) -> bool:
    try:
        value = float(word)
    except ValueError:
        return False
    return value == number or (math.isnan(value) and math.isnan(number)) or math.isclose(value, number, rel_tol=_SAME)


def _common_words(text: str, one: Typed) -> int:
    """How many words of an option's name a text has, in whatever form."""
    return sum(word.rstrip("s") in text.lower() for word in one.name.split("_"))

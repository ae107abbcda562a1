"""Options of every command with values that nobody can mean; the options are found from the commands themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from inspect import get_annotations
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from attack.corpus.command_lines import LINES, Line
from attack.corpus.hostile import HOSTILE
from attack.rule import BAD_USAGE
from attack.warm_pool import Case
from iparam.cli.command_table import COMMANDS

_NUMBERS = ("nan", "-1", "-inf", "inf", "-1e308", "0", "1e308", "1e-320", "1e999", "1e9")
_WHOLE_NUMBERS = ("nan", "1.5", "-1", "0", "1", "99999999999999999999", "9" * 5000, "2147483648", "1e3")
_NO_NUMBERS = ("", " ", "x", "0x10", "1,5", "--", HOSTILE, "１２")  # Python reads the last one
_TEXTS = ("", " ", "x", "-", "nan", "..", "a" * 5000, "é", "٣", HOSTILE, "bytes\udcff", "line\nend", "a=b", "1e308")

WORK_WITHOUT_END = {"duration", "give_up_after", "max_attempts", "starts", "time_budget", "workers"}
"""Options by which one can ask for work that does not end, and gets it: they are not given large numbers."""

NETWORK = {"host"}
"""Options that make a command ask the network for a name: left alone."""


@dataclass(frozen=True)
class BadOption:
    """An option with a value that nobody can mean.

    Attributes:
        line: the call that it is added to.
        option: as it is written.
        values: the words behind it.
        named: whether an error about it has to name it: not if the call itself is refused, or where the words are no
            value of the option.
    """

    line: Line
    option: str
    values: tuple[str, ...]
    named: bool = True

    def case(self, samples: Path, folder: Path) -> Case:
        """The run, in a new folder."""
        self.line.put_samples(samples, folder)
        name = f"{self.line} {self.option} {' '.join(value[:20] for value in self.values)}"
        return Case(
            name,
            (*self.line.arguments(), self.option, *self.values),
            folder,
            self.line.outputs,
            must_name=self.option if self.named else "",
        )


def bad_options(command: str) -> Iterator[BadOption]:
    """Bad values for the options of a command; those that it shares with others, for one of these only.

    A command that takes seconds is only given what it has to refuse, and a node, which does not end, nothing.
    """
    line = min((line for line in LINES if line.command == command), key=lambda line: line.slow)
    for name, kind in _options()[command] if not line.endless else ():
        for values in _values(name, kind, must_fail=line.slow):
            named = BAD_USAGE not in line.codes and kind is not bool and "--" not in values
            yield BadOption(line, f"--{name.replace('_', '-')}", values, named)


@cache
def _options() -> dict[str, list[tuple[str, Any]]]:
    """Command -> names and types of its options, each option with the first command that has it, quick ones first."""
    slow = {line.command for line in LINES if line.slow} - {line.command for line in LINES if not line.slow}
    found: dict[str, list[tuple[str, Any]]] = {}
    seen: set[tuple[type, str]] = set()
    for entry in sorted(COMMANDS, key=lambda entry: entry.name in slow):
        found[entry.name] = []
        command: Any = entry.load()
        plain, marked = get_type_hints(command), get_type_hints(command, include_extras=True)
        for name in (field.name for field in dataclasses.fields(command)):
            if "Positional" in str(marked[name]) or "Suppress" in str(marked[name]) or name in NETWORK:
                continue
            owner = next(kind for kind in reversed(command.__mro__) if name in get_annotations(kind))
            if (owner, name) not in seen:
                found[entry.name].append((name, plain[name]))
                seen.add((owner, name))
    return found


def _values(name: str, kind: Any, must_fail: bool) -> Iterator[tuple[str, ...]]:
    """The words to put behind an option of a type."""
    parts = [part for part in get_args(kind) if part is not type(None)] if type(None) in get_args(kind) else [kind]
    kind = parts[0]
    if kind is Path:
        return
    if kind is bool:
        yield ("x",)
    elif get_origin(kind) is Literal:
        yield from ((value,) for value in ("", "x", HOSTILE))
    elif get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        if get_origin(inner) is tuple:  # an option that is repeated, each time with several words
            yield from _values(name, inner, must_fail)
            return
        single = [value for (value,) in _values(name, inner, must_fail)]
        yield ()
        for count in (1, 2, 3, 6, 10):
            yield from ((value,) * count for value in single[:: 3 if count == 3 else 7])
    elif kind in (int, float):
        numbers = _NUMBERS if kind is float else _WHOLE_NUMBERS
        if must_fail or name in WORK_WITHOUT_END:
            values = {*numbers[:3], *_NO_NUMBERS[:-1]} - {"inf"}
        else:
            values = {*numbers, *_NO_NUMBERS}
        yield from ((value,) for value in sorted(values))
    elif kind is str:
        yield from ((value,) for value in (_TEXTS[:1] if must_fail else _TEXTS))
    else:
        raise TypeError(f"an option of a type that no bad values are known for: {name}, {kind}")

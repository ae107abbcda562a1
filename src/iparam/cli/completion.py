"""`iparam --tyro-print-completion bash|zsh`: tyro's script for a shell, of all commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import make_dataclass
from typing import Annotated, Any, Union

import tyro

from iparam.cli.command_table import COMMANDS, Entry
from iparam.cli.console.option_values import registry
from iparam.errors import InputError

SHELLS = ("bash", "zsh")
"""For which tyro has a script without further packages."""


def print_completion(arguments: Sequence[str]) -> None:
    """Let tyro print the script, and end the program."""
    if list(arguments[1:]) not in ([shell] for shell in SHELLS):
        raise InputError(f"{arguments[0]} takes one shell, {' or '.join(SHELLS)}, got {' '.join(arguments[1:])!r}")
    commands: Any = _choice(COMMANDS, 0)
    omitted = (tyro.conf.OmitArgPrefixes, tyro.conf.OmitSubcommandPrefixes)
    tyro.cli(
        commands,
        prog="iparam",
        args=list(arguments),
        config=(tyro.conf.FlagCreatePairsOff, *omitted),
        registry=registry(),
    )


def _choice(entries: Sequence[Entry], depth: int) -> Any:
    """The type of one of some commands, told apart by their words from ``depth`` on."""
    kinds = []
    for name in dict.fromkeys(entry.words[depth] for entry in entries):
        inside = [entry for entry in entries if entry.words[depth] == name]
        is_command = len(inside[0].words) == depth + 1
        kind = inside[0].load() if is_command else make_dataclass(name, [("command", _choice(inside, depth + 1))])
        kinds.append(Annotated[kind, tyro.conf.subcommand(name=name, prefix_name=False)])
    return Union[tuple(kinds)]  # noqa: UP007  they are not known before

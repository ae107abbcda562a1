"""Every command with options that nobody can mean."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from attack.corpus.bad_options import bad_options
from attack.warm_pool import Case, WarmPool
from iparam.cli.command_table import COMMANDS

Attack = Callable[[Iterable[Callable[[Path], Case]]], None]

A_FEW = 6
"""Runs a command in a test; `make fuzz` does them all."""


@pytest.mark.parametrize("command", [entry.name for entry in COMMANDS])
def test_a_command_with_bad_options(command: str, pool: WarmPool, attack: Attack) -> None:
    bad = list(bad_options(command))
    chosen = random.Random(command).sample(bad, min(len(bad), A_FEW))
    attack(partial(option.case, pool.samples) for option in chosen)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("",),
        ("\x1b[31m",),
        ("bytes\udcff",),
        ("identify", "\u202e"),
        ("robots", "--\x9b"),
        ("robots", "a\nb"),
        ("export", "--format", "\x1b]0;owned\x07", "x.json"),
        tuple("x" for _ in range(5000)),
    ],
)
def test_arguments_that_are_no_command(arguments: tuple[str, ...], attack: Attack) -> None:
    def case(folder: Path) -> Case:
        folder.mkdir()
        return Case(f"arguments {arguments[:5]!r}", arguments, folder, codes=(2,))

    attack([case])

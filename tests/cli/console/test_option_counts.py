"""Options without a value, or given twice: in every command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, get_args, get_type_hints

import pytest
from tyro.conf import Suppress, UseAppendAction, arg

from iparam.cli.command_table import COMMANDS, Entry
from iparam.cli.console.option_counts import check_counts
from iparam.cli.main import main
from iparam.errors import InputError


@dataclass(frozen=True)
class Wash:
    """A command."""

    seed: int = 1
    size: Annotated[tuple[float, ...], arg(metavar="X Y Z")] = ()
    time_range: tuple[float, float] | None = None
    exclude: UseAppendAction[tuple[tuple[str, ...], ...]] = ()
    from_: Annotated[tuple[str, ...], arg(name="from", metavar="PATTERN")] = ()
    dry: bool = False

    def run(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--size", r"--size needs a value, X Y Z, and has none: is a shell variable empty\?"),
        ("--size --dry", "--size needs a value"),
        ("--from", "--from needs a value, PATTERN"),
        ("--seed 1 --dry --seed 2", r"--seed is given twice, '--seed 1' and '--seed 2'"),
        ("--seed=1 --seed 2", "--seed is given twice"),
        ("--time-range 0 1 --time_range 2 3", "--time_range is given twice"),
    ],
)
def test_none_and_twice(typed: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_counts(typed.split(), Wash)


@pytest.mark.parametrize("typed", ["--dry --dry", "--exclude 1 2 --exclude 3 4", "--size --help", "--other --other"])
def test_what_may_be_repeated_and_what_is_not_ours(typed: str) -> None:
    check_counts(typed.split(), Wash)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_option_of_every_command(entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
    hints = get_type_hints(entry.load(), include_extras=True)
    several = [
        name.rstrip("_")
        for name, hint in hints.items()
        if Ellipsis in get_args(get_type_hints(entry.load())[name])
        and Suppress not in getattr(hint, "__metadata__", ())
        and "Positional" not in repr(hint)
        and "UseAppendAction" not in repr(hint)
    ]
    for option in (f"--{name.replace('_', '-')}" for name in several):
        assert main([*entry.words, option]) == 2
        assert f"{option} needs a value" in capsys.readouterr().err
        assert main([*entry.words, option, "1", option, "2"]) == 2
        assert f"{option} is given twice" in capsys.readouterr().err


@pytest.mark.parametrize(("command", "old", "new"), [
    (("kinematics", "batch"), "--json-path", "--input"),
    (("kinematics", "batch"), "--output-path", "--output"),
    (("excite", "optimize"), "--restarts", "--starts"),
])  # fmt: skip
def test_options_of_earlier_tools_are_answered_with_their_present_name(
    command: tuple[str, str], old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for typed in ([old, "20"], [f"{old}=20"], [old.replace("-", "_").replace("__", "--"), "20"]):
        assert main([*command, *typed]) == 2
        assert f"did you mean {new}?" in capsys.readouterr().err
    assert main(["robots", old, "20"]) == 2  # which has no such option at all
    assert "did you mean" not in capsys.readouterr().err

"""What a value cannot be is said in words, for every kind of number that any command takes."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, get_args, get_type_hints

import pytest
import tyro

from iparam.cli.command_table import COMMANDS
from iparam.cli.console.option_values import registry

INTERNALS = re.compile(r"<class|literal for|instantiated|NoneType|could not convert|type tuple|\[\d")


def kinds(hint: Any) -> set[Any]:
    """Of what a type is made."""
    return {hint} | {kind for part in get_args(hint) for kind in kinds(part)}


HINTS = {
    str(hint): hint
    for entry in COMMANDS
    for hint in get_type_hints(entry.load()).values()
    if kinds(hint) & {int, float} and not kinds(hint) & {str}
}


def parsed(hint: Any, *words: str) -> Any:
    made: Any = dataclasses.make_dataclass("Made", [("option", hint)])
    return tyro.cli(made, args=["--option", *words], registry=registry()).option


@pytest.mark.parametrize("name", HINTS)
def test_no_complaint_speaks_of_types(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    count = max(1, name.count("float"), name.count("int"))
    with pytest.raises(SystemExit):
        parsed(HINTS[name], *["x1"] * count)
    told = " ".join(capsys.readouterr().err.replace("│", "").split())
    assert re.search(r"it needs a (whole )?number, got 'x1'", told)
    assert not INTERNALS.search(told)


def test_what_can_be_is_read() -> None:
    assert parsed(int | None, "3") == 3
    assert parsed(float | None, "-2e3") == -2000.0
    assert parsed(tuple[float, float] | None, "1", "2") == (1.0, 2.0)
    assert parsed(tuple[float, ...], "1", "2", "3") == (1.0, 2.0, 3.0)
    assert parsed(tuple[tuple[float, float], ...], "1", "2", "3", "4") == ((1.0, 2.0), (3.0, 4.0))
    assert parsed(str | None, "x") == "x"


def test_groups_that_are_not_whole_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(tuple[tuple[float, float], ...], "1", "2", "3")
    assert "it needs 2 numbers, or some times 2, got 3" in capsys.readouterr().err

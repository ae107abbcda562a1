"""Calls of `iparam` in the documentation that are not executed, as they need an arm or files, can at least be read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from iparam.cli.command_table import COMMANDS, Entry
from iparam.cli.console import written_files
from iparam.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(?!console)\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)((?: {4}.*\n)+)")
CALL = re.compile(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*iparam (.*)$", re.MULTILINE)


def calls_of(page: Path) -> list[str]:
    """The calls that stand in blocks of a page, without comments and what follows a pipe."""
    text = page.read_text(encoding="utf-8")
    blocks = [match[1] for pattern in (FENCE, INDENTED) for match in pattern.finditer(text)]
    lines = [match[1] for block in blocks for match in CALL.finditer(block.replace("\\\n", " "))]
    return [_alone(line) for line in lines if "..." not in line and "[" not in line]


def _alone(line: str) -> str:
    """A call without what a shell reads of its line, and without a setup, which would have to be there."""
    return re.sub(r" --setup \S+", "", re.split(r"\s(?:#|&&|\||>)\s", line)[0])


def examples_of(entry: Entry) -> list[str]:
    """The calls in the help of a command."""
    return [_alone(match[1]) for match in CALL.finditer((entry.load().__doc__ or "").replace("\\\n", " "))]


IN_PAGES = {call for page in PAGES for call in calls_of(page)}
IN_HELP = {call for entry in COMMANDS for call in examples_of(entry)}
CALLS = sorted(IN_PAGES | IN_HELP)


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_help_is_for_those_who_have_the_wheel_alone(entry: Entry) -> None:
    """Pages are named by their titles: the wheel brings no docs/. A bag is a new folder, which no two examples make."""
    text = entry.load().__doc__ or ""
    assert "docs/" not in text
    assert "README" not in text
    bags = re.findall(r"iparam bag export .*?--output (\S+)", text.replace("\\\n", " "))
    assert len(bags) == len(set(bags))


class Understood(Exception):
    """The options were."""


def test_they_are_found() -> None:
    assert len(IN_PAGES) > 40
    assert len(IN_HELP) > 40


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_understood(call: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def understood(command: object) -> None:
        raise Understood

    monkeypatch.setattr(written_files, "check_outputs", understood)
    code = main(shlex.split(call))
    complaint = capsys.readouterr().err
    assert code == 0 or "Understood" in complaint, complaint

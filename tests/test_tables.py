"""Measured tables of the documentation stand where `make tables` finds them, and are replaced whole."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
STAMP = re.compile(r"^\*iparam \d\S*, .*\d{4}-\d\d-\d\d", re.MULTILINE)


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    """The script."""
    spec = importlib.util.spec_from_file_location("benchmark_tables", ROOT / "benchmarks" / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        spec.loader.exec_module(module)
    return module


def test_every_mark_names_a_script_and_holds_a_table(tables: ModuleType) -> None:
    places = tables.all_places()
    assert len(places) >= 5
    assert len({(place.page, place.command) for place in places}) == len(places)
    for place in places:
        script = next(word for word in shlex.split(place.command) if word.endswith(".py"))
        assert (ROOT / script).is_file(), place.command
        assert "\n|" in place.page.read_text("utf-8")[place.start : place.end], place.command


def test_every_stamped_table_is_between_marks_and_every_marked_one_is_stamped(tables: ModuleType) -> None:
    for page in tables.all_pages():
        places, text = tables.places_of(page), page.read_text("utf-8")
        stamps = [match.start() for match in STAMP.finditer(text)]
        for at in stamps:
            assert any(place.start < at < place.end for place in places), f"{page.name}: {text[at : at + 80]}"
        for place in places:
            assert any(place.start < at < place.end for at in stamps), place.name


PARSE_ONLY = """
import argparse, json, runpy, sys

parse = argparse.ArgumentParser.parse_args

def parse_and_stop(self, *given):
    parse(self, *given)
    raise SystemExit(0)

argparse.ArgumentParser.parse_args = parse_and_stop
sys.path[:0] = ["benchmarks", "tests"]
for words in json.load(sys.stdin):
    sys.argv = words
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        if end.code not in (0, None):
            raise SystemExit(f"{' '.join(words)}: exit code {end.code}") from None
"""


@pytest.mark.thorough
def test_every_marked_command_has_options_that_its_script_knows(tables: ModuleType) -> None:
    commands = []
    for place in tables.all_places():
        words = shlex.split(place.command)
        given = words[next(i for i, word in enumerate(words) if word.endswith(".py")) :]
        if len(given) > 1:
            assert "parse_args(" in (ROOT / given[0]).read_text("utf-8"), given  # else it would run here
            commands.append(given)
    done = subprocess.run(
        [sys.executable, "-c", PARSE_ONLY], cwd=ROOT, input=json.dumps(commands), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_failed_and_skipped_tables_do_not_end_the_others(
    tables: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = (
        "python -c 'raise SystemExit(3)'",
        "python -c 'print(1); raise SystemExit(77)'",
        ".venv-newton/bin/python x.py",
        "no-such-program",
        "python -c 'print(chr(124), 1, chr(124))'",
    )
    page = tmp_path / "README.md"
    page.write_text("".join(f"<!-- table: {one} -->\n| old |\n<!-- end of table -->\n" for one in commands))
    monkeypatch.setattr(tables, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["tables.py"])
    with pytest.raises(SystemExit) as ended:
        tables.main()
    assert ended.value.code == 1
    told = capsys.readouterr().out.partition("tables that stay as they were:\n")[2]
    assert [line.partition(":")[0] for line in told.splitlines()] == ["skipped", "skipped", "failed", "failed"]
    assert ": needs .venv-newton/bin/python, make test-newton makes it" in told
    assert page.read_text("utf-8").count("| old |") == 4
    assert "\n| 1 |\n" in page.read_text("utf-8")
    assert [place.took for place in tables.all_places()] == [None, None, None, None, 0.0]


def test_times_are_read_as_they_are_written(tables: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    for seconds in (0.0, 40.0, 89.0, 600.0, 9000.0):
        stamp = f"*iparam 0.1.0, revision abc, 2026-11-18; 2 cores; took {tables.span(seconds)}*"
        page.write_text(f"<!-- table: python x.py -->\n\n{stamp}\n\n| a |\n<!-- end of table -->\n")
        assert tables.places_of(page)[0].took == pytest.approx(seconds, rel=0.05)


def test_a_table_is_replaced_with_version_and_date_and_nothing_else(tables: ModuleType, tmp_path: Path) -> None:
    command = "PLACE=here python -c 'import os; print(chr(124), os.environ[\"PLACE\"], chr(124))'"
    page = tmp_path / "page.md"
    page.write_text(f"before\n<!-- table: {command} -->\nold\n<!-- end of table -->\nafter\n")
    for _ in range(2):
        (place,) = tables.places_of(page)
        tables.renew(place, "abc1234")
        found = page.read_text("utf-8")
        assert re.fullmatch(
            r"before\n<!-- table: .* -->\n\n\*iparam \d\S*, revision \S+, \d{4}-\d\d-\d\d; .*\*\n\n"
            r"\| here \|\n\n<!-- end of table -->\nafter\n",
            found,
        ), found


@pytest.mark.parametrize(
    "text",
    [
        "<!-- table: python x.py -->\n| a |\n",
        "| a |\n<!-- end of table -->\n",
        "<!-- table: a -->\n<!-- table: b -->\n<!-- end of table -->\n",
    ],
)
def test_marks_without_their_other_half_are_told(tables: ModuleType, tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(ValueError, match=r"page\.md"):
        tables.places_of(page)


def test_a_command_without_a_table_changes_nothing(tables: ModuleType, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- table: python -c pass -->\n| old |\n<!-- end of table -->\n")
    before = page.read_text("utf-8")
    with pytest.raises(ValueError, match="printed no table"):
        tables.renew(tables.places_of(page)[0], "abc1234")
    assert page.read_text("utf-8") == before

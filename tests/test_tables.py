"""Measured tables of the documentation stand where `make tables` finds them, and are replaced whole."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


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

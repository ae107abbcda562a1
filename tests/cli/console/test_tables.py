"""Tables fit any terminal, and show every number whole."""

from __future__ import annotations

import os

import pytest
from rich.cells import cell_len

from iparam.cli.console.printing import print_table
from iparam.cli.console.tables import fields_in_room, table_lines

TABLES = {
    "numbers": (
        ["method", "mass kg", "+-95 %", "CoM mm", "moments kg m^2"],
        [
            ["consistent", "1.9999", "0.0013", "0.0 0.0 100.1", "0.00534 0.00833 0.01051"],
            ["ls", "-2", "3e-05", "", "-"],
        ],
    ),
    "sentences": (
        ["constraint", "margin", "unit", "where", ""],
        [
            ["robot-robot collision", "0.0073", "m", "forearm_link - wrist_3_link", "ok"],
            ["torque", "18", "N m", "", "x"],
        ],
    ),
    "wide letters": (["名前", "値 [kg]"], [["部品の箱 二", "12.345678"], ["é", "1"]]),
    "one column": (["name"], [["a"], ["b c"]]),
    "no rows": (["name", "value"], []),
}


@pytest.mark.parametrize("room", [*range(5, 60, 5), 80, 200])
@pytest.mark.parametrize("name", TABLES)
def test_every_cell_is_there_and_no_word_is_cut(name: str, room: int) -> None:
    header, rows = TABLES[name]
    lines = [line.text for line in table_lines(header, rows, room)]
    words = [word for line in lines for word in line.split()]
    for cell in (cell for row in rows for cell in row):
        for word in cell.split():
            assert word in words
    longest = max(map(cell_len, words), default=0)
    for line in lines:
        assert cell_len(line) <= max(room, longest + 4)  # a word that is too long by itself is the terminal's
        assert line == line.rstrip()


@pytest.mark.parametrize("name", TABLES)
def test_without_a_terminal_a_row_is_a_line(name: str) -> None:
    header, rows = TABLES[name]
    assert len(table_lines(header, rows, None)) == 1 + len(rows)


def test_in_columns_while_that_fits_and_in_blocks_below() -> None:
    header, rows = TABLES["numbers"]
    assert [line.text for line in table_lines(header, rows, 80)] == [
        "method      mass kg  +-95 %         CoM mm           moments kg m^2",
        "consistent   1.9999  0.0013  0.0 0.0 100.1  0.00534 0.00833 0.01051",
        "ls               -2   3e-05                                       -",
    ]
    assert [line.text for line in table_lines(header, rows, 40)][:6] == [
        "consistent",
        "  mass kg         1.9999",
        "  +-95 %          0.0013",
        "  CoM mm          0.0 0.0 100.1",
        "  moments kg m^2",
        "    0.00534 0.00833 0.01051",
    ]


def test_headers_are_broken_before_sentences() -> None:
    header, rows = ["joint", "largest speed"], [["a", "1.0"]]
    assert [line.text for line in table_lines(header, rows, 14)] == [
        "joint  largest",
        "         speed",
        "a          1.0",
    ]
    header, rows = TABLES["sentences"]
    head, *lines = (line.text for line in table_lines(header, rows, 60))
    assert head.split() == ["constraint", "margin", "unit", "where"]
    assert [line.split() for line in lines[:2]] == [
        ["robot-robot", "collision", "0.0073", "m", "forearm_link", "-", "ok"],  # what a row is called stays whole
        ["wrist_3_link"],
    ]


def test_a_field_is_broken_between_words_and_an_option_is_not() -> None:
    line = "inertia xx        0.010507 +- 0.000155 kg m^2 about it"
    assert fields_in_room([line], 40) == ["inertia xx        0.010507 +- 0.000155", "                  kg m^2 about it"]
    assert fields_in_room([line], 30) == ["inertia xx 0.010507 +-", "  0.000155 kg m^2 about it"]
    assert fields_in_room([line], None) == fields_in_room([line], 80) == [line]
    advice = ["cause             delay: the wrench is late, by 20 ms,", "                  --delay 0.02 takes it out"]
    assert fields_in_room(advice, 60) == advice
    assert fields_in_room(advice, 42) == [
        "cause             delay: the wrench is",
        "                  late, by 20 ms,",
        "                  --delay 0.02 takes it out",
    ]


def test_what_is_printed_follows_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    header, rows = TABLES["numbers"]
    monkeypatch.delenv("COLUMNS", raising=False)
    print_table("title", header, rows)
    assert capsys.readouterr().out.count("\n") == 4
    monkeypatch.setitem(os.environ, "COLUMNS", "40")
    print_table("title", header, rows)
    narrow = capsys.readouterr().out.splitlines()
    assert narrow[:2] == ["title", "consistent"]
    assert max(map(len, narrow)) <= 40

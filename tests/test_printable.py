"""What a terminal may show: everything visible as it is, everything else as its escape, on one line."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from iparam.printable import plain_markdown, printable


def test_what_is_visible_stays() -> None:
    for text in ("", "run 1.parquet", "größer, 測定, ½ 🤖", r"C:\run\x1b"):
        assert printable(text) == text


def test_what_steers_a_terminal_is_shown() -> None:
    assert printable("\x1b]0;title\x07\x1b[31mred") == r"\x1b]0;title\x07\x1b[31mred"  # C0
    assert printable("a\x9b31mb\x85c\x7fd") == r"a\x9b31mb\x85c\x7fd"  # C1 and DEL
    assert printable("one\niparam: error: two\r\t") == r"one\niparam: error: two\r\t"
    assert printable("a\u202eb\u2066c\u200fd\u2028e") == r"a\u202eb\u2066c\u200fd\u2028e"  # marks of direction
    assert printable(b"bad \xff.csv".decode("utf-8", "surrogateescape")) == r"bad \udcff.csv"


@given(st.text(st.characters(), max_size=20))
def test_nothing_else_is_left(text: str) -> None:
    shown = printable(text)
    assert not {unicodedata.category(mark) for mark in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert shown.encode("utf-8").decode("utf-8") == shown


def test_names_make_no_markup() -> None:
    assert plain_markdown("tool0 at 1.5, -2.0 mm") == "tool0 at 1.5, -2.0 mm"
    assert plain_markdown("a<b>_c_|![x](http://y){z}\n") == r"a\<b\>\_c\_\|\!\[x\](http\://y)\{z\}\\n"

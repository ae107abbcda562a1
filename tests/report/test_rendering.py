"""The templates: what comes from a file is escaped, cut and one line; every kind of block has its macro."""

from __future__ import annotations

import pytest

from iparam.report.content import Block, BulletList, Card, Cards, Paragraph, Table
from iparam.report.rendering import LONGEST, page_environment, plain

jinja2 = pytest.importorskip("jinja2")

HOSTILE = "\"'><i>&{{ 7 * 7 }}\0\u202e\n"


def rendered(block: Block) -> str:
    return str(getattr(page_environment().get_template("blocks.html").module, type(block).__name__)(block)).strip()


def test_every_kind_of_block_has_a_macro() -> None:
    macros = page_environment().get_template("blocks.html").module
    assert {kind.__name__ for kind in Block.__args__} == {name for name in dir(macros) if not name.startswith("_")}


@pytest.mark.parametrize(
    "block",
    [
        Paragraph(HOSTILE, HOSTILE),
        BulletList([HOSTILE], HOSTILE),
        Table([HOSTILE] * 2, [[HOSTILE] * 2], HOSTILE, HOSTILE, HOSTILE),
        Cards([Card(HOSTILE, HOSTILE, HOSTILE, HOSTILE, "")]),
    ],
)
def test_texts_are_escaped(block: Block) -> None:
    shown = rendered(block)
    assert "<i>" not in shown
    assert "&#34;&#39;&gt;&lt;i&gt;&amp;{{ 7 * 7 }}   " in shown
    assert {"\0", "\u202e"}.isdisjoint(shown)


def test_only_shapes_are_taken_as_they_are() -> None:
    assert "<title>t</title><path/></svg>" in rendered(Cards([Card("s", "t", "d", "0 0 1 1", "<path/>")]))


def test_long_texts_are_cut() -> None:
    assert rendered(Paragraph("x" * (LONGEST + 1))) == f"<p>{'x' * (LONGEST - 1)}…</p>"
    assert rendered(Paragraph("x" * LONGEST)) == f"<p>{'x' * LONGEST}</p>"
    assert plain("abcdef", 4) == "abc…"


def test_a_unit_stays_in_one_line() -> None:
    assert '<th scope="col">the moment [kg\u00a0m²]</th>' in rendered(Table(["the moment [kg m²]"], [["a"]], "l"))
    assert "<thead>" not in rendered(Table((), [["a", "b"]], "l"))


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError, match="policy"):
        page_environment().get_template("page.html").render(sections=())

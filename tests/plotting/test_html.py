from __future__ import annotations

import sys
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest

from iparam.plotting.html import html_fragment, html_table
from iparam.plotting.time_plots import Panel, time_figure

HOSTILE = "</table><script>alert('x')</script>\x1b[31m\u202e&"


def plot() -> object:
    return time_figure([Panel(HOSTILE, np.arange(3.0), np.ones((3, 1)), (HOSTILE,))])


def test_whatever_a_text_holds_stays_text() -> None:
    shown = html_fragment(HOSTILE, html_table([[HOSTILE, HOSTILE]], (HOSTILE, "b")), remarks=[HOSTILE], plot=plot)
    root = ElementTree.fromstring(shown)
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert "script" not in names
    assert {"table", "li", "svg"} <= names
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    cells = [element.text for element in root.iter("td")]
    assert cells == ["</table><script>alert('x')</script>\\x1b[31m\\u202e&"]


def test_two_plots_of_one_page_share_no_ids() -> None:
    ids = []
    for value in (1.0, 2.0):
        panel = Panel("a", np.arange(3.0), np.full((3, 1), value), ("b",))
        root = ElementTree.fromstring(html_fragment("a", plot=partial(time_figure, [panel])))
        ids.append({element.get("id") for element in root.iter()} - {None})
    assert ids[0]
    assert not ids[0] & ids[1]


def test_without_matplotlib_there_is_the_table_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = html_fragment("a", html_table([["b", "c"]]), plot=plot)
    assert "<table>" in shown
    assert "<svg" not in shown

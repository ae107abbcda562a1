"""The README is one screen: what it is, a picture, two commands, one result, where next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import chromium as browser
import pytest
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from chromium import Browser

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT = 1920, 1080
FRAME = 150
"""What the browser itself takes of the height: tabs, address, a bar of the system."""

STYLE = """
body { margin: 0 auto; width: 980px; font: 16px/1.5 "Noto Sans", Helvetica, Arial, sans-serif }
h1 { font-size: 2em; line-height: 1.25; margin: 0 0 16px; padding-bottom: 0.3em; border-bottom: 1px solid #d1d9e0 }
p, pre { margin: 0 0 16px }
pre { font: 13.6px/1.45 monospace; padding: 16px; overflow: auto; background: #f6f8fa }
code { font: 13.6px monospace }
"""
"""As pages of repositories show it."""


@pytest.fixture
def screen(chromium: Browser) -> Iterator[Browser]:
    """The browser, as large as a usual screen."""
    for width, height in ((WIDTH, HEIGHT), (browser.WIDTH, browser.HEIGHT)):
        chromium.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        if width == WIDTH:
            yield chromium


def test_all_of_it_is_seen_at_once(screen: Browser, tmp_path: Path) -> None:
    body = MarkdownIt("commonmark", {"html": True}).render((ROOT / "README.md").read_text(encoding="utf-8"))
    page = f'<!doctype html><base href="{ROOT.as_uri()}/"><meta charset="utf-8"><style>{STYLE}</style>{body}'
    path = tmp_path / "readme.html"
    path.write_text(page, encoding="utf-8")
    screen.open(path.as_uri())
    script = """(() => {
        const image = document.querySelector("img"), blocks = [...document.querySelectorAll("pre")];
        return JSON.stringify({
            height: document.body.getBoundingClientRect().bottom,
            drawn: image.complete && image.naturalWidth > 0,
            cut: blocks.filter(block => block.scrollWidth > block.clientWidth).length,
        });
    })()"""
    seen = json.loads(screen.run(script))
    assert 500 < seen["height"] < HEIGHT - FRAME
    assert seen["drawn"]
    assert seen["cut"] == 0

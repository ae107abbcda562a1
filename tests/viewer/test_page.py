"""The one file: it opens from disk, asks for nothing, and its slider moves the arm and the curves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.viewer.page import MOST_BYTES, frame_times, write_view
from iparam.viewer.view import View, ViewInput, view_of

pytest.importorskip("viser", reason="the extra viewer is not installed")

INNER = "document.getElementById('scene').contentDocument"


@pytest.fixture(scope="module")
def view(ur5e: iparam.Robot, recording: iparam.Recording, estimate: iparam.Estimate) -> View:
    given = ViewInput(
        robot=ur5e,
        recordings=[("run.parquet", recording)],
        results=[("<b>result</b>.json", estimate)],
        title="<i>& @SCRIPT@",
    )
    return view_of(given).complete()


@pytest.fixture(scope="module")
def page(view: View, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "view.html"
    write_view(path, view)
    return path


def test_the_file_is_small_and_names_are_no_markup(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert page.stat().st_size < MOST_BYTES
    head = text[: text.index("<iframe")]
    assert "<title>&lt;i&gt;&amp; @SCRIPT@</title>" in head
    assert "<b>result" not in text
    assert "default-src 'none'" in head
    assert not re.findall(r'(?:src|href)="(?!data:)[^"]*//', text)


def test_it_opens_from_disk_and_plays(chromium: Any, page: Path, view: View) -> None:
    chromium.open(page.as_uri())
    slider = f"{INNER}.querySelector('[role=\"slider\"]')"
    chromium.until(lambda: chromium.run(f"!!{INNER} && !!{slider}"))
    chromium.until(lambda: chromium.picture()[50:-80, 50:400].std() > 10.0)
    assert [len(charts) for charts in view.charts.values()] == [3, 4]
    assert chromium.run("document.querySelectorAll('#curves svg').length") == 1
    line = "parseFloat(document.querySelector('#curves i').style.left)"
    chromium.until(lambda: (chromium.run(line) or 0.0) > 0.0)
    first, before = chromium.picture(), chromium.run(line)
    shown = chromium.run(f"parseFloat({slider}.getAttribute('aria-valuenow'))")
    chromium.until(lambda: chromium.run(f"parseFloat({slider}.getAttribute('aria-valuenow'))") != shown)
    chromium.until(lambda: chromium.run(line) != before)  # the line in the curves goes along
    chromium.until(lambda: np.abs(chromium.picture()[50:-80, 50:400] - first[50:-80, 50:400]).mean() > 1.0)
    assert not chromium.complaints
    assert not chromium.foreign_requests(page.as_uri())


def test_frames_cover_the_motion() -> None:
    times = frame_times(10.0)
    assert (times[0], times[-1], len(times)) == (0.0, 10.0, 151)
    assert len(frame_times(3600.0)) == 400
    assert frame_times(0.0).tolist() == [0.0]


def test_another_name_is_refused(view: View, tmp_path: Path) -> None:
    with pytest.raises(iparam.InputError, match=r"ends in \.html"):
        write_view(tmp_path / "view.pdf", view)

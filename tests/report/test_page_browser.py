"""The report in a real browser: pictures everywhere, and a scene for those with scripts."""

from __future__ import annotations

import base64
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.report import ReportInput, write_report
from iparam.viewer.page import embedded_scene
from iparam.viewer.view import ViewInput, view_of

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")
pytest.importorskip("viser", reason="the extra viewer is not installed")

VISIBLE = "[...document.querySelectorAll('%s')].filter(e => e.getBoundingClientRect().height > 10).length"


@pytest.fixture(scope="module")
def page(run: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    view = view_of(ViewInput(robot=run.robot, plans=[("plan", run.trajectory)], results=[("load", run.estimate)]))
    path = tmp_path_factory.mktemp("page") / "report.html"
    given = ReportInput(estimate=run.estimate, robot=run.robot, recording=run.recording, trajectory=run.trajectory)
    write_report(path, dataclasses.replace(given, scene=embedded_scene(view.complete())))
    return path


def test_the_pictures_and_the_scene_are_there(chromium: Any, page: Path) -> None:
    assert page.stat().st_size < 3_000_000
    chromium.open(page.as_uri())
    assert chromium.run(VISIBLE % "figure.card svg") > 12
    chromium.run("document.querySelector('iframe.scene').scrollIntoView({block: 'center'})")
    inner = "document.querySelector('iframe.scene').contentDocument"
    chromium.until(lambda: chromium.run(f"!!{inner} && !!{inner}.querySelector('canvas')"))
    chromium.until(lambda: np.std(chromium.picture()[100:400, 100:-100]) > 8.0)
    assert not chromium.complaints
    assert not chromium.foreign_requests(page.as_uri())


def test_paper_shows_the_pictures_and_no_scene(chromium: Any, page: Path) -> None:
    chromium.open(page.as_uri())
    chromium.call("Emulation.setEmulatedMedia", media="print")
    try:
        assert chromium.run(VISIBLE % "figure.card svg") > 12
        assert chromium.run(VISIBLE % "iframe.scene") == 0
        printed = base64.b64decode(chromium.call("Page.printToPDF", printBackground=True)["data"])
        assert printed.startswith(b"%PDF")
    finally:
        chromium.call("Emulation.setEmulatedMedia", media="")


def test_without_scripts_the_pictures_are_there_and_no_scene(chromium: Any, page: Path) -> None:
    chromium.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(page.as_uri())
        chromium.until(lambda: chromium.picture().std() > 10.0)
        assert chromium.run(VISIBLE % "figure.card svg") > 12
        assert chromium.run(VISIBLE % "iframe.scene") == 0
    finally:
        chromium.call("Emulation.setScriptExecutionDisabled", value=False)


def test_dark_where_that_is_asked_for(chromium: Any, page: Path) -> None:
    chromium.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        chromium.open(page.as_uri())
        assert chromium.run("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"
        assert np.median(chromium.picture()) < 60.0
    finally:
        chromium.call("Emulation.setEmulatedMedia", features=[])

"""The report: what is on the page, with all inputs and with few, and that nothing from a file gets into its code."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, MissingExtraError
from iparam.estimation import compare_methods
from iparam.estimation.estimate import Cause, Refutation
from iparam.remarks import Remark, Severity
from iparam.report import ReportInput, report_page, require_plot_extra, write_report
from iparam.robot.model import JointLimits

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)> $\\frac$ </title></style>\0\u202e'


class Elements(HTMLParser):
    """The names of all elements, and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs


@pytest.fixture(scope="module")
def full(run: Any) -> ReportInput:
    return ReportInput(
        estimate=run.estimate,
        robot=run.robot,
        recording=run.recording,
        trajectory=run.trajectory,
        truth=run.truth,
        comparison=compare_methods(run.recording, run.robot, ("consistent", "rls", "rtls")),
        sources={"recording": "run.parquet"},
        created="today",
    )


@pytest.fixture(scope="module")
def full_page(full: ReportInput, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_report(path, full)
    return path


def test_every_section_and_figure_is_there(full_page: Path) -> None:
    page = full_page.read_text(encoding="utf-8")
    sections = ["summary", "motion", "excitation", "wrench", "load", "methods", "provenance"]
    for name in sections:
        assert f'<section id="{name}">' in page
        assert f'href="#{name}"' in page
    assert 'id="left-out"' not in page
    assert page.count("<figure") == page.count("<svg ") == 18
    assert page.count('role="img" aria-label="') == 18
    assert len(page) < 3_000_000


def test_what_corrects_is_on_the_page(run: Any) -> None:
    cause = Cause("wrench-sign", "Reversing the wrench explains it.", 20.0, 0.5, {"measures": "reaction"})
    late = Remark("late", Severity.DOUBT, "The wrench is late.", fix={"delay": 0.02})
    for refutation in (None, Refutation("No body has such a load.", (cause,))):
        doubted = dataclasses.replace(run.estimate, causes=(cause,), remarks=(late,), refutation=refutation)
        page = report_page(ReportInput(estimate=doubted))
        assert "measures = reaction" in page
        assert "delay = 0.02" in page


def test_the_file_needs_nothing_else(full_page: Path) -> None:
    page = full_page.read_text(encoding="utf-8")
    elements = Elements(page)
    assert {"iframe", "object", "embed", "img", "base", "form"}.isdisjoint(elements.names)
    assert "script" not in elements.names
    outside = [v for k, v in elements.attributes if k in ("src", "href", "xlink:href") and not str(v).startswith("#")]
    assert outside == ["data:,"]
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    ids = [value for key, value in elements.attributes if key == "id"]
    assert len(set(ids)) == len(ids)
    assert {str(v)[1:] for k, v in elements.attributes if k in ("href", "xlink:href") and v != "data:,"} <= set(ids)


def test_the_same_input_gives_the_same_page(run: Any) -> None:
    given = ReportInput(estimate=run.estimate, robot=run.robot, truth=run.truth)
    assert report_page(given) == report_page(given)


def test_the_numbers_are_those_of_the_estimate(full_page: Path, run: Any) -> None:
    page = full_page.read_text(encoding="utf-8")
    assert "With 95 % confidence the mass is known to" in page
    assert f"{run.estimate.mass:.2f}" in page
    assert "hold the truth" in page
    assert "noise preset" not in page
    assert "recorded: noise_seed" in page
    assert "today" in page


def test_in_a_browser(full_page: Path, browser: Any) -> None:
    for width in (390, 1280):
        browser.open(full_page, width)
        assert browser.problems() == []
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        boxes = "[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect())"
        sizes = np.array(browser.evaluate(f"{boxes}.map(b => [b.width, b.height])"))
        assert sizes.shape == (18, 2)
        assert (sizes > 100.0).all()
        assert (sizes[:, 0] <= width).all()
        columns = browser.evaluate(
            "getComputedStyle(document.querySelector('.cards')).gridTemplateColumns.split(' ').length"
        )
        assert columns == (1 if width == 390 else 3)
        letters = browser.evaluate(
            "Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height))"
        )
        assert letters >= 7.0  # pixels: the smallest text of a figure, on a phone too


def test_the_estimate_alone_says_what_to_add(run: Any) -> None:
    page = report_page(ReportInput(estimate=run.estimate))
    assert '<section id="summary">' in page
    assert '<section id="load">' in page
    assert "The motion: add the recording or the trajectory" in page
    assert "Measured and predicted wrench: add the recording" in page
    assert "Methods compared: add the recording" in page
    assert page.count("<figure") == 3


def test_a_plan_without_a_run_shows_the_motion(run: Any) -> None:
    page = report_page(ReportInput(estimate=run.estimate, robot=run.robot, trajectory=run.trajectory))
    assert "as planned" in page
    assert "Excitation quality: add the recording" in page
    assert page.count("<figure") == 3 + 8


def test_hostile_texts_stay_texts(run: Any) -> None:
    joints = tuple(dataclasses.replace(joint, name=f"{HOSTILE}{i}") for i, joint in enumerate(run.robot.joints))
    robot = dataclasses.replace(run.robot, name=HOSTILE, joints=joints)
    said = Remark("few-samples", Severity.DOUBT, HOSTILE, {"count": HOSTILE}, {"bias": HOSTILE})
    estimate = dataclasses.replace(run.estimate, method=HOSTILE, status=HOSTILE, remarks=(said,))
    recording = run.recording.with_metadata(**{HOSTILE: HOSTILE}).with_remarks(said)
    margins = {HOSTILE: {"margin": 0.1, "unit": HOSTILE, "label": HOSTILE}}
    planned = dataclasses.replace(run.trajectory, robot=HOSTILE, validation={"margins": margins})
    page = report_page(
        ReportInput(
            estimate=estimate,
            robot=robot,
            recording=recording,
            trajectory=planned,
            title=HOSTILE,
            sources={HOSTILE: HOSTILE},
            created=HOSTILE,
        )
    )
    elements = Elements(page)
    assert "img" not in elements.names
    assert "script" not in elements.names
    assert not [name for name, _ in elements.attributes if name.startswith("on")]
    assert page.count("<title>") == page.count("</title>") == 1 + page.count("<svg ")
    assert page.count("</style>") == 1
    assert "&lt;script&gt;" in page
    assert "\0" not in page
    assert "did NOT keep every limit" in page


@pytest.mark.thorough
def test_an_impossible_estimate_is_called_so(run: Any) -> None:
    phi = np.array(run.estimate.phi)
    phi[0] *= -1.0
    body = iparam.InertialParameters.from_phi(phi)
    estimate = dataclasses.replace(
        run.estimate,
        phi=phi,
        mass=body.mass,
        center_of_mass=body.center_of_mass,
        inertia_about_com=body.inertia_about_com,
        physically_consistent=False,
        sensor_bias=None,
    )
    page = report_page(
        ReportInput(estimate=estimate, robot=run.robot, recording=run.recording, trajectory=run.trajectory)
    )
    assert "Not usable as it is" in page
    assert "The load on the tool: no solid has the estimated parameters" in page
    assert "fitted to this run" in page


def test_an_arm_without_limits(run: Any) -> None:
    robot = dataclasses.replace(run.robot, limits=JointLimits.unlimited(6))
    assert "no speed limit known" in report_page(
        ReportInput(estimate=run.estimate, robot=robot, trajectory=run.trajectory)
    )


def test_bad_inputs_are_refused(run: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="needs the robot"):
        ReportInput(estimate=run.estimate, recording=run.recording)
    with pytest.raises(InputError, match="without the recording"):
        ReportInput(estimate=run.estimate, motion=object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="delay"):
        ReportInput(estimate=run.estimate, delay=np.nan)
    with pytest.raises(InputError, match=r"ends in \.html"):
        write_report(tmp_path / "report.pdf", ReportInput(estimate=run.estimate))


@pytest.mark.parametrize("package", ["matplotlib", "jinja2"])
def test_without_a_package_the_error_names_the_extra(package: str, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    for make in (lambda: report_page(ReportInput(estimate=run.estimate)), require_plot_extra):
        with pytest.raises(MissingExtraError, match=rf"{package}.*iparam\[plot\]"):
            make()

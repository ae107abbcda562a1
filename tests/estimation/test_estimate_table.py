"""What is shown of an estimate: on paper, in a terminal, in a notebook, as a figure."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

from iparam.cli.console.fixes import as_options
from iparam.cli.console.printing import print_estimate
from iparam.errors import MissingExtraError
from iparam.estimation.assessment.verdict import UNSEEN, UNSEEN_AT_REST
from iparam.estimation.estimate import Cause, Estimate, Refutation
from iparam.estimation.estimate_table import estimate_lines
from iparam.remarks import fix_text, remark
from iparam.rounding import NORMAL_95

SAMPLE = Path(__file__).parents[1] / "data" / "sample_result.json"


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    return Estimate.load(SAMPLE)


def test_print_reads_like_the_table_of_the_command(
    estimate: Estimate, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    print_estimate(estimate, None)
    assert capsys.readouterr().out == f"{estimate}\n"
    lines = str(estimate).splitlines()
    assert lines[0] == "verdict           good"
    assert lines[1] == "mass              2.0005 +- 0.0014 kg"
    assert lines[4] == "centre of mass z  99.976 +- 0.112 mm"
    assert lines[5] == "inertia xx        0.010311 +- 0.000147 kg m^2 about it"
    assert lines[-3] == "condition         1.89, from 5001 samples"
    assert " ".join(lines[-2:]).split() == ["unseen", *UNSEEN.split()]
    assert estimate.assessment["unseen"] in estimate._repr_html_()


def test_a_small_load_is_not_zero_with_an_interval_of_zero(estimate: Estimate) -> None:
    """A part of 2 g, a thousandth of the sample in every parameter."""
    deviation = dataclasses.replace(
        estimate.standard_deviation,
        mass=1e-3 * estimate.standard_deviation.mass,
        inertia_about_com=1e-3 * estimate.standard_deviation.inertia_about_com,
    )
    small = dataclasses.replace(
        estimate,
        standard_deviation=deviation,
        mass=1e-3 * estimate.mass,
        inertia_about_com=1e-3 * estimate.inertia_about_com,
        phi=1e-3 * estimate.phi,
        covariance_phi=1e-6 * estimate.covariance_phi,
    )
    lines = str(small).splitlines()
    assert lines[1] == "mass              0.0020005 +- 0.0000014 kg"
    assert lines[4] == "centre of mass z  99.976 +- 0.112 mm"
    assert lines[5] == "inertia xx        0.00001031 +- 0.00000015 kg m^2 about it"


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_the_table_of_the_command_fits_the_terminal(
    estimate: Estimate, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    print_estimate(estimate, None)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= columns
    assert printed.split() == str(estimate).split()


def test_what_the_data_do_not_tell_is_a_dash(estimate: Estimate) -> None:
    part = dataclasses.replace(estimate, mass=np.nan, center_of_mass=np.full(3, np.nan), phi=np.full(10, np.nan))
    lines = str(part).splitlines()
    assert lines[:3] == ["verdict           usable: a part only", "mass              -", "centre of mass x  -"]
    assert lines[-1] == "determined        inertia_about_com; from 5001 samples"
    assert repr(part) == "<Estimate by consistent, usable: inertia_about_com; 5001 samples>"
    assert "not known" in part._repr_html_()


def test_a_weight_alone_says_what_it_does_not_show(estimate: Estimate) -> None:
    phi = np.concatenate([estimate.phi[:4], np.full(6, np.nan)])
    part = dataclasses.replace(estimate, inertia_about_com=np.full((3, 3), np.nan), phi=phi)
    assert part.assessment["unseen"] == UNSEEN_AT_REST
    assert " ".join(["unseen", UNSEEN_AT_REST]) in " ".join(str(part).split())


def test_repr_is_one_line_of_the_figures_that_matter(estimate: Estimate) -> None:
    assert repr(estimate) == (
        "<Estimate by consistent, good: mass 2.0005 ± 0.0014 kg, centre of mass 0.035 -0.028 99.98 mm; 5001 samples>"
    )


def test_the_figure_has_the_ten_parameters_and_their_intervals(estimate: Estimate) -> None:
    found = [axes.containers[0].lines[0].get_ydata() for axes in estimate.plot().axes]
    inertia = estimate.inertia_about_com[np.triu_indices(3)]
    for shown, values in zip(found, ([estimate.mass], 1e3 * estimate.center_of_mass, inertia), strict=True):
        np.testing.assert_array_equal(shown, values)
    bar = estimate.plot().axes[0].containers[0].lines[2][0].get_segments()[0][:, 1]
    half = NORMAL_95 * estimate.standard_deviation.mass
    np.testing.assert_allclose(bar, [estimate.mass - half, estimate.mass + half], rtol=1e-15)


def test_a_result_that_is_not_good_shows_its_causes_and_their_corrections(estimate: Estimate) -> None:
    fix = {"sensor_rotation": (0.0, 0.0, 90.1), "joint_offset": (0.0, 0.0, 0.0, 0.0, 0.0, 1.25)}
    said = "Turning the sensor by 90.1 +- 0.2 deg about z takes the residual from 14.4 to 0.50 N."
    causes = (Cause("sensor-rotation", said, 14.4, 0.5, fix), Cause("drift", "A bias\nthat drifts.", 14.4, 9.0))
    doubtful = dataclasses.replace(estimate, causes=causes, remarks=(remark("few-samples", count=31),))
    text = str(doubtful)
    assert text.startswith("verdict           usable, with 1 doubt\n")
    assert "\ncause             sensor-rotation: Turning the sensor" in text
    assert any(fix_text(fix) in line for line in text.splitlines()), "on one line, to be copied"
    typed = "\n".join(estimate_lines(doubtful, as_options))
    options = "--sensor-rotation 0 0 90.1 --joint-offset 0 0 0 0 0 1.25"
    assert any(options in line for line in typed.splitlines()), "as options by the commands"
    assert "\ncause             drift: A bias\\nthat drifts.\ndoubt             few-samples: " in text
    assert "unseen" in doubtful.assessment
    refuted = dataclasses.replace(doubtful, refutation=Refutation("The residuals are large.", causes))
    assert "unseen" not in str(refuted) + str(refuted.assessment)
    assert "sensor-rotation: Turning" in doubtful._repr_html_()


def test_a_refuted_result_says_so_first_everywhere(estimate: Estimate) -> None:
    cause = Cause("wrench-sign", "The wrench <b>turned</b>.", 5.0, 1.0)
    refuted = dataclasses.replace(estimate, refutation=Refutation("The residuals are large.", (cause,)))
    assert str(refuted).startswith("REFUTED           by its own data")
    assert "refuted" in repr(refuted)
    shown = refuted._repr_html_()
    assert "Estimate by consistent: refuted: do not use it" in shown
    assert "The wrench &lt;b&gt;turned&lt;/b&gt;." in shown
    blue, warning = (e.plot().axes[0].containers[0].lines[0].get_color() for e in (estimate, refuted))
    assert blue != warning


def test_a_hostile_result_file_orders_nothing(estimate: Estimate) -> None:
    said = remark("stamps-missing", topics="<img src=x>\x1b[2J")
    hostile = dataclasses.replace(estimate, method="<script>\x1b[2J", remarks=(said,))
    assert "\x1b" not in f"{hostile}{hostile!r}{hostile._repr_html_()}"
    assert "<script>" not in hostile._repr_html_()
    assert "&lt;img src=x&gt;" in hostile._repr_html_()


def test_without_matplotlib_a_notebook_has_the_table(estimate: Estimate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("iparam.plotting.matplotlib_backend._figure_class", lambda: pytest.fail("it was drawn"))
    shown = estimate._repr_html_()
    assert "2.0005 +- 0.0014 kg" in shown
    assert "<svg" not in shown
    with pytest.raises(MissingExtraError, match=r"matplotlib.*iparam\[plot\]"):
        estimate.plot()

"""The parts of a report that compute: equivalent solids, projections, convergence, rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iparam
from iparam.estimation import identify_payload, problem_from_recording
from iparam.estimation.assessment.convergence import recursive_convergence
from iparam.estimation.assessment.derived_values import derived_values
from iparam.report.figures.equivalent_body import equivalent_body
from iparam.report.figures.tool_path import cage_ticks
from iparam.report.figures.view import View, box_faces, stadium
from iparam.report.sections.wrench import envelope
from iparam.rounding import fixed, significant, with_interval
from iparam.spatial import rotation_from_rpy, transform_from


def test_the_box_of_a_box_is_itself() -> None:
    pose = transform_from(rotation_from_rpy([0.1, -0.2, 0.15]), [0.01, 0.02, 0.1])
    body = equivalent_body(iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(pose))
    assert body is not None
    assert body.box_size == pytest.approx([0.1, 0.15, 0.2])
    assert body.rotation == pytest.approx(pose[:3, :3])
    assert body.center == pytest.approx([0.01, 0.02, 0.1])


def test_the_ellipsoid_of_a_sphere_is_itself() -> None:
    body = equivalent_body(iparam.InertialParameters.sphere(3.0, 0.07))
    assert body is not None
    assert body.ellipsoid == pytest.approx(0.07**2 * np.eye(3))
    outline = View(30.0, 40.0).ellipse(body.ellipsoid, np.zeros(3))
    assert np.linalg.norm(outline, axis=1) == pytest.approx(0.07)


def test_what_no_body_has_gives_no_solid() -> None:
    assert equivalent_body(iparam.InertialParameters(1.0, np.zeros(3), np.diag([1.0, 0.1, 0.1]))) is None
    assert equivalent_body(iparam.InertialParameters(0.0, np.zeros(3), np.zeros((3, 3)))) is None


def test_a_view_is_a_rotation() -> None:
    axes = View(-50.0, 20.0).axes
    assert axes @ axes.T == pytest.approx(np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert View(-90.0, 0.0).on_page(np.array([0.2, 5.0, 0.3])) == pytest.approx([0.2, 0.3])


def test_outlines() -> None:
    outline = stadium(np.zeros(2), np.array([0.0, 2.0]), 0.5)
    assert outline.min(axis=0) == pytest.approx([-0.5, -0.5])
    assert outline.max(axis=0) == pytest.approx([0.5, 2.5])
    faces = box_faces(np.zeros(3), np.eye(3), np.array([1.0, 2.0, 3.0]), View(-90.0, 0.0))
    assert len(faces) == 1
    assert np.ptp(faces[0][0], axis=0) == pytest.approx([1.0, 3.0])
    assert len(box_faces(np.zeros(3), np.eye(3), np.ones(3), View(-50.0, 20.0))) == 3


def test_a_cage_holds_the_path_and_is_no_needle() -> None:
    points = np.array([[0.11, 0.2, 0.3], [0.12, 0.21, 1.25]])
    ticks = cage_ticks(points)
    for axis, values in enumerate(ticks):
        assert values[0] <= points[:, axis].min() + 1e-6
        assert values[-1] >= points[:, axis].max() - 1e-6
        assert np.ptp(values) >= 0.55
        assert np.diff(values) == pytest.approx(0.2)
    assert all(np.ptp(values) >= 0.03 for values in cage_ticks(np.zeros((2, 3))))


def test_the_recursive_estimates_end_where_the_batch_ones_are(run: Any) -> None:
    problem = problem_from_recording(run.recording, run.robot)
    for track in recursive_convergence(problem):
        final = derived_values(identify_payload(run.recording, run.robot, track.method))
        assert np.abs(track.values[-1] - final.values) == pytest.approx(0.0, abs=0.02 * final.half_widths.max())
        assert (track.half_widths[-1] < track.half_widths[len(track.time) // 2]).all()
        assert track.half_widths[-1] == pytest.approx(final.half_widths, rel=0.5)
        assert track.time[-1] == pytest.approx(4.0)


def test_an_envelope_covers_all_samples() -> None:
    values = np.random.default_rng(0).normal(size=1000)
    time, low, high = envelope(np.arange(1000.0), values, 20)
    assert time.shape == low.shape == high.shape == (20,)
    assert low.min() == values.min()
    assert high.max() == values.max()
    assert [part.size for part in envelope(np.arange(3.0), values[:3], 20)] == [3, 3, 3]


@pytest.mark.parametrize(
    ("value", "half_width", "shown"),
    [
        (2.00056, 0.00139, "2.0006 ± 0.0014"),
        (-0.0001, 0.3, "0.00 ± 0.30"),
        (12345.6, 230.0, "12346 ± 230"),
        (1, 0, "1.000000 ± 0.000000"),
    ],
)
def test_intervals_have_two_digits(value: float, half_width: float, shown: str) -> None:
    assert with_interval(value, half_width) == shown


def test_numbers_without_end() -> None:
    assert fixed(np.nan, 2) == significant(np.inf) == "–"
    assert significant(0.0) == "0"
    assert significant(1.5e-9) == "1.50e−9".replace("e−9", "e−09")
    assert fixed(-1e9, 1) == "−1.000e+09"

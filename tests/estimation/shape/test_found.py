"""What was found of a shape: densities that were true, in the file and on the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation import PayloadProblem, Shape, ShapeEstimator
from iparam.estimation.estimate_table import estimate_rows
from iparam.estimation.shape.data_rows import known_rows
from iparam.estimation.shape.found import MOST_CORNERS, FoundPart
from iparam.estimation.shape.posterior import shape_posterior


@pytest.fixture
def estimate(hammer: Shape, make_problem: Callable[..., PayloadProblem]) -> iparam.Estimate:
    body = hammer.body(0.6, densities=[700.0, 7850.0])
    return ShapeEstimator(hammer).fit(make_problem(body, speed=0.5))


def test_densities_hold_the_true_ones(hammer: Shape, estimate: iparam.Estimate) -> None:
    assert estimate.shape is not None
    unit = 0.6 / sum(d * part.volume for d, part in zip((700.0, 7850.0), hammer.parts, strict=True))
    for part, true in zip(estimate.shape.parts, (700.0, 7850.0), strict=True):
        assert abs(part.density - unit * true) < 4.0 * part.standard_deviation
    assert estimate.shape.parts[0].shade < estimate.shape.parts[1].shade
    texts = [text for name, text in estimate_rows(estimate) if name == "density"]
    assert [text.rsplit(" ", 1)[1] for text in texts] == ["handle", "head"]


def test_there_and_back(estimate: iparam.Estimate, tmp_path: Path) -> None:
    estimate.save(tmp_path / "r.json")
    again = iparam.Estimate.load(tmp_path / "r.json")
    assert again.shape is not None
    assert estimate.shape is not None
    assert again.shape.to_document() == estimate.shape.to_document()
    text = (tmp_path / "r.json").read_text(encoding="utf-8").replace('"outline"', '"inline"')
    (tmp_path / "r.json").write_text(text, encoding="utf-8")
    with pytest.raises(iparam.IparamError, match="outline"):
        iparam.Estimate.load(tmp_path / "r.json")


def test_the_hull_faces_outward_and_has_few_corners(hammer: Shape, estimate: iparam.Estimate) -> None:
    assert estimate.shape is not None
    for part, given in zip(estimate.shape.parts, hammer.parts, strict=True):
        assert len(part.outline) <= MOST_CORNERS
        triangles = part.triangles
        volume = np.linalg.det(triangles - part.outline.mean(axis=0)).sum() / 6.0
        assert 0.5 * given.volume < volume <= 1.01 * given.volume
    flat = FoundPart("flat", 1.0, 0.1, np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]))
    assert not len(flat.triangles)


def test_the_gain_is_what_other_data_would_have_changed(hammer: Shape) -> None:
    """As after a sensor that is 10 mm away from its place: the shape, held to be elsewhere, goes along."""
    body, slow = hammer.body(0.6), np.diag(np.array([1e-3, *[5e-4] * 3, *[5e-3] * 6]) ** 2)
    found = shape_posterior(hammer, known_rows(body.phi, slow), 0.6)
    for axis in range(3):
        away = np.eye(4)
        away[axis, 3] = 0.01
        move = body.transformed(away).phi - body.phi
        moved = shape_posterior(hammer, known_rows(body.phi + move, slow), 0.6)
        change, linear = moved.phi - found.phi, found.gain @ move
        assert linear[1 + axis] == pytest.approx(change[1 + axis], rel=0.15)
        inertia = slice(4, 10)
        assert np.linalg.norm((linear - change)[inertia]) < 0.5 * np.linalg.norm(change[inertia])


def test_a_box_says_no_density_of_its_own(
    make_problem: Callable[..., PayloadProblem], hammer: Shape, tmp_path: Path
) -> None:
    """The load need not fill it; what was a box stays one in a file."""
    edges, middle = hammer.bounds
    found = ShapeEstimator(Shape.box(1.5 * edges, middle)).fit(make_problem(hammer.body(1.1), speed=0.3))
    found.save(tmp_path / "result.json")
    for estimate in (found, iparam.Estimate.load(tmp_path / "result.json")):
        assert estimate.shape is not None
        assert len(estimate.shape.parts) == 1
        assert not estimate.shape.filled_parts
        assert "density" not in dict(estimate_rows(estimate))

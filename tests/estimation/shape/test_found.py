"""What was found of a shape: densities that were true, in the file and on the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.estimation import PayloadProblem, Shape, ShapeEstimator
from iparam.estimation.estimate_table import estimate_rows
from iparam.estimation.shape.found import MOST_CORNERS, FoundPart


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


def test_the_gain_is_what_the_data_alone_would_move(hammer: Shape, make_problem: Callable[..., PayloadProblem]) -> None:
    """All of the mass comes from the data; of an inertia that they do not show, nothing."""
    found = ShapeEstimator(hammer).fit(make_problem(hammer.body(0.6), speed=0.2))
    assert found.gain is not None
    assert found.data_share is not None
    unit = found.standard_deviation.phi
    relative = found.gain * unit / unit[:, None]
    assert relative[0, 0] == pytest.approx(1.0, abs=0.3)
    assert np.abs(relative[4:, 4:][:, found.data_share[4:] < 0.05]).max() < 0.3

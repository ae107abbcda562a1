"""Fewer points in place of many have the same moments."""

from __future__ import annotations

import numpy as np

from iparam.estimation.shape.point_moments import MOST_THINNED, thinned
from iparam.estimation.shape.shape import Part, part_phi


def test_many_points_become_few_of_the_same_volume_and_moments() -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform([-0.04, 0.1, 0.0], [0.06, 0.13, 0.3], (3 * MOST_THINNED, 3))
    volumes = rng.uniform(0.5e-9, 2e-9, len(points)) * (1.0 + 10.0 * points[:, 0])
    few, their = thinned(points, volumes)
    assert len(few) < MOST_THINNED
    assert (their > 0.0).all()
    np.testing.assert_allclose(part_phi(Part("a", few, their)), part_phi(Part("a", points, volumes)), rtol=1e-9)
    assert np.abs(few.max(axis=0) - points.max(axis=0)).max() < 0.3 / 24


def test_few_points_and_flat_ones_stay() -> None:
    points = np.random.default_rng(1).standard_normal((100, 3))
    kept, volumes = thinned(points, np.ones(100))
    assert kept is points
    np.testing.assert_array_equal(volumes, 1.0)
    sheet = np.random.default_rng(2).uniform(0.0, 0.1, (2 * MOST_THINNED, 3)) * [1.0, 1.0, 0.0]
    flat, _ = thinned(sheet, np.ones(len(sheet)))
    np.testing.assert_allclose(flat[:, 2], 0.0, atol=1e-8)

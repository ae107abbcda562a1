"""What the change detector computes of one sample, against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.estimation import kernels


@pytest.mark.parametrize("unknowns", [10, 16])
def test_a_weighed_innovation(unknowns: int) -> None:
    random = np.random.default_rng(unknowns)
    A, y, parameters = random.normal(size=(6, 10)), random.normal(size=6), random.normal(size=unknowns)
    whiten = np.tril(random.normal(size=(6, 6))) + 3.0 * np.eye(6)
    root = random.normal(size=(unknowns, unknowns))
    rows, weighted = np.zeros((6, unknowns)), np.zeros((6, unknowns + 1))
    for covariance in (root @ root.T, np.zeros((unknowns, unknowns))):
        square = kernels.weigh_innovation(whiten, A, y, parameters, covariance, rows, weighted)
        design = whiten @ np.concatenate([A, np.eye(6)], axis=1)[:, :unknowns]
        innovation = whiten @ y - design @ parameters
        innovation_covariance = np.eye(6) + design @ covariance @ design.T
        expected = np.linalg.solve(innovation_covariance, np.concatenate([innovation[:, None], design], axis=1))
        np.testing.assert_allclose(rows, design, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(weighted, expected, rtol=1e-8, atol=1e-10 * np.abs(expected).max())
        assert square == pytest.approx(innovation @ expected[:, 0] / 6.0, rel=1e-9)

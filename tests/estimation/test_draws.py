"""Draws from a posterior: bodies that can exist, with the moments of the Gaussian that they come from."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.estimation import draw_parameters
from iparam.estimation import draws as module
from iparam.spatial import InertialParameters, is_physically_consistent

BOX = InertialParameters(8.1, np.array([0.02, -0.01, 0.12]), np.diag([0.042, 0.034, 0.022])).phi
PLATE = InertialParameters(2.0, np.array([0.02, -0.01, 0.08]), np.diag([0.005, 0.010, 0.01499])).phi
DEVIATIONS = np.array([2.0, 0.05, 0.05, 0.05, *[0.012] * 6])


def covariance(seed: int, scale: float) -> np.ndarray:
    """With correlations, as every identification has them."""
    half = np.random.default_rng(seed).normal(size=(10, 10))
    correlated = half @ half.T / 10 + 0.2 * np.eye(10)
    return correlated * np.outer(DEVIATIONS, DEVIATIONS) * scale**2


def of_the_gaussian(phi: np.ndarray, spread: np.ndarray, count: int) -> np.ndarray:
    """Those of plain draws whose pseudo-inertia, written out here, has positive eigenvalues only."""
    drawn = np.random.default_rng(99).multivariate_normal(phi, spread, count, method="svd")
    m, (hx, hy, hz), (xx, xy, xz, yy, yz, zz) = drawn[:, 0], drawn[:, 1:4].T, drawn[:, 4:].T
    half = (xx + yy + zz) / 2
    rows = [[half - xx, -xy, -xz, hx], [-xy, half - yy, -yz, hy], [-xz, -yz, half - zz, hz], [hx, hy, hz, m]]
    return drawn[np.linalg.eigvalsh(np.array(rows).transpose(2, 0, 1))[:, 0] > 0]


@pytest.mark.parametrize("seed", range(4))
def test_mean_and_covariance_are_those_of_the_posterior(seed: int) -> None:
    """Where the Gaussian lies within the bodies that can exist: within sampling error, tested in all directions."""
    spread, count = covariance(seed, 0.005), 20_000
    drawn = draw_parameters(BOX, spread, count, seed)
    assert drawn.share == 1.0
    assert np.all(is_physically_consistent(drawn.phi))
    white = np.linalg.solve(np.linalg.cholesky(spread), (drawn.phi - BOX).T)
    assert count * (white.mean(axis=1) ** 2).sum() < 40.0  # chi-square of ten: one in 60,000 is larger
    error = np.cov(white) - np.eye(10)
    assert np.abs(error / np.sqrt((1.0 + np.eye(10)) / count)).max() < 4.5  # of 55 normal numbers


@pytest.mark.parametrize(("phi", "scale", "least", "most"), [(BOX, 1.0, 0.1, 0.9), (PLATE, 0.1, 0.1, 0.9)])
def test_near_the_boundary_they_are_the_gaussian_restricted_to_bodies(
    phi: np.ndarray, scale: float, least: float, most: float
) -> None:
    spread, count = covariance(1, scale), 5000
    drawn = draw_parameters(phi, spread, count)
    assert np.all(is_physically_consistent(drawn.phi))
    expected = of_the_gaussian(phi, spread, 200_000)
    assert least < drawn.share < most
    assert drawn.share == pytest.approx(len(expected) / 200_000, abs=0.02)
    assert_same_distribution(drawn.phi, expected)


def test_where_hardly_any_is_a_body_walks_find_the_same_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same distribution by both ways, where both can be taken."""
    monkeypatch.setattr(module, "_LEAST_SHARE", 1.0)
    spread = covariance(1, 0.1)
    drawn = draw_parameters(PLATE, spread, 200)
    assert np.all(is_physically_consistent(drawn.phi))
    assert_same_distribution(drawn.phi, of_the_gaussian(PLATE, spread, 100_000))


def test_an_inertia_that_the_data_do_not_show_at_all_is_drawn_from_bodies() -> None:
    """Standard deviations a hundred times the inertia: less than one in a thousand is a body."""
    wide = np.diag(np.concatenate([[0.01, 1e-4, 1e-4, 1e-4], np.full(6, 4.0)]) ** 2)
    drawn = draw_parameters(PLATE, wide, 50)
    assert drawn.share < 0.01
    assert np.all(is_physically_consistent(drawn.phi))
    assert drawn.phi[:, 0].std() == pytest.approx(0.01, rel=0.5)


def assert_same_distribution(found: np.ndarray, expected: np.ndarray) -> None:
    """Means and variances of all ten within sampling error; the kurtosis is measured, not that of a Gaussian."""
    n, m = len(found), len(expected)
    for moment in (lambda x: x, lambda x: (x - expected.mean(axis=0)) ** 2):
        one, other = moment(found), moment(expected)
        error = np.sqrt(one.var(axis=0) / n + other.var(axis=0) / m)
        assert np.abs((one.mean(axis=0) - other.mean(axis=0)) / error).max() < 4.5


def test_what_is_known_exactly_does_not_scatter() -> None:
    spread = covariance(2, 0.005)
    spread[0, :] = spread[:, 0] = 0.0
    drawn = draw_parameters(BOX, spread, 100).phi
    assert np.all(drawn[:, 0] == BOX[0])
    assert np.all(drawn[:, 1:].std(axis=0) > 0.0)
    np.testing.assert_array_equal(draw_parameters(BOX, np.zeros((10, 10)), 3).phi, np.tile(BOX, (3, 1)))


def test_a_seed_gives_the_same_draws_and_another_one_others() -> None:
    spread = covariance(3, 0.005)
    first = draw_parameters(BOX, spread, 10, seed=7).phi
    np.testing.assert_array_equal(first, draw_parameters(BOX, spread, 10, seed=7).phi)
    np.testing.assert_array_equal(first[:4], draw_parameters(BOX, spread, 4, seed=7).phi)
    assert not np.any(first == draw_parameters(BOX, spread, 10, seed=8).phi)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 0}, "count must be from 1 to 100000, got 0"),
        ({"count": 2.5}, "count must be a whole number, got 2.5"),
        ({"seed": -1}, "seed must be from 0"),
        ({"phi": -BOX}, "cannot: The mass must be positive"),
        ({"covariance_phi": -np.eye(10)}, "negative variance, -1"),
        ({"covariance_phi": np.eye(10) + 2.0 * np.eye(10)[::-1]}, "an eigenvalue of -1"),
        ({"covariance_phi": np.triu(np.ones((10, 10)))}, "covariance_phi is not symmetric"),
    ],
)
def test_wrong_arguments_are_refused(change: dict[str, object], message: str) -> None:
    arguments = {"phi": BOX, "covariance_phi": covariance(0, 0.01), "count": 2, "seed": 0} | change
    with pytest.raises(InputError) as caught:
        draw_parameters(**arguments)
    assert message in str(caught.value)

"""The load of a shape as a function of what is not known of it."""

from __future__ import annotations

import numpy as np

from iparam.estimation import Shape
from iparam.estimation.shape.posterior.cells import shape_cells
from iparam.estimation.shape.posterior.density_model import DensityModel, Spread
from iparam.estimation.shape.posterior.nearest import nearest_unknowns
from iparam.spatial import is_physically_consistent


def test_cells_make_up_the_shape_and_their_modes_are_orthonormal(hammer: Shape) -> None:
    cells = shape_cells(hammer)
    np.testing.assert_allclose(cells.to_tool(1.0) @ cells.phi.sum(axis=0), hammer.body(1.0).phi, rtol=1e-9, atol=1e-12)
    for part in range(2):
        own = cells.part == part
        weight = cells.phi[own, 0] / cells.phi[own, 0].sum()
        # Of cells, not of points: what varies within a cell is lost.
        gram = (cells.modes[own] * weight[:, None]).T @ cells.modes[own]
        np.testing.assert_allclose(weight @ cells.modes[own], 0.0, atol=1e-9)
        assert (np.diag(gram) <= 1.0 + 1e-9).all()
        assert (np.diag(gram) > 0.5).all()


def test_the_derivative_is_that_of_finite_differences(hammer: Shape) -> None:
    model = DensityModel(shape_cells(hammer), 0.6)
    at = 0.3 * np.random.default_rng(0).standard_normal((1, model.num_unknowns))
    _, slope = model(at)
    for index in range(model.num_unknowns):
        step = np.zeros_like(at)
        step[0, index] = 1e-6
        change = (model(at + step)[0] - model(at - step)[0]) / 2e-6
        np.testing.assert_allclose(slope[0, :, index], change[0], rtol=1e-5, atol=1e-7)


def test_whatever_the_unknowns_the_load_is_a_possible_body(hammer: Shape) -> None:
    model = DensityModel(shape_cells(hammer), 0.6)
    scales = model.scales(Spread(parts=1.2, within=0.6, surface=0.05))
    z = np.random.default_rng(1).standard_normal((500, model.num_unknowns))
    z[:, 0] = 0.0
    phi, _ = model(z * scales)
    assert np.all(is_physically_consistent(phi))


def test_a_density_that_is_given_is_that_of_the_part(hammer: Shape) -> None:
    known = hammer.with_densities({"head": (7850.0, 7850.0), "handle": (500.0, 900.0)})
    model = DensityModel(shape_cells(known), 0.6)
    scales = model.scales(Spread(1.2, 0.6, 1e-3))
    z = np.random.default_rng(2).standard_normal((2000, model.num_unknowns))
    densities = model.densities(z * scales)
    np.testing.assert_allclose(densities[:, 1].mean(), 7850.0, rtol=5e-3)
    assert densities[:, 1].std() < 0.015 * 7850.0
    inside = (densities[:, 0] > 500.0) & (densities[:, 0] < 900.0)
    assert 0.93 < inside.mean() < 0.97


def test_the_search_finds_what_the_data_ask_for(hammer: Shape) -> None:
    model = DensityModel(shape_cells(hammer), 0.6)
    scales = np.tile(model.scales(Spread(1.2, 0.3, 1e-3)), (3, 1))
    z = np.random.default_rng(3).standard_normal(scales.shape)
    z[:, 0] = 0.01
    wanted, _ = model(z * scales)
    rows = 1e3 * np.eye(10)
    _, phi, _, least = nearest_unknowns(model, scales, np.zeros_like(z), rows, wanted @ rows.T)
    np.testing.assert_allclose(phi, wanted, atol=2e-2 * np.abs(wanted).max())
    assert (least <= 0.5 * np.sum(z**2, axis=1) + 1e-3).all()  # no farther from the prior than what made the data

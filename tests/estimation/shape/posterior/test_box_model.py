"""A box that holds the load bounds its inertia by what can fit inside, and says nothing from below."""

from __future__ import annotations

import numpy as np
import pytest
from tests.estimation.shape.conftest import box_points

import iparam
from iparam.estimation import Shape
from iparam.estimation.shape.posterior.box_model import MARGIN, BoxModel
from iparam.estimation.shape.posterior.rows import DataRows
from iparam.estimation.shape.posterior.shape_posterior import shape_posterior
from iparam.spatial import exp_se3, is_physically_consistent
from iparam.spatial.derived import derived_covariance, mass_com_inertia

BOX = Shape.box([0.1, 0.14, 0.2], [0.02, -0.01, 0.1])
AT_REST = np.diag([1e3, *[1e4] * 3, *[0.0] * 6])[:4]


def test_the_derivative_is_that_of_differences() -> None:
    model, step = BoxModel(BOX, 2.0), 1e-6
    z = np.random.default_rng(0).standard_normal((5, model.num_unknowns))
    _, slope = model(z)
    for k in range(model.num_unknowns):
        change = step * np.eye(model.num_unknowns)[k]
        numeric = (model(z + change)[0] - model(z - change)[0]) / (2.0 * step)
        np.testing.assert_allclose(slope[:, :, k], numeric, rtol=1e-6, atol=1e-9)


def test_whatever_the_unknowns_are_the_load_is_one_that_fits_in_the_box() -> None:
    turned = BOX.placed(exp_se3([0.4, -0.2, 1.1, 0.3, 0.1, 0.0]))
    model = BoxModel(turned, 2.0)
    phi = model(np.random.default_rng(1).standard_normal((400, model.num_unknowns)))[0] @ model.to_tool.T
    back = np.linalg.inv(turned.pose)
    for one in phi:
        assert is_physically_consistent(one)
        body = iparam.InertialParameters.from_phi(one).transformed(back)
        gap = np.abs(body.center_of_mass - [0.02, -0.01, 0.1])
        edge = 0.5 * np.array([0.1, 0.14, 0.2]) + MARGIN * turned.tolerance
        assert (gap <= edge).all()
        variances = 0.5 * np.trace(body.inertia_about_com) - np.diag(body.inertia_about_com)
        assert (variances <= body.mass * (edge**2 - gap**2) * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("filling", [1.0, 0.6, 0.2, 0.03])
@pytest.mark.parametrize("place", [0.0, 0.9])
def test_rests_and_a_box_hold_a_load_that_fills_it_or_not(filling: float, place: float) -> None:
    """A generous box must not make a small load large: nobody said that the load fills it."""
    edges, middle = BOX.bounds
    room = 0.5 * (1.0 - filling) * edges
    solid = box_points(filling * edges, middle + place * room * np.array([1.0, -1.0, 1.0]))
    load = Shape.from_points(solid, np.ones(len(solid))).body(1.3) if filling > 0.05 else None
    body = load or iparam.InertialParameters.box(1.3, filling * edges).transformed(
        exp_se3([0, 0, 0, *(middle + place * room)])
    )
    found = shape_posterior(BOX, DataRows(AT_REST, AT_REST @ body.phi), 1.3)
    half = 1.96 * np.sqrt(np.diag(derived_covariance(found.phi, found.covariance)))
    assert (np.abs(mass_com_inertia(found.phi) - mass_com_inertia(body.phi)) <= half).all()
    assert is_physically_consistent(found.phi)
    largest = np.linalg.eigvalsh([iparam.InertialParameters.from_phi(phi).inertia_about_com for phi in found.samples])
    assert largest.max() <= 1.3 * (0.052**2 + 0.072**2 + 0.102**2)  # all of the mass in the corners
    assert found.left < 1.0


def test_motion_that_shows_the_inertia_is_not_pulled_by_the_box() -> None:
    body = iparam.InertialParameters.box(1.3, [0.03, 0.02, 0.05]).transformed(exp_se3([0.2, 0.1, 0, 0.05, 0.0, 0.15]))
    rows = np.diag([1e4, *[1e5] * 3, *[1e6] * 6])
    noise = np.random.default_rng(3).standard_normal(10)
    found = shape_posterior(BOX, DataRows(rows, rows @ body.phi + noise), 1.3)
    assert np.linalg.norm(rows @ found.phi - (rows @ body.phi + noise)) < 1.0


@pytest.mark.parametrize("times", [3.0, 10.0])
def test_a_generous_box_takes_nothing_from_the_data(times: float) -> None:
    body = iparam.InertialParameters.box(1.3, [0.03, 0.02, 0.05]).transformed(exp_se3([0.2, 0.1, 0, 0.05, 0.0, 0.15]))
    rows = np.diag([1e3, *[1e4] * 3, *[2e4] * 6])
    data = DataRows(rows, rows @ body.phi + np.random.default_rng(5).standard_normal(10))
    found = shape_posterior(Shape.box(times * BOX.bounds[0], BOX.bounds[1]), data, 1.3)
    assert (np.linalg.eigvalsh(rows @ found.covariance @ rows.T) <= 1.0 + 1e-6).all()
    assert is_physically_consistent(found.phi)

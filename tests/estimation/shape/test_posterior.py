"""The Gaussian of a shape: its derivative, what it says before and with data, and what contradicts it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.estimation.shape.conftest import box_points, hollow_box

import iparam
from iparam.arrays import FloatArray
from iparam.estimation import Shape
from iparam.estimation.shape.data_rows import DataRows, known_rows
from iparam.estimation.shape.estimator import contradiction, with_data
from iparam.estimation.shape.posterior import ShapeModel, shape_posterior
from iparam.remarks import Remark
from iparam.spatial.consistency import is_physically_consistent
from iparam.spatial.phi import phi_from_pseudo_inertia, pseudo_inertia_from_phi
from iparam.spatial.transforms import exp_se3

AT_REST = np.diag([1e3, *[1e4] * 3, *[0.0] * 6])[:4]
MOVING = np.diag([1e3, *[1e4] * 3, *[1e5] * 6])


def believed(shape: Shape, rows: FloatArray, phi: FloatArray) -> bool:
    return not isinstance(with_data(shape, DataRows(rows, rows @ phi)), Remark)


@pytest.mark.parametrize("box", [False, True])
def test_the_derivative_is_that_of_phi(hammer: Shape, box: bool) -> None:
    shape = Shape.box([0.1, 0.2, 0.3], [0.0, 0.0, 0.1]) if box else hammer.with_densities({"head": (7000.0, 8000.0)})
    model = ShapeModel(shape, 1.2)
    x = 0.5 * np.random.default_rng(0).standard_normal(model.num_unknowns)
    steps = 1e-6 * np.eye(len(x))
    numeric = np.array([(model(x + step)[0] - model(x - step)[0]) / 2e-6 for step in steps]).T
    np.testing.assert_allclose(model(x)[1], numeric, atol=1e-9)


def test_without_unknowns_it_is_the_shape_of_one_density(hammer: Shape) -> None:
    model = ShapeModel(hammer, 1.2)
    np.testing.assert_allclose(model(np.zeros(model.num_unknowns))[0], hammer.body(1.2).phi, rtol=1e-9, atol=1e-12)


def test_nothing_depends_on_the_frame_or_on_the_unit_of_volume(hammer: Shape) -> None:
    phi = hammer.body(1.1, [1.0, 4.0]).phi
    found = shape_posterior(hammer, DataRows(AT_REST, AT_REST @ phi), 1.1)
    parts = tuple(dataclasses.replace(part, moments=1e9 * part.moments) for part in hammer.parts)
    other = shape_posterior(dataclasses.replace(hammer, parts=parts), DataRows(AT_REST, AT_REST @ phi), 1.1)
    np.testing.assert_allclose(other.phi, found.phi, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other.covariance, found.covariance, rtol=1e-4, atol=1e-12)
    T = exp_se3([0.3, -0.5, 0.9, 0.0, 0.0, 0.0])  # turned about the origin: rows turn along
    turn = phi_from_pseudo_inertia(T @ pseudo_inertia_from_phi(np.eye(10)) @ T.T).T
    rows = AT_REST @ np.linalg.inv(turn)
    there = shape_posterior(hammer.placed(T), DataRows(rows, AT_REST @ phi), 1.1)
    np.testing.assert_allclose(there.phi, turn @ found.phi, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(there.covariance, turn @ found.covariance @ turn.T, rtol=1e-3, atol=1e-8)


def test_densities_that_differ_by_far_are_found(hammer: Shape) -> None:
    body = hammer.body(600.0 * hammer.parts[0].volume + 7850.0 * hammer.parts[1].volume, [600.0, 7850.0])
    found = shape_posterior(hammer, DataRows(AT_REST, AT_REST @ body.phi), body.mass)
    deviation = np.sqrt(np.diag(found.covariance))
    assert (np.abs(found.phi - body.phi) < 2.0 * deviation).all()
    for (density, own), true in zip(found.densities, (600.0, 7850.0), strict=True):
        assert abs(density - true) < 2.0 * own
    assert is_physically_consistent(found.phi)


@pytest.mark.parametrize("wall", [0.002, 0.005, 0.02])
def test_intervals_hold_hollow_bodies(wall: float) -> None:
    size, place = np.array([0.12, 0.1, 0.08]), np.array([0.02, 0.0, 0.15])
    box = Shape.from_points(box_points(size, place), np.full(512, np.prod(size) / 512))
    phi = hollow_box(1.5, size, place, wall).phi
    found = shape_posterior(box, DataRows(AT_REST, AT_REST @ phi), 1.5)
    assert (np.abs(found.phi - phi) <= 2.1 * np.sqrt(np.diag(found.covariance))).all()
    assert believed(box, MOVING, phi)
    np.testing.assert_allclose(shape_posterior(box, DataRows(MOVING, MOVING @ phi), 1.5).phi, phi, rtol=0.02, atol=1e-5)


def test_a_stated_density_makes_intervals_narrower(hammer: Shape) -> None:
    body = hammer.body(7850.0 * hammer.volume)
    data = DataRows(AT_REST, AT_REST @ body.phi)
    stated = hammer.with_densities({"handle": (7700.0, 8000.0), "head": (7850.0, 7850.0)})
    wide, narrow = (shape_posterior(shape, data, body.mass).covariance for shape in (hammer, stated))
    assert (np.diag(narrow) < np.diag(wide)).all()
    assert np.trace(narrow[4:, 4:]) < 0.1 * np.trace(wide[4:, 4:])


def test_of_good_data_a_shape_takes_little(hammer: Shape) -> None:
    """Whether it is right or not: its own deviation is so much larger."""
    body = hammer.body(1.1, [1.0, 3.0])
    covariance = np.diag(np.array([1e-3, *[1e-4] * 3, *[2e-5] * 6]) ** 2)
    for shape in (hammer, hammer.deformed(np.diag([1.05, 1.05, 1.0, 1.0]))):
        found = shape_posterior(shape, known_rows(body.phi, covariance), 1.1)
        assert (np.abs(found.phi - body.phi) < 0.3 * np.sqrt(np.diag(covariance))).all()
        assert (np.diag(found.covariance) <= np.diag(covariance) * (1.0 + 1e-9)).all()


def test_what_the_data_contradict(hammer: Shape) -> None:
    phi, shift = hammer.body(1.5, [1.0, 3.0]).phi, np.eye(4)
    assert believed(hammer, AT_REST, phi)
    assert believed(hammer, MOVING, phi)
    shift[:3, 3] = 0.0, 0.2, -0.1
    assert not believed(hammer.deformed(shift), AT_REST, phi)
    assert not believed(hammer.deformed(np.diag([0.3, 0.3, 1.0, 1.0])), MOVING, phi)
    assert not believed(hammer.deformed(np.diag([1.0, 1.0, -1.0, 1.0])), AT_REST, phi)


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_a_file_in_another_unit_would_be_of_no_material(hammer: Shape, factor: float) -> None:
    body = hammer.body(2700.0 * hammer.volume)
    T = np.diag([factor] * 3 + [1.0])
    T[:3, 3] = (1.0 - factor) * body.center_of_mass
    found = shape_posterior(hammer.deformed(T), DataRows(AT_REST, AT_REST @ body.phi), body.mass)
    assert "kg/m^3" in contradiction(hammer.deformed(T), found)


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_stated_densities_that_the_data_contradict_are_left_open(hammer: Shape, factor: float) -> None:
    phi, density = hammer.body(1.5).phi, factor * 1.5 / hammer.volume
    stated = hammer.with_densities(dict.fromkeys(("head", "handle"), (density,) * 2))
    data = DataRows(AT_REST, AT_REST @ phi)
    known, without = with_data(stated, data), with_data(hammer, data)
    assert not isinstance(known, Remark)
    assert not isinstance(without, Remark)
    np.testing.assert_array_equal(known.posterior.phi, without.posterior.phi)
    assert [one.code for one in known.remarks] == ["densities-left-open", *(one.code for one in without.remarks)]


class TestBox:
    SIZE = np.array([0.1, 0.16, 0.24])

    def posterior(self, body: iparam.InertialParameters) -> tuple[FloatArray, FloatArray]:
        found = shape_posterior(Shape.box(self.SIZE), DataRows(AT_REST, AT_REST @ body.phi), body.mass)
        return found.phi, np.sqrt(np.diag(found.covariance))

    @pytest.mark.parametrize("share", [0.05, 0.5, 1.0])
    def test_it_holds_what_fits_inside(self, share: float) -> None:
        body = iparam.InertialParameters.box(2.0, share * self.SIZE)
        phi, deviation = self.posterior(body)
        assert (np.abs(phi - body.phi) < 2.0 * deviation).all()

    def test_a_load_at_a_face_is_thin(self) -> None:
        away = exp_se3([0.0, 0.0, 0.0, 0.0, 0.0, 0.11])
        body = iparam.InertialParameters.box(2.0, [0.1, 0.16, 0.02]).transformed(away)
        phi, deviation = self.posterior(body)
        assert (np.abs(phi - body.phi) < 2.0 * deviation).all()
        found = iparam.InertialParameters.from_phi(phi)
        spread = 0.5 * np.trace(found.inertia_about_com) - found.inertia_about_com[2, 2]
        assert spread / found.mass < 0.3 * self.SIZE[2] ** 2 / 12.0

    def test_what_lies_outside_contradicts_it(self) -> None:
        body = iparam.InertialParameters.box(2.0, [0.02] * 3)
        for off, inside in ((0.07, True), (0.09, False)):
            away = body.transformed(exp_se3([0.0, 0.0, 0.0, 0.0, off, 0.0]))
            assert believed(Shape.box(self.SIZE), AT_REST, away.phi) == inside

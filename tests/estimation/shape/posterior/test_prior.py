"""What is held for likely of how parts are filled, against exact moments of boxes with walls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr
from tests.estimation.shape.conftest import box_points, hollow_box

import iparam
from iparam.arrays import FloatArray
from iparam.estimation import Shape
from iparam.estimation.shape.posterior.cells import shape_cells
from iparam.estimation.shape.posterior.density_model import SOLID, DensityModel, Filling, Spread
from iparam.estimation.shape.posterior.prior import fillings, hollow_filling, hypotheses

PLACE = np.array([0.03, -0.02, 0.1])


def box(size: FloatArray) -> Shape:
    return Shape.from_points(box_points(size, PLACE), np.full(512, np.prod(size) / 512))


@pytest.mark.parametrize("size", [(0.1, 0.1, 0.1), (0.15, 0.12, 0.02), (0.24, 0.03, 0.025)])
def test_the_end_of_the_way_is_a_thin_shell(size: tuple[float, float, float]) -> None:
    shape = box(np.array(size))
    model = DensityModel(shape_cells(shape), 1.0)
    spread = Spread(0.0, 0.0, 1e-9, Filling(8.0, 1e-3))
    phi, _ = model((model.means(spread) * model.scales(spread))[None])
    shell = hollow_box(1.0, np.array(size), PLACE, 1e-7)
    np.testing.assert_allclose(model.cells.to_tool(1.0) @ phi[0], shell.phi, rtol=1e-4, atol=1e-7)
    still, _ = model(np.zeros((1, model.num_unknowns)))
    np.testing.assert_allclose(model.cells.to_tool(1.0) @ still[0], shape.body(1.0).phi, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("material", [1050.0, 2700.0, 7850.0])
@pytest.mark.parametrize("wall", [0.002, 0.005, 0.01])
def test_walls_of_usual_materials_are_held_possible(material: float, wall: float) -> None:
    """How far a cube is on the way to a shell is within what its mean density lets expect of a hollow one."""
    size = np.full(3, 0.08)
    filled = 1.0 - np.prod(size - 2.0 * wall) / np.prod(size)
    solid = np.trace(iparam.InertialParameters.box(1.0, size).inertia_about_com)
    wider = np.trace(hollow_box(1.0, size, PLACE, wall).inertia_about_com) / solid
    way = np.log(wider) / np.log(5.0 / 3.0)
    mean, deviation = hollow_filling(material * float(filled))
    low, high = 2.0 * ndtr([mean - 2.0 * deviation, mean + 2.0 * deviation]) - 1.0
    assert low <= way <= high


def test_light_parts_have_thinner_walls_and_given_ones_are_solid() -> None:
    means = [hollow_filling(density).mean for density in (100.0, 400.0, 1500.0, 6000.0)]
    assert means == sorted(means, reverse=True)
    shape = box(np.full(3, 0.1))
    assert fillings(shape.with_densities({"body": (2700.0, 2700.0)}), 2.7) == ((SOLID, 1.0),)
    for mass in (0.3, 1.5, 2.7):
        assert np.isclose(sum(belief for _, belief in fillings(shape, mass)), 1.0)


def test_parts_are_held_for_solid_unless_that_is_improbable() -> None:
    shape = box(np.full(3, 0.1))
    tried = hypotheses(shape, 1.5, trusted=False)
    solid = np.array([spread.filling == SOLID for spread in tried.spreads])
    np.testing.assert_array_equal(tried.believed_filling(tried.belief), solid)
    walls = fillings(shape, 1.5)[1][0]
    hollow = np.array([spread.filling == walls for spread in tried.spreads])
    np.testing.assert_array_equal(tried.believed_filling(tried.belief + np.where(hollow, 2.0, 0.0)), solid)
    np.testing.assert_array_equal(tried.believed_filling(tried.belief + np.where(hollow, 5.0, 0.0)), hollow)

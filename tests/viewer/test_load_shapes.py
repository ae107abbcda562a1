from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.spatial.equivalent_body import equivalent_body
from iparam.viewer.load_shapes import (
    axis_ends,
    center_derivative,
    estimated_load,
    known_load,
    limited_region,
    principal_moments,
)


@pytest.fixture
def phi(load: iparam.InertialParameters) -> np.ndarray:
    return load.phi


def test_derivatives_are_those_of_finite_differences(phi: np.ndarray) -> None:
    def ends(values: np.ndarray) -> np.ndarray:
        body = equivalent_body(iparam.InertialParameters.from_phi(values))
        assert body is not None
        return axis_ends(values, body)[0]

    body = equivalent_body(iparam.InertialParameters.from_phi(phi))
    assert body is not None
    _, derivatives = axis_ends(phi, body)
    center = center_derivative(phi)
    for k in range(10):
        step = np.zeros(10)
        step[k] = 1e-7
        np.testing.assert_allclose(
            (ends(phi + step) - ends(phi - step)) / 2e-7, derivatives[:, :, k], atol=2e-5, rtol=1e-4
        )
        numeric = ((phi + step)[1:4] / (phi + step)[0] - (phi - step)[1:4] / (phi - step)[0]) / 2e-7
        np.testing.assert_allclose(numeric, center[:, k], atol=1e-6)


@pytest.mark.thorough
def test_regions_hold_their_share_of_the_estimates(estimate: iparam.Estimate, load: iparam.InertialParameters) -> None:
    """Of 4000 estimates with the covariance of this one, 95 % lie in the regions: within 4 sigma of that count."""
    chosen = dataclasses.replace(estimate, phi=load.phi, covariance_phi=1e-2 * estimate.covariance_phi)
    shapes = estimated_load(chosen, "result.json")
    assert shapes.center_region is not None
    assert shapes.axis_regions is not None
    draws = np.random.default_rng(5).multivariate_normal(load.phi, chosen.covariance_phi, 4000)
    away = draws[:, 1:4] / draws[:, :1] - load.center_of_mass
    inside = np.einsum("ti,ij,tj->t", away, np.linalg.inv(shapes.center_region), away) <= 1.0
    assert abs(inside.mean() - 0.95) < 4.0 * np.sqrt(0.95 * 0.05 / 4000)
    ends = []
    for draw in draws:
        body = equivalent_body(iparam.InertialParameters.from_phi(draw))
        assert body is not None
        ends.append(axis_ends(draw, body)[0])
    for axis in range(3):
        away = np.array(ends)[:, axis] - shapes.axis_ends[axis]
        inside = np.einsum("ti,ij,tj->t", away, np.linalg.inv(shapes.axis_regions[axis]), away) <= 1.0
        assert abs(inside.mean() - 0.95) < 4.0 * np.sqrt(0.95 * 0.05 / 4000)


def test_deviations_of_principal_moments_are_those_of_many_estimates(
    estimate: iparam.Estimate, load: iparam.InertialParameters
) -> None:
    chosen = dataclasses.replace(estimate, phi=load.phi, covariance_phi=1e-2 * estimate.covariance_phi)
    moments, deviations = principal_moments(chosen)
    draws = np.random.default_rng(6).multivariate_normal(load.phi, chosen.covariance_phi, 4000)
    found = [np.linalg.eigvalsh(iparam.InertialParameters.from_phi(draw).inertia_about_com) for draw in draws]
    np.testing.assert_allclose(moments, np.linalg.eigvalsh(load.inertia_about_com), rtol=1e-9)
    np.testing.assert_allclose(np.std(found, axis=0), deviations, rtol=0.05)  # 4 sigma of 4000 draws


def test_the_ellipsoid_s_half_axes_end_on_it(load: iparam.InertialParameters) -> None:
    shapes = known_load(load, "truth")
    assert shapes.body is not None
    inverse = np.linalg.inv(shapes.body.ellipsoid)
    np.testing.assert_allclose([end @ inverse @ end for end in shapes.axis_ends], 1.0, rtol=1e-9)
    assert shapes.center_region is None


def test_axes_of_equal_moments_are_not_determined(estimate: iparam.Estimate) -> None:
    ball = iparam.InertialParameters.sphere(2.0, 0.05)
    shapes = estimated_load(dataclasses.replace(estimate, phi=ball.phi, mass=2.0), "ball")
    assert shapes.undetermined == (True, True, True)
    assert shapes.axis_regions is not None
    widest = np.sqrt(np.linalg.eigvalsh(limited_region(shapes.axis_regions[0], 0.05))[-1])
    assert widest == pytest.approx(0.05)

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.viewer.load_shapes import center_derivative, estimated_load, known_load, principal_moments


@pytest.fixture
def phi(load: iparam.InertialParameters) -> np.ndarray:
    return load.phi


def test_the_derivative_is_that_of_finite_differences(phi: np.ndarray) -> None:
    center = center_derivative(phi)
    for k in range(10):
        step = np.zeros(10)
        step[k] = 1e-7
        numeric = ((phi + step)[1:4] / (phi + step)[0] - (phi - step)[1:4] / (phi - step)[0]) / 2e-7
        np.testing.assert_allclose(numeric, center[:, k], atol=1e-6)


@pytest.mark.thorough
def test_the_region_holds_its_share_of_estimates(estimate: iparam.Estimate, load: iparam.InertialParameters) -> None:
    """Of 4000 estimates with the covariance of this one, 95 % lie in the region: within 4 sigma of that count."""
    chosen = dataclasses.replace(estimate, phi=load.phi, covariance_phi=1e-2 * estimate.covariance_phi)
    shapes = estimated_load(chosen, "result.json")
    assert shapes.center_region is not None
    draws = np.random.default_rng(5).multivariate_normal(load.phi, chosen.covariance_phi, 4000)
    away = draws[:, 1:4] / draws[:, :1] - load.center_of_mass
    inside = np.einsum("ti,ij,tj->t", away, np.linalg.inv(shapes.center_region), away) <= 1.0
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


def test_a_known_load_has_no_region(load: iparam.InertialParameters) -> None:
    shapes = known_load(load, "truth")
    assert shapes.body is not None
    assert shapes.center_region is None

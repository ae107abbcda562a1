"""Mass, centre of mass and inertia about it as functions of phi."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.spatial.derived import derived_covariance, mass_com_inertia, mass_com_inertia_jacobian
from iparam.spatial.parameters import InertialParameters, inertia_entries
from iparam.spatial.transforms import rotation_from_rpy, transform_from

POSE = transform_from(rotation_from_rpy([0.3, -0.2, 0.5]), [0.05, -0.03, 0.12])
PHI = InertialParameters.box(2.3, (0.1, 0.15, 0.2)).transformed(POSE).phi


def derived(phi: np.ndarray) -> np.ndarray:
    body = InertialParameters.from_phi(phi)
    return np.array([body.mass, *body.center_of_mass, *inertia_entries(body.inertia_about_com)])


def test_jacobian_against_central_differences() -> None:
    steps = 1e-6 * np.eye(10)
    numeric = np.stack([(derived(PHI + step) - derived(PHI - step)) / 2e-6 for step in steps], axis=1)
    np.testing.assert_allclose(mass_com_inertia_jacobian(PHI), numeric, rtol=1e-7, atol=1e-9)


def test_values_are_those_of_the_body() -> None:
    np.testing.assert_allclose(mass_com_inertia(PHI), derived(PHI), rtol=1e-12, atol=1e-15)
    with pytest.raises(InputError, match="mass 0"):
        mass_com_inertia(np.zeros(10))


def test_batches() -> None:
    batch = np.stack([[PHI, 2.0 * PHI, PHI + 0.1]] * 2)
    np.testing.assert_array_equal(mass_com_inertia(batch)[1, 2], mass_com_inertia(PHI + 0.1))
    jacobians = mass_com_inertia_jacobian(batch)
    assert jacobians.shape == (2, 3, 10, 10)
    np.testing.assert_array_equal(jacobians[1, 2], mass_com_inertia_jacobian(PHI + 0.1))
    assert derived_covariance(batch, np.eye(10)).shape == (2, 3, 10, 10)


def test_covariance_against_samples() -> None:
    rng = np.random.default_rng(0)
    root = 1e-4 * rng.normal(size=(10, 10))
    samples = np.array([derived(PHI + root @ rng.normal(size=10)) for _ in range(4000)])
    predicted = derived_covariance(PHI, root @ root.T)
    # The standard deviation of 4000 samples is known to 1.1 %.
    np.testing.assert_allclose(samples.std(axis=0), np.sqrt(np.diag(predicted)), rtol=0.05)


def test_no_mass_is_refused() -> None:
    with pytest.raises(InputError, match="mass 0"):
        mass_com_inertia_jacobian(np.zeros(10))


def test_an_asymmetric_covariance_is_refused() -> None:
    with pytest.raises(InputError, match="not symmetric"):
        derived_covariance(PHI, np.triu(np.ones((10, 10))))

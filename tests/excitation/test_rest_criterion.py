"""Rests given a shape: more rests tell more, and what the shape knows already need not be told."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.excitation import RestCriterion
from iparam.excitation.static_poses import regressors_at_rest
from iparam.robot.batching import STANDARD_GRAVITY

BODY = iparam.InertialParameters.box(1.0, [0.1, 0.1, 0.3])
NOISE = np.repeat([0.02, 0.002], 3)


def rests(count: int) -> np.ndarray:
    q = np.random.default_rng(0).uniform(-2.0, 2.0, (count, 6))
    return regressors_at_rest(iparam.load_robot("ur5e"), q, STANDARD_GRAVITY)


def test_more_rests_tell_more() -> None:
    covariance = np.diag(np.array([0.5, *[0.03] * 3, *[0.003] * 6]) ** 2)
    covariance[3, 4] = covariance[4, 3] = 0.9 * 0.03 * 0.003  # a centre of mass that tells an inertia
    criterion = RestCriterion(BODY, covariance, NOISE)
    values = [float(criterion.values(rests(1), rests(count)).max()) for count in (2, 4, 8)]
    assert values == sorted(values)
    errors = [criterion.relative_inertia(rests(count)) for count in (2, 4, 8)]
    assert errors == sorted(errors, reverse=True)
    untold = RestCriterion(BODY, np.diag(np.diag(covariance)), NOISE)
    assert untold.relative_inertia(rests(8)) > 1.04 * errors[-1]  # one of nine entries, by 0.19


def test_the_expected_error_is_that_of_the_posterior() -> None:
    covariance = np.diag(np.array([0.5, *[0.03] * 3, *[0.003] * 6]) ** 2)
    A = rests(6)
    rows = np.zeros((6, 6, 16))
    rows[:, :, :4], rows[:, :, 10:] = 9.81 * A[:, :, :4], A[:, :, 4:]
    weighed = (rows / NOISE[:, None]).reshape(-1, 16)
    prior = np.diag([*np.diag(covariance), *np.repeat([100.0, 1.0], 3)])
    direct = np.linalg.inv(np.linalg.inv(prior) + weighed.T @ weighed)
    from_prior = RestCriterion(BODY, covariance, NOISE).relative_inertia(A)
    variances = np.diag(iparam.spatial.derived.derived_covariance(BODY.phi, direct[:10, :10]))[4:]
    size = np.linalg.norm(BODY.inertia_about_com)
    assert from_prior == pytest.approx(np.sqrt(variances @ [1.0, 2.0, 2.0, 1.0, 2.0, 1.0]) / size, rel=1e-6)


def test_wrong_noise_is_refused() -> None:
    with pytest.raises(iparam.IparamError, match="noise"):
        RestCriterion(BODY, np.eye(10), np.zeros(6))


def test_rests_alone_tell_mass_and_centre_and_no_inertia() -> None:
    A = rests(6)
    deviation = np.sqrt(np.diag(RestCriterion(BODY, np.eye(10), NOISE).by_rests_alone(A)))
    weighed = (np.concatenate([9.81 * A[:, :, :4], A[:, :, 4:]], axis=2) / NOISE[:, None]).reshape(-1, 10)
    np.testing.assert_allclose(deviation[:4], np.sqrt(np.diag(np.linalg.inv(weighed.T @ weighed)))[:4], rtol=1e-3)
    assert (deviation[4:] > 50.0 * np.linalg.eigvalsh(BODY.inertia_about_com)[-1]).all()

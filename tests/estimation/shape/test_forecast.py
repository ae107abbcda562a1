"""What a shape will be worth: between silence and the data, and what loads of it then show."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.estimation import Shape, expected_with_shape, guessed_body, shape_moments
from iparam.estimation.shape.data_rows import known_rows
from iparam.estimation.shape.posterior import shape_posterior

SLOW = np.diag(np.array([1e-3, *[2e-4] * 3, *[5e-3] * 6]) ** 2)


def test_moments_are_those_of_the_shape(hammer: Shape) -> None:
    phi, covariance = shape_moments(hammer, 0.6)
    np.testing.assert_allclose(phi, hammer.body(0.6).phi, rtol=1e-3, atol=1e-5)
    assert np.sqrt(covariance[0, 0]) > 0.1 * 0.6  # the mass is a guess
    assert (np.linalg.eigvalsh(covariance) > -1e-9).all()
    known = hammer.with_densities({"handle": (700.0, 700.0), "head": (7850.0, 7850.0)})
    known = dataclasses.replace(known, tolerance=2e-4)  # which is what the volume, and so the mass, is known to
    weight = sum(d * part.volume for d, part in zip((700.0, 7850.0), hammer.parts, strict=True))
    assert np.sqrt(shape_moments(known, weight)[1][0, 0]) < 0.05 * weight


def test_what_is_expected_is_what_a_load_gives(hammer: Shape) -> None:
    expected = np.sqrt(np.diag(expected_with_shape(hammer, SLOW, 0.6)))
    alone = np.sqrt(np.diag(SLOW))
    assert (expected[4:] < 0.3 * alone[4:]).all()
    assert expected[0] == pytest.approx(alone[0], rel=0.3)
    body = hammer.body(0.6, [1.0, 1.3])
    found = shape_posterior(hammer, known_rows(body.phi, SLOW), 0.6)
    ratio = float(np.exp(np.mean(np.log(np.sqrt(np.diag(found.covariance))[4:] / expected[4:]))))
    assert ratio == pytest.approx(1.0, abs=0.1)


def test_a_mass_that_cannot_be_is_refused(hammer: Shape) -> None:
    with pytest.raises(iparam.IparamError, match="positive"):
        shape_moments(hammer, 0.0)


def test_a_guessed_body_has_the_densities_that_were_given(hammer: Shape) -> None:
    handle, head = hammer.parts
    mass = 700.0 * handle.volume + 7850.0 * head.volume
    truth = hammer.body(mass, [700.0, 7850.0]).phi
    one = hammer.with_densities({"head": (7850.0, 7850.0)})
    both = hammer.with_densities({"handle": (600.0, 800.0), "head": (7750.0, 7950.0)})
    for known in (one, both):
        np.testing.assert_allclose(guessed_body(known, mass).phi, truth, rtol=0.02, atol=1e-4)
    np.testing.assert_allclose(guessed_body(hammer, mass).phi, hammer.body(mass).phi, rtol=1e-6, atol=1e-12)
    assert both.stated_mass == pytest.approx(mass)
    assert one.stated_mass is None
    for absurd in (1e-3 * mass, 1e2 * mass):
        with pytest.raises(ContradictionError, match="contradicts the shape"):
            shape_moments(hammer, absurd)
    for known, wrong in ((one, 0.5 * mass), (both, 0.5 * mass), (both, 2.0 * mass)):
        with pytest.raises(ContradictionError, match="contradicts the shape"):
            shape_moments(known, wrong)

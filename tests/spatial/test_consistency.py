"""Consistency: each condition alone, the limiting bodies, and bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from iparam import spatial
from iparam.errors import InputError
from iparam.spatial import InertialParameters, check_consistency, is_physically_consistent

POSE = spatial.exp_se3([0.4, -0.9, 1.3, 0.5, -0.7, 0.2])


def body(mass: float, *principal_moments: float) -> Any:
    """phi of a body with these moments about its centre of mass, turned and away from the origin."""
    return InertialParameters(mass, np.zeros(3), np.diag(principal_moments)).transformed(POSE).phi


def test_a_real_body() -> None:
    report = check_consistency(body(2.0, 0.03, 0.04, 0.05))
    assert report.consistent
    assert bool(report)
    assert report.violations == ()
    assert_allclose(report.principal_moments, [0.03, 0.04, 0.05], rtol=1e-13)
    J = spatial.pseudo_inertia_from_phi(body(2.0, 0.03, 0.04, 0.05))
    assert report.smallest_pseudo_inertia_eigenvalue == pytest.approx(np.linalg.eigvalsh(J)[0], rel=1e-12)


def test_triangle_inequality_names_the_moments() -> None:
    report = check_consistency(body(1.0, 0.1, 0.2, 0.35))
    assert not report
    triangle = [text for text in report.violations if "triangle" in text]
    assert len(triangle) == 1
    assert "I1 + I2 > I3" in triangle[0]
    assert "0.1 + 0.2 is not above 0.35 kg m^2" in triangle[0]
    assert [text for text in report.violations if "pseudo-inertia" in text]
    assert not [text for text in report.violations if "mass must" in text or "Principal moment" in text]
    assert all(text.endswith(".") and text[0].isupper() for text in report.violations)


def test_negative_moment() -> None:
    report = check_consistency(body(1.0, -0.1, 0.2, 0.2))
    assert any("Principal moment I1" in text and "-0.1 kg m^2" in text for text in report.violations)
    assert report.smallest_pseudo_inertia_eigenvalue < 0


def test_centre_of_mass_too_far_out() -> None:
    """Mass and inertia about the origin are fine; only the first moment is too large for them."""
    report = check_consistency([1, 1.1, 0, 0, 1, 0, 0, 1, 0, 1])
    assert not report
    assert any("pseudo-inertia" in text for text in report.violations)


@pytest.mark.parametrize("mass", [0.0, -1.5])
def test_mass(mass: float) -> None:
    report = check_consistency([mass, 0, 0, 0, 1, 0, 0, 1, 0, 1])
    assert report.violations[0] == f"The mass must be positive, but is {mass:g} kg."
    assert_allclose(report.principal_moments, 1.0)


def test_no_centre_of_mass() -> None:
    report = check_consistency([0, 1, 0, 0, 1, 0, 0, 1, 0, 1])
    assert not report
    assert np.isnan(report.principal_moments).all()
    assert not check_consistency([1e-310, 1, 0, 0, 1, 0, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("mass", "principal_moments"),
    [(1.0, (0.0, 0.0, 0.0)), (1.0, (0.0, 0.2, 0.2)), (1.0, (0.1, 0.2, 0.3)), (0.0, (0.0, 0.0, 0.0))],
    ids=["point", "rod", "plate", "nothing"],
)
def test_limiting_bodies_are_inconsistent_without_tolerance(
    mass: float, principal_moments: tuple[float, float, float]
) -> None:
    """In any pose: a verdict that rounding decides would come out both ways."""
    flat = InertialParameters(mass, np.zeros(3), np.diag(principal_moments))
    for twist in np.random.default_rng(8).normal(size=(100, 6)):
        phi = flat.transformed(spatial.exp_se3(twist)).phi
        assert not check_consistency(phi)
        assert is_physically_consistent(phi) is False
        assert check_consistency(phi, tolerance=1e-12)


def test_a_thin_foil_is_a_body() -> None:
    """10 micrometres thick, half a metre from the origin: the thickness must survive the rounding allowance."""
    foil = InertialParameters.box(1.0, [0.3, 0.3, 1e-5]).transformed(POSE)
    assert check_consistency(foil.phi).violations == ()


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_verdict_does_not_depend_on_the_density(scale: float) -> None:
    assert is_physically_consistent(scale * body(1.0, 0.1, 0.2, 0.29)) is True
    assert is_physically_consistent(scale * body(1.0, 0.1, 0.2, 0.31)) is False


def test_tolerance_is_how_much_may_be_missing() -> None:
    phi = [1, 0, 0, 0, 0.1, 0, 0, 0.2, 0, 0.3 + 2e-6]  # the triangle is missed by 2e-6, the eigenvalue by 1e-6
    assert not check_consistency(phi)
    assert not check_consistency(phi, tolerance=1.9e-6)
    assert check_consistency(phi, tolerance=2.1e-6)


def test_batch_agrees_with_single() -> None:
    drawn = np.random.default_rng(2).uniform(0.01, 1.0, size=(60, 4))
    phi = np.stack([body(*numbers) for numbers in drawn])
    together = is_physically_consistent(phi.reshape(3, 20, 10))
    assert isinstance(together, np.ndarray)
    assert together.shape == (3, 20)
    assert list(together.ravel()) == [check_consistency(one).consistent for one in phi]
    assert 0 < together.sum() < together.size, "both verdicts must occur"
    assert np.shape(is_physically_consistent(np.zeros((0, 10)))) == (0,)


@pytest.mark.parametrize("function", [check_consistency, is_physically_consistent])
@pytest.mark.parametrize("bad", [np.ones(9), np.full(10, np.nan), np.ones(10, complex), np.ones(10, object), 1.0])
def test_bad_input_is_refused_by_name(function: Any, bad: Any) -> None:
    with pytest.raises(InputError, match=r"^phi must"):
        function(bad)


def test_report_is_of_one_body() -> None:
    with pytest.raises(InputError, match="is_physically_consistent takes batches"):
        check_consistency(np.ones((2, 10)))


@pytest.mark.parametrize("tolerance", [-1e-9, np.nan, [0.0, 0.0]])
def test_bad_tolerance_is_refused(tolerance: Any) -> None:
    with pytest.raises(InputError, match="tolerance must"):
        check_consistency(np.ones(10), tolerance=tolerance)

"""Log-Cholesky: the paper's formula built entry by entry, the Jacobian by complex step, and bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from iparam import spatial
from iparam.errors import InputError
from iparam.spatial import InertialParameters

THETA = np.array([0.3, -1.1, -0.7, -0.9, 0.05, -0.02, 0.04, 0.1, -0.2, 0.3])


def paper_phi(theta: Any) -> Any:
    """phi of one theta, written out from U entry by entry; works for complex theta."""
    alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 = theta
    U = np.exp(alpha) * np.array(
        [[np.exp(d1), s12, s13, t1], [0, np.exp(d2), s23, t2], [0, 0, np.exp(d3), t3], [0, 0, 0, 1]]
    )
    J = U @ U.T
    xx, yy, zz = J[0, 0], J[1, 1], J[2, 2]
    return np.array([J[3, 3], J[0, 3], J[1, 3], J[2, 3], yy + zz, -J[0, 1], -J[0, 2], xx + zz, -J[1, 2], xx + yy])


def test_phi_is_the_papers() -> None:
    assert_allclose(spatial.phi_from_log_cholesky(THETA), paper_phi(THETA), rtol=1e-14)


def test_mass_and_centre_of_mass_can_be_read_off() -> None:
    body = InertialParameters.from_phi(spatial.phi_from_log_cholesky(THETA))
    assert body.mass == pytest.approx(np.exp(2 * THETA[0]), rel=1e-15)
    assert_allclose(body.center_of_mass, THETA[7:], rtol=1e-15)


def test_jacobian_by_complex_step() -> None:
    """The complex step has no cancellation, so it is exact to rounding."""
    step = 1e-30
    columns = [paper_phi(THETA + 1j * step * unit).imag / step for unit in np.eye(10)]
    assert_allclose(spatial.log_cholesky_jacobian(THETA), np.column_stack(columns), rtol=1e-14, atol=1e-15)


def test_jacobian_is_invertible() -> None:
    """The parameterization is a bijection with the consistent bodies, so it has no singularity."""
    assert np.linalg.matrix_rank(spatial.log_cholesky_jacobian(THETA)) == 10


def test_theta_comes_back() -> None:
    assert_allclose(spatial.log_cholesky_from_phi(spatial.phi_from_log_cholesky(THETA)), THETA, rtol=0, atol=1e-14)


def test_round_trip_of_a_unit_sphere() -> None:
    # Solid unit sphere of 1 kg: J = diag(1/5, 1/5, 1/5, 1), so alpha = 0, d = log(1/5) / 2, and all else is 0.
    theta = spatial.log_cholesky_from_phi(InertialParameters.sphere(1.0, 1.0).phi)
    assert_allclose(theta, [0, *[0.5 * np.log(0.2)] * 3, 0, 0, 0, 0, 0, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ([-1, 0, 0, 0, 1, 0, 0, 1, 0, 1], "The mass must be positive, but is -1 kg"),
        ([1, 0, 0, 0, 1, 0, 0, 1, 0, 3], r"triangle inequality I1 \+ I2 > I3 .* 1 \+ 1 is not above 3"),
        ([1, 2, 0, 0, 1, 0, 0, 1, 0, 1], "smallest eigenvalue is -1.26"),
        (np.zeros(10), "The mass must be positive, but is 0 kg"),
        (InertialParameters(1.0, np.ones(3), np.zeros((3, 3))).phi, "triangle inequality"),
    ],
)
def test_inconsistent_phi_is_refused_with_the_reason(phi: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        spatial.log_cholesky_from_phi(phi)


def test_inconsistent_phi_in_a_batch_is_named() -> None:
    good = InertialParameters.sphere(1.0, 0.1).phi
    with pytest.raises(InputError, match=r"batch index \(1, 0\).*mass must be positive"):
        spatial.log_cholesky_from_phi(np.stack([[good], [-good]]))


def test_overflow_is_refused() -> None:
    huge = THETA.copy()
    huge[0] = 400.0
    for function in (spatial.phi_from_log_cholesky, spatial.log_cholesky_jacobian):
        with pytest.raises(InputError, match="theta is too large"):
            function(huge)


@pytest.mark.parametrize("batch", [(0,), (1,), (2, 3)])
def test_a_batch_is_the_single_results_stacked(batch: tuple[int, ...]) -> None:
    theta = np.random.default_rng(5).normal(size=(*batch, 10))
    phi, jacobian = spatial.phi_from_log_cholesky(theta), spatial.log_cholesky_jacobian(theta)
    back = spatial.log_cholesky_from_phi(phi)
    assert phi.shape == back.shape == (*batch, 10)
    assert jacobian.shape == (*batch, 10, 10)
    for index in np.ndindex(*batch):
        assert_allclose(phi[index], spatial.phi_from_log_cholesky(theta[index]), rtol=1e-14, atol=1e-14)
        assert_allclose(jacobian[index], spatial.log_cholesky_jacobian(theta[index]), rtol=1e-14, atol=1e-14)
        assert_allclose(back[index], spatial.log_cholesky_from_phi(phi[index]), rtol=1e-14, atol=1e-14)


ENTRANCES: list[tuple[Callable[..., Any], Any, str]] = [
    (spatial.phi_from_log_cholesky, THETA, "theta"),
    (spatial.log_cholesky_jacobian, THETA, "theta"),
    (spatial.log_cholesky_from_phi, InertialParameters.sphere(1.0, 1.0).phi, "phi"),
]


@pytest.mark.parametrize(("function", "good", "name"), ENTRANCES)
@pytest.mark.parametrize("bad", ["shape", "nan", "complex", "object"])
def test_bad_input_is_refused_by_name(function: Callable[..., Any], good: Any, name: str, bad: str) -> None:
    arguments = {
        "shape": np.ones(9),
        "nan": good * np.nan,
        "complex": good.astype(complex),
        "object": good.astype(object),
    }
    function(good)
    with pytest.raises(InputError, match=f"^{name} must"):
        function(arguments[bad])

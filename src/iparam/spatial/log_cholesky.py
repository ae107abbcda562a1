"""Log-Cholesky parameters: ten free numbers, each choice of which is a physically consistent body.

Rucker & Wensing, "Smooth parameterization of rigid-body inertia", IEEE RA-L 2022:
theta = [alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3], pseudo-inertia J = U U^T with

    U = e^alpha [[e^d1, s12,  s13,  t1],
                 [0,    e^d2, s23,  t2],
                 [0,    0,    e^d3, t3],
                 [0,    0,    0,    1 ]]

so the mass is e^(2 alpha) [kg] and the centre of mass is t [m]; e^d and s are in m.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.spatial.consistency import check_consistency, is_physically_consistent
from iparam.spatial.phi import phi_from_pseudo_inertia, pseudo_inertia_from_phi

# Where theta[4:] sits in U: s12, s23, s13, t1, t2, t3.
_ROW, _COLUMN = np.array([0, 1, 0, 0, 1, 2]), np.array([1, 2, 2, 3, 3, 3])
_DIAGONAL = np.arange(3)


def phi_from_log_cholesky(theta: ArrayLike) -> FloatArray:
    """(..., 10) phi of theta (..., 10); consistent for every theta that does not over- or underflow."""
    U = _factor(as_float_array(theta, "theta", (10,)))
    with np.errstate(over="ignore", invalid="ignore"):
        J = U @ np.swapaxes(U, -1, -2)
    return phi_from_pseudo_inertia(_representable(J))


def log_cholesky_from_phi(phi: ArrayLike) -> FloatArray:
    """(..., 10) theta of phi (..., 10); InputError, saying which condition fails, if phi is not consistent."""
    parameters = as_float_array(phi, "phi", (10,))
    good = np.asarray(is_physically_consistent(parameters))
    if not good.all():
        where = tuple(int(i) for i in np.argwhere(~good)[0])
        reasons = " ".join(check_consistency(parameters[where]).violations)
        place = f" (batch index {where if len(where) > 1 else where[0]})" if where else ""
        raise InputError(
            argument="phi", problem=f"is not physically consistent{place}, so it has no log-Cholesky form. {reasons}"
        )
    # J = U U^T with U upper triangular is the lower Cholesky factor of J with both axes reversed.
    J = pseudo_inertia_from_phi(parameters)[..., ::-1, ::-1]
    U = np.linalg.cholesky(J)[..., ::-1, ::-1]
    scale = U[..., 3, 3]
    theta = np.empty_like(parameters)
    theta[..., 0] = np.log(scale)
    theta[..., 1:4] = np.log(U[..., _DIAGONAL, _DIAGONAL] / scale[..., None])
    theta[..., 4:] = U[..., _ROW, _COLUMN] / scale[..., None]
    return theta


def log_cholesky_jacobian(theta: ArrayLike) -> FloatArray:
    """(..., 10, 10) d phi / d theta at theta (..., 10): row i, column k is d phi_i / d theta_k."""
    parameters = as_float_array(theta, "theta", (10,))
    U = _factor(parameters)
    scale = U[..., 3, 3]
    dU = np.zeros((*parameters.shape[:-1], 10, 4, 4))
    dU[..., 0, :, :] = U
    dU[..., 1 + _DIAGONAL, _DIAGONAL, _DIAGONAL] = U[..., _DIAGONAL, _DIAGONAL]
    dU[..., 4 + np.arange(6), _ROW, _COLUMN] = scale[..., None]
    with np.errstate(over="ignore", invalid="ignore"):
        half = dU @ np.swapaxes(U, -1, -2)[..., None, :, :]
        dJ = half + np.swapaxes(half, -1, -2)
    return np.swapaxes(phi_from_pseudo_inertia(_representable(dJ)), -1, -2)


def _factor(theta: FloatArray) -> FloatArray:
    """(..., 4, 4) the upper triangular U."""
    U = np.zeros((*theta.shape[:-1], 4, 4))
    with np.errstate(over="ignore", invalid="ignore"):
        U[..., _DIAGONAL, _DIAGONAL] = np.exp(theta[..., 1:4])
        U[..., _ROW, _COLUMN] = theta[..., 4:]
        U[..., 3, 3] = 1.0
        U *= np.exp(theta[..., 0])[..., None, None]
    return U


def _representable(values: FloatArray) -> FloatArray:
    if not np.isfinite(values).all():
        raise InputError(argument="theta", problem="is too large: its exponentials overflow")
    return values

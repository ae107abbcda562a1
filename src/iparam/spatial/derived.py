"""Mass, centre of mass and inertia about it as functions of phi: their Jacobian, and what it makes of a covariance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.spatial.inertia import symmetric_array
from iparam.spatial.phi import pseudo_inertia_from_phi

_ROW, _COLUMN = np.triu_indices(3)


def mass_com_inertia(phi: ArrayLike) -> FloatArray:
    """(..., 10) [m, c (3), inertia about the centre of mass (6): xx xy xz yy yz zz] of phi (..., 10)."""
    parameters = as_float_array(phi, "phi", (10,))
    mass, moment = parameters[..., :1], parameters[..., 1:4]
    if (mass == 0.0).any():
        raise InputError(argument="phi", problem="has mass 0: it has no centre of mass, and no inertia about it")
    center = moment / mass
    parallel = (moment * center).sum(axis=-1)[..., None, None] * np.eye(3) - moment[..., :, None] * center[..., None, :]
    return np.concatenate([mass, center, parameters[..., 4:] - parallel[..., _ROW, _COLUMN]], axis=-1)


def mass_com_inertia_jacobian(phi: ArrayLike) -> FloatArray:
    """How mass, centre of mass and inertia about the centre of mass change with phi.

    With h = m c the centre of mass is h / m, and the inertia about it I - (h.h E - h h^T) / m.

    Args:
        phi: (..., 10), see `iparam.spatial.phi`; the mass must not be 0 [kg, kg m, kg m^2].

    Returns:
        (..., 10, 10): row i is the gradient by phi of [m, cx, cy, cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz][i], the inertia
        about the centre of mass in the frame's axes.
    """
    parameters = as_float_array(phi, "phi", (10,))
    mass, moment = parameters[..., :1], parameters[..., 1:4]
    if (mass == 0.0).any():
        raise InputError(argument="phi", problem="has mass 0: it has no centre of mass, and no inertia about it")
    unit = np.eye(3)
    jacobian = np.zeros((*parameters.shape, 10))
    jacobian[..., 0, 0] = 1.0
    center = moment / mass
    jacobian[..., 1:4, 0] = -center / mass
    jacobian[..., 1:4, 1:4] = unit / mass[..., None]
    squared = (center**2).sum(axis=-1)[..., None, None]
    by_mass = squared * unit - center[..., :, None] * center[..., None, :]
    jacobian[..., 4:, 0] = by_mass[..., _ROW, _COLUMN]
    for axis in range(3):
        outer = unit[axis][:, None] * center[..., None, :]
        by_moment = outer + np.swapaxes(outer, -1, -2) - 2.0 * center[..., axis, None, None] * unit
        jacobian[..., 4:, 1 + axis] = by_moment[..., _ROW, _COLUMN]
    jacobian[..., 4:, 4:] = np.eye(6)
    return jacobian


def derived_covariance(phi: ArrayLike, covariance: ArrayLike) -> FloatArray:
    """(..., 10, 10) of [m, c (3), inertia about the centre of mass (6)], to first order in the errors of phi.

    Args:
        phi: (..., 10).
        covariance: (..., 10, 10) of phi, symmetric.
    """
    jacobian = mass_com_inertia_jacobian(phi)
    result = jacobian @ symmetric_array(covariance, "covariance", 10) @ np.swapaxes(jacobian, -1, -2)
    return 0.5 * (result + np.swapaxes(result, -1, -2))


def derived_known(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of mass, centre of mass and inertia about it (10,) are known, from which of phi (10,) are."""
    mass, moments = known[0], known[1:4]
    inertia = []
    for entry, i, j in zip(known[4:], _ROW, _COLUMN, strict=True):
        of = [axis for axis in range(3) if axis != i] if i == j else [i, j]  # I - (h.h E - h h') / m
        inertia.append(entry and mass and moments[of].all())
    return np.array([mass, *(mass & moments), *inertia])


def derived_part(phi: FloatArray, covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mass, centre of mass and inertia about it (10,), and their variances, of phi (10,); NaN for what is not known."""
    values, variances, known = np.full(10, np.nan), np.full(10, np.nan), ~np.isnan(phi)
    if not known[0]:
        return values, variances
    derived = derived_known(known)
    usable = np.where(known, phi, 0.0)  # what is not known has no part in what is
    jacobian = mass_com_inertia_jacobian(usable)
    variance = np.einsum("ij,jk,ik->i", jacobian, np.where(np.outer(known, known), covariance, 0.0), jacobian)
    values[derived] = mass_com_inertia(usable)[derived]
    variances[derived] = np.maximum(variance, 0.0)[derived]
    return values, variances


def symmetric(six: FloatArray) -> FloatArray:
    """(3, 3) of the entries xx xy xz yy yz zz (6,), which need not be known."""
    return np.asarray(six[np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])])


def second_moment_derivative(phi: FloatArray) -> FloatArray:
    """(10, 3, 3) of the second moments about the centre of mass by phi."""
    changes = np.stack([pseudo_inertia_from_phi(row) for row in np.eye(10)])  # linear in phi
    center = phi[1:4] / phi[0]
    outer = changes[:, :3, 3, None] * center
    return np.asarray(
        changes[:, :3, :3] - outer - outer.transpose(0, 2, 1) + changes[:, 3, 3, None, None] * np.outer(center, center)
    )

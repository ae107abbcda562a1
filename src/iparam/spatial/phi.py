"""The ten inertial parameters as a vector, and the same ten numbers as a pseudo-inertia matrix.

phi = [m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], in [kg, kg m, kg m^2]. The inertia is about the frame's
ORIGIN, and Ixy is the entry of the matrix (so Ixy = -integral of x y dm).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.spatial.inertia import symmetric_array

_ENTRY = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])
_ROW, _COLUMN = np.triu_indices(3)


def inertia_matrix(six: ArrayLike) -> FloatArray:
    """(..., 3, 3) the symmetric matrix of ``six`` = [xx, xy, xz, yy, yz, zz] (..., 6) [kg m^2]."""
    matrix: FloatArray = as_float_array(six, "six", (6,))[..., _ENTRY]
    return matrix


def inertia_entries(matrix: ArrayLike) -> FloatArray:
    """(..., 6) [xx, xy, xz, yy, yz, zz] of a symmetric ``matrix`` (..., 3, 3) [kg m^2]: undoes `inertia_matrix`."""
    six: FloatArray = symmetric_array(matrix, "matrix", 3)[..., _ROW, _COLUMN]
    return six


def pseudo_inertia_from_phi(phi: ArrayLike) -> FloatArray:
    """(..., 4, 4) J = [[tr(I)/2 E - I, h], [h^T, m]] of phi (..., 10), with h = m c.

    J is the integral of [x, 1] [x, 1]^T dm, so a body exists exactly if J is positive definite (semidefinite, if points
    and plates count as bodies); Wensing, Kim & Slotine 2018.
    """
    parameters = as_float_array(phi, "phi", (10,))
    inertia = inertia_matrix(parameters[..., 4:])
    half_trace = 0.5 * np.trace(inertia, axis1=-2, axis2=-1)
    result = np.empty((*parameters.shape[:-1], 4, 4))
    result[..., :3, :3] = half_trace[..., None, None] * np.eye(3) - inertia
    result[..., :3, 3] = result[..., 3, :3] = parameters[..., 1:4]
    result[..., 3, 3] = parameters[..., 0]
    return result


def phi_from_pseudo_inertia(J: ArrayLike) -> FloatArray:
    """(..., 10) phi of a symmetric J (..., 4, 4): undoes `pseudo_inertia_from_phi`, with I = tr(S) E - S."""
    matrix = symmetric_array(J, "J", 4)
    second_moment = matrix[..., :3, :3]
    inertia = np.trace(second_moment, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second_moment
    return np.concatenate([matrix[..., 3, 3:], matrix[..., :3, 3], inertia[..., _ROW, _COLUMN]], axis=-1)

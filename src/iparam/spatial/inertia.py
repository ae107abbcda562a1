"""Spatial inertia: the 6x6 matrix G with kinetic energy V^T G V / 2 for a twist V = [omega, v].

Blocks of G: [[kg m^2, kg m], [kg m, kg]].
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.spatial.batches import answer, common_batch, refuse_unless
from iparam.spatial.transforms import adjoint, inverse_transform, skew

# Relative to the largest entry: covers matrices that were written to files with ten digits.
SYMMETRY_TOLERANCE = 1e-9


def spatial_inertia_at_com(mass: ArrayLike, inertia_about_com: ArrayLike) -> FloatArray:
    """(..., 6, 6) blockdiag(I, m E): the spatial inertia in a frame whose origin is the centre of mass.

    Args:
        mass: (...,) [kg].
        inertia_about_com: (..., 3, 3) symmetric, in the frame's axes [kg m^2].
    """
    return spatial_inertia_at_frame(mass, inertia_about_com, np.zeros(3))


def spatial_inertia_at_frame(mass: ArrayLike, inertia_about_com: ArrayLike, center_of_mass: ArrayLike) -> FloatArray:
    """(..., 6, 6) [[I - m [c][c], m [c]], [-m [c], m E]]: the spatial inertia about the frame's origin.

    Args:
        mass: (...,) [kg].
        inertia_about_com: (..., 3, 3) symmetric, about the centre of mass, in the frame's axes [kg m^2].
        center_of_mass: (..., 3) c, in the frame [m].
    """
    m = as_float_array(mass, "mass")
    inertia = symmetric_array(inertia_about_com, "inertia_about_com", 3)
    c = as_float_array(center_of_mass, "center_of_mass", (3,))
    batch = common_batch(mass=(m, 0), inertia_about_com=(inertia, 2), center_of_mass=(c, 1))
    m, cross = m[..., None, None], skew(c)
    result = np.zeros((*batch, 6, 6))
    result[..., :3, :3] = inertia - m * (cross @ cross)
    result[..., :3, 3:] = m * cross
    result[..., 3:, :3] = -m * cross
    result[..., 3:, 3:] = m * np.eye(3)
    return result


def transform_spatial_inertia(G: ArrayLike, T: ArrayLike) -> FloatArray:
    """(..., 6, 6) the same body's spatial inertia in frame a: Ad(T^-1)^T G Ad(T^-1).

    Args:
        G: (..., 6, 6) symmetric, in frame b about b's origin.
        T: (..., 4, 4) T_ab, the pose of b in a [m].
    """
    inertia = symmetric_array(G, "G", 6)
    to_b = adjoint(inverse_transform(T))
    common_batch(G=(inertia, 2), T=(to_b, 2))
    result = np.swapaxes(to_b, -1, -2) @ inertia @ to_b
    return 0.5 * (result + np.swapaxes(result, -1, -2))


def is_symmetric(G: ArrayLike, tol: float = SYMMETRY_TOLERANCE) -> bool | NDArray[np.bool_]:
    """Whether G (..., n, n) is symmetric to within ``tol`` times its largest entry."""
    return answer(_symmetric_mask(_square(G), tol))


def is_positive_definite(G: ArrayLike) -> bool | NDArray[np.bool_]:
    """Whether G (..., n, n) is symmetric and, beyond rounding, positive definite.

    It is scaled to a unit diagonal first, which changes no sign, so the answer does not depend on the units of its
    blocks. An eigenvalue within rounding of 0 counts as 0: a singular matrix is not positive definite.
    """
    matrix = _square(G)
    diagonal = np.diagonal(matrix, axis1=-2, axis2=-1)
    positive = (diagonal > 0.0).all(axis=-1) & _symmetric_mask(matrix, SYMMETRY_TOLERANCE)
    root = np.sqrt(np.where(positive[..., None], diagonal, 1.0))
    scaled = np.where(positive[..., None, None], matrix, 0.0) / root[..., :, None] / root[..., None, :]
    rounding = 4.0 * matrix.shape[-1] * np.finfo(np.float64).eps
    return answer(positive & (np.linalg.eigvalsh(scaled)[..., 0] > rounding))


def symmetric_array(value: ArrayLike, name: str, size: int) -> FloatArray:
    """(..., size, size) ``value`` made exactly symmetric; InputError if it is not symmetric to begin with."""
    matrix = as_float_array(value, name, (size, size))
    refuse_unless(_symmetric_mask(matrix, SYMMETRY_TOLERANCE), f"{name} is not symmetric")
    return 0.5 * matrix + 0.5 * np.swapaxes(matrix, -1, -2)


def _symmetric_mask(matrix: FloatArray, tolerance: float) -> NDArray[np.bool_]:
    bound = as_float_array(tolerance, "tol")
    if bound.ndim or bound < 0.0:
        raise InputError(argument="tol", value=tolerance, expected="one number of at least 0")
    error = np.abs(0.5 * matrix - 0.5 * np.swapaxes(matrix, -1, -2)).max(axis=(-1, -2))
    mask: NDArray[np.bool_] = np.asarray(2.0 * error <= bound * np.abs(matrix).max(axis=(-1, -2)))
    return mask


def _square(G: ArrayLike) -> FloatArray:
    matrix = as_float_array(G, "G")
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or matrix.shape[-1] == 0:
        raise InputError(f"G must have shape (..., n, n), got {matrix.shape}")
    return matrix


def principal_axes(inertia: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Rotation R (3, 3) and moments J (3,) with inertia = R diag(J) R^T.

    The columns of R are the principal axes. Of the 24 right-handed orders and signs of them, the one that turns the
    axes least is taken, so that a tensor that is already diagonal gives R = identity and J = its diagonal.

    Args:
        inertia: (3, 3) symmetric [kg m^2].
    """
    values, vectors = np.linalg.eigh(symmetric_array(inertia, "inertia", 3))
    orders = [list(order) for order in permutations(range(3))]
    choices = [
        (vectors[:, order] * signs, values[order]) for order in orders for signs in product((1.0, -1.0), repeat=3)
    ]
    right_handed = [(R, J) for R, J in choices if np.linalg.det(R) > 0.0]
    return max(right_handed, key=lambda choice: float(np.trace(choice[0])))

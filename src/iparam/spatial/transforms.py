"""Rotations, rigid transforms and adjoints: SO(3) and SE(3) with their exponentials and logarithms.

Twists are [omega, v] (Lynch & Park, Modern Robotics). ``T_ab`` maps coordinates in frame b to frame a. Angles are in
rad, lengths in m. Every function takes any leading batch shape, and refuses what is not a rotation or a rigid
transform where its formula would silently give nonsense.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.spatial.batches import answer, common_batch, refuse_unless

# Loose enough for matrices that were stored in single precision, tight enough to catch a wrong one.
RIGID_TOLERANCE = 1e-6


def skew(v: ArrayLike) -> FloatArray:
    """(..., 3, 3) the matrix [v] with [v] x = v cross x, from v (..., 3)."""
    x, y, z = np.moveaxis(as_float_array(v, "v", (3,)), -1, 0)
    matrix = np.zeros((*x.shape, 3, 3))
    matrix[..., 2, 1], matrix[..., 1, 2] = x, -x
    matrix[..., 0, 2], matrix[..., 2, 0] = y, -y
    matrix[..., 1, 0], matrix[..., 0, 1] = z, -z
    return matrix


def is_rotation(R: ArrayLike, tol: float = RIGID_TOLERANCE) -> bool | NDArray[np.bool_]:
    """Whether R (..., 3, 3) is a rotation: every entry of R R^T is within ``tol`` of the identity's, and det R > 0."""
    return answer(_rotation_mask(as_float_array(R, "R", (3, 3)), _tolerance(tol)))


def is_transform(T: ArrayLike, tol: float = RIGID_TOLERANCE) -> bool | NDArray[np.bool_]:
    """Whether T (..., 4, 4) is a rigid transform: a rotation (see `is_rotation`) above a last row [0, 0, 0, 1]."""
    matrix = as_float_array(T, "T", (4, 4))
    bound = _tolerance(tol)
    last_row = (np.abs(matrix[..., 3, :] - (0.0, 0.0, 0.0, 1.0)) <= bound).all(axis=-1)
    return answer(_rotation_mask(matrix[..., :3, :3], bound) & last_row)


def exp_so3(rotation_vector: ArrayLike) -> FloatArray:
    """(..., 3, 3) the rotation about ``rotation_vector`` (..., 3) by its length [rad]."""
    axis, angle = _axis_and_angle(as_float_array(rotation_vector, "rotation_vector", (3,)))
    return _rodrigues(skew(axis), angle)


def log_so3(R: ArrayLike) -> FloatArray:
    """(..., 3) the rotation vector of R (..., 3, 3), of length 0..pi [rad].

    Goes through the quaternion, each taken from its largest component (Shepperd 1978), so it loses no digits near 0 or
    near pi. At exactly pi both signs are right; the one whose largest component is positive is returned.
    """
    quaternion = quaternion_from_rotation(_checked_rotation(R, "R"))
    vector = quaternion[..., 1:]
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, quaternion[..., :1])
    return vector * np.where(sine > 0.0, angle / np.where(sine > 0.0, sine, 1.0), 2.0)


def rotation_from_rpy(rpy: ArrayLike) -> FloatArray:
    """(..., 3, 3) R = Rz(yaw) Ry(pitch) Rx(roll), URDF's fixed-axis angles, from rpy (..., 3) [rad]."""
    angles = np.moveaxis(as_float_array(rpy, "rpy", (3,)), -1, 0)
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def rpy_from_rotation(R: ArrayLike) -> FloatArray:
    """(..., 3) [roll, pitch, yaw] [rad] of R (..., 3, 3), with pitch in -pi/2..pi/2 and the others in -pi..pi.

    At pitch = +-pi/2 only one combination of roll and yaw is determined; yaw is 0 there. The roll is computed for the
    yaw that was chosen, so that `rotation_from_rpy` gives R back in that case too.
    """
    matrix = _checked_rotation(R, "R")
    free = np.hypot(matrix[..., 0, 0], matrix[..., 1, 0]) < 1e-15
    yaw = np.where(free, 0.0, np.arctan2(matrix[..., 1, 0], matrix[..., 0, 0]))
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-matrix[..., 2, 0], np.abs(c * matrix[..., 0, 0] + s * matrix[..., 1, 0]))
    roll = np.arctan2(s * matrix[..., 0, 2] - c * matrix[..., 1, 2], c * matrix[..., 1, 1] - s * matrix[..., 0, 1])
    return np.stack([roll, pitch, yaw], axis=-1)


def transform_from(R: ArrayLike, p: ArrayLike) -> FloatArray:
    """(..., 4, 4) the transform with rotation R (..., 3, 3) and translation p (..., 3) [m]."""
    rotation, translation = _checked_rotation(R, "R"), as_float_array(p, "p", (3,))
    matrix = np.zeros((*common_batch(R=(rotation, 2), p=(translation, 1)), 4, 4))
    matrix[..., :3, :3] = rotation
    matrix[..., :3, 3] = translation
    matrix[..., 3, 3] = 1.0
    return matrix


def inverse_transform(T: ArrayLike) -> FloatArray:
    """(..., 4, 4) T_ba from T = T_ab (..., 4, 4)."""
    matrix = _checked_transform(T, "T")
    inverse = np.zeros_like(matrix)
    inverse[..., :3, :3] = np.swapaxes(matrix[..., :3, :3], -1, -2)
    inverse[..., :3, 3] = -_apply(inverse[..., :3, :3], matrix[..., :3, 3])
    inverse[..., 3, 3] = 1.0
    return inverse


def exp_se3(twist: ArrayLike) -> FloatArray:
    """(..., 4, 4) the transform reached by following ``twist`` = [omega, v] (..., 6) [rad, m] for unit time."""
    coordinates = as_float_array(twist, "twist", (6,))
    axis, angle = _axis_and_angle(coordinates[..., :3])
    cross, nonzero = skew(axis), np.where(angle > 0.0, angle, 1.0)
    # Where the angle is 0 the axis is 0 as well, so that only the identity remains of each sum.
    one_minus_cosine = 2.0 * np.sin(0.5 * angle) ** 2
    carry = np.eye(3) + (one_minus_cosine / nonzero) * cross + (1.0 - np.sin(angle) / nonzero) * (cross @ cross)
    matrix = np.zeros((*coordinates.shape[:-1], 4, 4))
    matrix[..., :3, :3] = _rodrigues(cross, angle)
    matrix[..., :3, 3] = _apply(carry, coordinates[..., 3:])
    matrix[..., 3, 3] = 1.0
    return matrix


def log_se3(T: ArrayLike) -> FloatArray:
    """(..., 6) the twist [omega, v] [rad, m] with exp_se3(twist) = T (..., 4, 4); see `log_so3` for the sign at pi."""
    matrix = _checked_transform(T, "T")
    rotation_vector = log_so3(matrix[..., :3, :3])
    axis, angle = _axis_and_angle(rotation_vector)
    cross, half = skew(axis), 0.5 * np.where(angle > 0.0, angle, 1.0)
    uncarry = np.eye(3) - 0.5 * angle * cross + (1.0 - half / np.tan(half)) * (cross @ cross)
    return np.concatenate([rotation_vector, _apply(uncarry, matrix[..., :3, 3])], axis=-1)


def adjoint(T: ArrayLike) -> FloatArray:
    """(..., 6, 6) Ad(T) = [[R, 0], [[p] R, R]]: maps twists [omega, v] in b to a, for T = T_ab (..., 4, 4)."""
    matrix = _checked_transform(T, "T")
    rotation = matrix[..., :3, :3]
    result = np.zeros((*matrix.shape[:-2], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = rotation
    result[..., 3:, :3] = skew(matrix[..., :3, 3]) @ rotation
    return result


def ad(V: ArrayLike) -> FloatArray:
    """(..., 6, 6) [[[omega], 0], [[v], [omega]]]: the Lie bracket with the twist V = [omega, v] (..., 6)."""
    twist = as_float_array(V, "V", (6,))
    result = np.zeros((*twist.shape[:-1], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = skew(twist[..., :3])
    result[..., 3:, :3] = skew(twist[..., 3:])
    return result


def _apply(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    return (matrix @ vector[..., None])[..., 0]


def _axis_and_angle(vector: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Unit axis (..., 3), zero for a zero vector, and angle (..., 1, 1); hypot neither over- nor underflows."""
    angle = np.hypot(np.hypot(vector[..., :1], vector[..., 1:2]), vector[..., 2:])
    return vector / np.where(angle > 0.0, angle, 1.0), angle[..., None]


def _rodrigues(cross: FloatArray, angle: FloatArray) -> FloatArray:
    # 1 - cos as 2 sin^2(angle / 2), which keeps all digits near 0.
    result: FloatArray = np.eye(3) + np.sin(angle) * cross + 2.0 * np.sin(0.5 * angle) ** 2 * (cross @ cross)
    return result


def rotation_from_quaternion(q: FloatArray) -> FloatArray:
    """(..., 3, 3) of unit quaternions (..., 4), w first."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.asarray(np.moveaxis(np.array(rows), (0, 1), (-2, -1)))


def quaternion_from_rotation(R: FloatArray) -> FloatArray:
    """(..., 4) unit [w, x, y, z], w >= 0: the largest row of the rank-one matrix 4 q q^T, which is linear in R."""
    outer = np.empty((*R.shape[:-2], 4, 4))
    trace = np.trace(R, axis1=-2, axis2=-1)
    outer[..., 0, 0] = 1.0 + trace
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[..., i + 1, i + 1] = 1.0 + 2.0 * R[..., i, i] - trace
        outer[..., 0, i + 1] = outer[..., i + 1, 0] = R[..., k, j] - R[..., j, k]
        outer[..., i + 1, j + 1] = outer[..., j + 1, i + 1] = R[..., i, j] + R[..., j, i]
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    row: FloatArray = np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :]
    row /= np.linalg.norm(row, axis=-1, keepdims=True)
    return np.where(row[..., :1] < 0.0, -row, row)


def _rotation_mask(matrix: FloatArray, tolerance: float) -> NDArray[np.bool_]:
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.abs(matrix @ np.swapaxes(matrix, -1, -2) - np.eye(3)).max(axis=(-1, -2))
        mask: NDArray[np.bool_] = (error <= tolerance) & (np.linalg.det(matrix) > 0.0)
    return mask


def _tolerance(value: float) -> float:
    bound = as_float_array(value, "tol")
    if bound.ndim or bound < 0.0:
        raise InputError(argument="tol", value=value, expected="one number of at least 0")
    return float(bound)


def _checked_rotation(R: ArrayLike, name: str) -> FloatArray:
    matrix = as_float_array(R, name, (3, 3))
    refuse_unless(is_rotation(matrix), f"{name} is not a rotation: R R^T = 1 within {RIGID_TOLERANCE:g}, det R > 0")
    return matrix


def _checked_transform(T: ArrayLike, name: str) -> FloatArray:
    matrix = as_float_array(T, name, (4, 4))
    refuse_unless(
        is_transform(matrix),
        f"{name} is not a rigid transform: a rotation within {RIGID_TOLERANCE:g} above a last row [0, 0, 0, 1]",
    )
    return matrix

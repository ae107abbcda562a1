"""SO(3) and SE(3) against pytransform3d, which was written by others and uses [omega, v] too.

The poses are made from quaternions and numbers drawn here, by neither library's exponential.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from iparam import spatial

rotations = pytest.importorskip("pytransform3d.rotations")
transformations = pytest.importorskip("pytransform3d.transformations")
pytestmark = pytest.mark.reference

RNG = np.random.default_rng(2024)
# Near 0 and pi pytransform3d takes the angle from the trace, which has half the digits there: 1e-8, not our 1e-14.
ANGLES = [0.0, 1e-3, 0.1, 0.7, 1.5, 2.2, 3.0, 3.1]


def axes(count: int) -> Any:
    drawn = RNG.normal(size=(count, 3))
    return np.concatenate([np.eye(3), -np.eye(3), drawn / np.linalg.norm(drawn, axis=1, keepdims=True)])


def rotation_from_quaternion(w: float, x: float, y: float, z: float) -> Any:
    """The textbook formula, for a unit quaternion."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def poses(count: int) -> list[Any]:
    result = []
    for q in RNG.normal(size=(count, 4)):
        T = np.eye(4)
        T[:3, :3] = rotation_from_quaternion(*(q / np.linalg.norm(q)))
        T[:3, 3] = RNG.normal(size=3)
        result.append(T)
    return result


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_so3(angle: float) -> None:
    vectors = angle * axes(10)
    expected = [rotations.matrix_from_compact_axis_angle(v) for v in vectors]
    assert_allclose(spatial.exp_so3(vectors), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_log_so3_of_textbook_quaternions(angle: float) -> None:
    for axis in axes(10):
        R = rotation_from_quaternion(np.cos(angle / 2), *(np.sin(angle / 2) * axis))
        assert_allclose(spatial.log_so3(R), angle * axis, rtol=0, atol=1e-14)
        assert_allclose(spatial.log_so3(R), rotations.compact_axis_angle_from_matrix(R), rtol=0, atol=1e-8)


def test_rpy() -> None:
    for rpy in RNG.uniform(-1.5, 1.5, size=(30, 3)):
        R = rotations.matrix_from_euler(rpy, 0, 1, 2, extrinsic=True)
        assert_allclose(spatial.rotation_from_rpy(rpy), R, rtol=0, atol=1e-15)
        expected = rotations.euler_from_matrix(R, 0, 1, 2, extrinsic=True)
        assert_allclose(spatial.rpy_from_rotation(R), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_se3(angle: float) -> None:
    """At small angles pytransform3d's (theta - sin theta) cancels: it is right to about 1e-16 / theta."""
    for axis in axes(10):
        twist = np.concatenate([angle * axis, RNG.normal(size=3)])
        expected = transformations.transform_from_exponential_coordinates(twist)
        assert_allclose(spatial.exp_se3(twist), expected, rtol=0, atol=1e-12)


def test_log_se3() -> None:
    for T in poses(40):
        expected = transformations.exponential_coordinates_from_transform(T)
        assert_allclose(spatial.log_se3(T), expected, rtol=0, atol=1e-8)
        assert_allclose(transformations.transform_from_exponential_coordinates(spatial.log_se3(T)), T, atol=1e-13)


def test_adjoint_and_inverse() -> None:
    for T in poses(20):
        assert_allclose(spatial.adjoint(T), transformations.adjoint_from_transform(T), rtol=0, atol=1e-15)
        assert_allclose(spatial.inverse_transform(T), transformations.invert_transform(T), rtol=0, atol=1e-14)


def test_skew() -> None:
    v = RNG.normal(size=3)
    assert_allclose(spatial.skew(v), rotations.cross_product_matrix(v), rtol=0, atol=0)

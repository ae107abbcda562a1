"""Transforms: hand-computed values, limits, batches, and every way an argument can be wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from iparam import spatial
from iparam.errors import InputError

EPS = float(np.finfo(float).eps)


def test_skew_is_the_cross_product() -> None:
    v, x = np.array([1.0, -2.0, 3.0]), np.array([0.5, 4.0, -1.0])
    assert_allclose(spatial.skew(v) @ x, np.cross(v, x), rtol=0, atol=0)


def test_skew_of_integers_does_not_wrap_around() -> None:
    assert spatial.skew(np.array([-128, 0, 0], dtype=np.int8))[1, 2] == 128.0


@pytest.mark.parametrize(
    ("vector", "image_of_x", "image_of_y"),
    [
        ([0.0, 0.0, np.pi / 2], [0, 1, 0], [-1, 0, 0]),
        ([np.pi / 2, 0.0, 0.0], [1, 0, 0], [0, 0, 1]),
        ([0.0, np.pi, 0.0], [-1, 0, 0], [0, 1, 0]),
        ([0.0, 0.0, 0.0], [1, 0, 0], [0, 1, 0]),
    ],
)
def test_exp_so3_known_rotations(vector: list[float], image_of_x: list[float], image_of_y: list[float]) -> None:
    R = spatial.exp_so3(vector)
    assert_allclose(R[:, 0], image_of_x, atol=EPS)
    assert_allclose(R[:, 1], image_of_y, atol=EPS)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-20, 1e-8, 1e-4])
def test_log_keeps_all_digits_of_small_rotations(size: float) -> None:
    vector = size * np.array([0.6, -0.48, 0.64])
    assert_allclose(spatial.log_so3(spatial.exp_so3(vector)), vector, rtol=8 * EPS)


def test_exp_so3_of_a_huge_angle_is_still_a_rotation() -> None:
    assert spatial.is_rotation(spatial.exp_so3([1e200, -3e199, 0.0]), tol=8 * EPS)


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [2 / 3, -2 / 3, 1 / 3], [0, 0.6, -0.8]])
def test_log_of_a_half_turn(axis: list[float]) -> None:
    u = np.array(axis, dtype=float)
    half_turn = 2.0 * np.outer(u, u) - np.eye(3)
    found = spatial.log_so3(half_turn)
    sign = np.sign(u[np.argmax(np.abs(u))])
    assert_allclose(found, np.pi * sign * u, rtol=0, atol=8 * EPS)


def test_rpy_order_is_urdf_fixed_axes() -> None:
    def about(axis: int, angle: float) -> Any:
        return spatial.exp_so3(angle * np.eye(3)[axis])

    roll, pitch, yaw = 0.3, -0.7, 1.9
    expected = about(2, yaw) @ about(1, pitch) @ about(0, roll)
    assert_allclose(spatial.rotation_from_rpy([roll, pitch, yaw]), expected, atol=4 * EPS)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_rpy_in_gimbal_lock(pitch: float) -> None:
    R = spatial.rotation_from_rpy([0.4, pitch, 1.1])
    rpy = spatial.rpy_from_rotation(R)
    assert rpy[2] == 0.0
    assert_allclose(spatial.rotation_from_rpy(rpy), R, atol=4 * EPS)


@pytest.mark.parametrize("distance", [1e-15, 1e-12, 1e-9, 1e-5])
def test_rpy_near_gimbal_lock_gives_the_rotation_back(distance: float) -> None:
    R = spatial.rotation_from_rpy([0.4, np.pi / 2 - distance, 1.1])
    assert_allclose(spatial.rotation_from_rpy(spatial.rpy_from_rotation(R)), R, atol=8 * EPS)


def test_transform_moves_a_point_from_b_to_a() -> None:
    T_ab = spatial.transform_from(spatial.exp_so3([0, 0, np.pi / 2]), [1.0, 2.0, 3.0])
    assert_allclose(T_ab @ [1, 0, 0, 1], [1, 3, 3, 1], atol=4 * EPS)
    assert_allclose(spatial.inverse_transform(T_ab) @ [1, 3, 3, 1], [1, 0, 0, 1], atol=4 * EPS)


def test_exp_se3_of_a_screw_about_a_displaced_axis() -> None:
    # A quarter turn about the vertical line through (1, 0, 0) that also rises by 0.5 m: v = -omega x q + rise.
    omega, point = np.array([0, 0, np.pi / 2]), np.array([1.0, 0, 0])
    T = spatial.exp_se3(np.concatenate([omega, -np.cross(omega, point) + [0, 0, 0.5]]))
    assert_allclose(T @ [1, 0, 0, 1], [1, 0, 0.5, 1], atol=4 * EPS)
    assert_allclose(T @ [2, 0, 0, 1], [1, 1, 0.5, 1], atol=4 * EPS)


def test_pure_translation() -> None:
    twist = np.array([0, 0, 0, 1.0, -2.0, 3.0])
    assert_allclose(spatial.exp_se3(twist)[:3, 3], twist[3:], rtol=0, atol=0)
    assert_allclose(spatial.log_se3(spatial.exp_se3(twist)), twist, rtol=0, atol=0)


def test_ad_entry_by_entry() -> None:
    expected = [
        [0, -3, 2, 0, 0, 0],
        [3, 0, -1, 0, 0, 0],
        [-2, 1, 0, 0, 0, 0],
        [0, -6, 5, 0, -3, 2],
        [6, 0, -4, 3, 0, -1],
        [-5, 4, 0, -2, 1, 0],
    ]
    assert spatial.ad([1, 2, 3, 4, 5, 6]).tolist() == expected


def test_adjoint_maps_the_velocity_of_a_rigid_body() -> None:
    """The velocity of any body point, computed in b and turned to a, must be what Ad's twist says in a."""
    rng = np.random.default_rng(3)
    T_ab, twist_b, point_b = spatial.exp_se3(rng.normal(size=6)), rng.normal(size=6), rng.normal(size=3)
    twist_a, point_a = spatial.adjoint(T_ab) @ twist_b, (T_ab @ [*point_b, 1.0])[:3]
    in_b = twist_b[3:] + np.cross(twist_b[:3], point_b)
    in_a = twist_a[3:] + np.cross(twist_a[:3], point_a)
    assert_allclose(in_a, T_ab[:3, :3] @ in_b, atol=1e-14)


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (np.eye(3), True),
        (np.diag([1.0, 1.0, -1.0]), False),
        (2.0 * np.eye(3), False),
        (np.eye(3) + 1e-5 * np.eye(3, k=1), False),
        (np.eye(3).astype(np.float32), True),
        (np.zeros((3, 3)), False),
        (1e200 * np.eye(3), False),
    ],
)
def test_is_rotation(matrix: Any, expected: bool) -> None:
    assert spatial.is_rotation(matrix) is expected
    transform = np.eye(4)
    transform[:3, :3] = matrix
    assert spatial.is_transform(transform) is expected


def test_is_transform_looks_at_the_last_row() -> None:
    projective = np.eye(4)
    projective[3, 0] = 0.1
    scaled = np.eye(4)
    scaled[3, 3] = 2.0
    verdicts = np.asarray(spatial.is_transform(np.stack([np.eye(4), projective, scaled])))
    assert verdicts.tolist() == [True, False, False]


def test_tolerance_is_the_bound_on_the_entries() -> None:
    R = np.eye(3)
    R[0, 0] = 1.0 + 1e-4  # R R^T is off by 2e-4
    assert not spatial.is_rotation(R, tol=1.9e-4)
    assert spatial.is_rotation(R, tol=2.1e-4)
    for bad in (-1.0, np.nan, [0.1, 0.1]):
        with pytest.raises(InputError, match="tol"):
            spatial.is_rotation(R, tol=bad)  # type: ignore[arg-type]


SHAPES: list[tuple[Callable[..., Any], tuple[int, ...], str]] = [
    (spatial.skew, (3,), "v"),
    (spatial.exp_so3, (3,), "rotation_vector"),
    (spatial.rotation_from_rpy, (3,), "rpy"),
    (spatial.exp_se3, (6,), "twist"),
    (spatial.ad, (6,), "V"),
    (spatial.log_so3, (3, 3), "R"),
    (spatial.rpy_from_rotation, (3, 3), "R"),
    (spatial.is_rotation, (3, 3), "R"),
    (spatial.is_transform, (4, 4), "T"),
    (spatial.inverse_transform, (4, 4), "T"),
    (spatial.log_se3, (4, 4), "T"),
    (spatial.adjoint, (4, 4), "T"),
    (lambda R: spatial.transform_from(R, np.zeros(3)), (3, 3), "R"),
    (lambda p: spatial.transform_from(np.eye(3), p), (3,), "p"),
]


def valid(shape: tuple[int, ...]) -> Any:
    return np.eye(shape[0]) if len(shape) == 2 else np.linspace(0.1, 0.5, shape[0])


@pytest.mark.parametrize(("function", "shape", "name"), SHAPES)
@pytest.mark.parametrize("bad", ["shape", "scalar", "nan", "inf", "complex", "object", "text", "ragged"])
def test_bad_input_is_refused_by_name(
    function: Callable[..., Any], shape: tuple[int, ...], name: str, bad: str
) -> None:
    good = valid(shape)
    poisoned = good.copy()
    poisoned.flat[-1] = np.inf if bad == "inf" else np.nan
    arguments = {
        "shape": np.zeros((*shape[:-1], shape[-1] + 1)),
        "scalar": 1.0,
        "nan": poisoned,
        "inf": poisoned,
        "complex": good.astype(complex),
        "object": good.astype(object),
        "text": good.astype(str),
        "ragged": [[1.0], [1.0, 2.0], [3.0]],
    }
    function(good)
    with pytest.raises(InputError, match=rf"^{name} (must|is ragged)"):
        function(arguments[bad])


@pytest.mark.parametrize("function", [spatial.log_so3, spatial.rpy_from_rotation])
def test_what_is_no_rotation_is_refused_with_its_index(function: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="R is not a rotation"):
        function(np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(InputError, match="batch index 1"):
        function(np.stack([np.eye(3), 1.1 * np.eye(3)]))


@pytest.mark.parametrize("function", [spatial.log_se3, spatial.adjoint, spatial.inverse_transform])
def test_what_is_no_transform_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(InputError, match="T is not a rigid transform"):
        function(2.0 * np.eye(4))


def test_batches_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(InputError, match=r"R \(2,\), p \(3,\)"):
        spatial.transform_from(np.broadcast_to(np.eye(3), (2, 3, 3)), np.zeros((3, 3)))


@pytest.mark.parametrize(("function", "shape", "name"), SHAPES)
@pytest.mark.parametrize("batch", [(0,), (1,), (2, 3)])
def test_a_batch_is_the_single_results_stacked(
    function: Callable[..., Any], shape: tuple[int, ...], name: str, batch: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    if len(shape) == 1:
        values = rng.normal(size=(*batch, *shape))
    else:
        values = spatial.exp_se3(rng.normal(size=(*batch, 6)))[..., : shape[0], : shape[0]]
    together = np.asarray(function(values))
    alone = [function(one) for one in values.reshape(-1, *shape)]
    assert together.shape == (*batch, *np.shape(function(valid(shape))))
    # matmul may sum in another order for a stack than for one matrix: a few units in the last place.
    assert_allclose(together.ravel(), np.array(alone, dtype=float).ravel(), rtol=0, atol=16 * EPS)

"""Kinematics at its public entrance: known poses, batches, singularities, bad input."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest

import iparam
from iparam.robot.kinematics import joint_axes

UR5E = iparam.load_robot("ur5e")
ZERO = np.zeros(6)


def test_zero_pose_of_the_ur5e_from_the_data_sheet() -> None:
    # Stretched out along -x: a2 + a3; down by d5 below d1; d4 + d6 along -y.
    pose = iparam.forward_kinematics(UR5E, ZERO)
    np.testing.assert_allclose(pose[:3, 3], [-0.425 - 0.3922, -0.1333 - 0.0996, 0.1625 - 0.0997], atol=1e-9)
    np.testing.assert_allclose(pose[:3, :3], [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-9)


def test_turning_only_the_base_joint_moves_the_tool_on_a_circle() -> None:
    motion = iparam.tool_motion(UR5E, ZERO, [0.5, 0, 0, 0, 0, 0], ZERO).in_base()
    x, y, _ = motion.pose[:3, 3]
    np.testing.assert_allclose(motion.linear_velocity, [-0.5 * y, 0.5 * x, 0.0], atol=1e-12)
    np.testing.assert_allclose(motion.linear_acceleration, [-0.25 * x, -0.25 * y, 0.0], atol=1e-12)
    np.testing.assert_allclose(motion.angular_velocity, [0.0, 0.0, 0.5], atol=1e-12)
    np.testing.assert_array_equal(motion.angular_acceleration, 0.0)


def test_an_arm_at_rest_has_no_velocity_and_no_acceleration() -> None:
    motion = iparam.tool_motion(UR5E, [0.3, -1, 1, 0.2, 0.5, 2], ZERO, ZERO)
    for field in ("linear_velocity", "angular_velocity", "linear_acceleration", "angular_acceleration"):
        np.testing.assert_array_equal(getattr(motion, field), 0.0)
    assert motion.axes == "tool"
    assert motion.in_tool() is motion


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3), (0,), (3, 0, 2)])
def test_any_batch_shape_gives_the_numbers_of_single_calls(shape: tuple[int, ...]) -> None:
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, *shape, 6))
    motion, jacobian = iparam.tool_motion(UR5E, q, dq, ddq), iparam.jacobian(UR5E, q)
    assert motion.pose.shape == (*shape, 4, 4)
    assert jacobian.shape == (*shape, 6, 6)
    for index in np.ndindex(shape):
        one = iparam.tool_motion(UR5E, q[index], dq[index], ddq[index])
        np.testing.assert_array_equal(motion.linear_acceleration[index], one.linear_acceleration)
        np.testing.assert_array_equal(jacobian[index], iparam.jacobian(UR5E, q[index]))


SLIDING = iparam.Robot(
    "sliding",
    (
        iparam.Joint("turn", "revolute", "base", "a", np.eye(4), np.array([0.0, 1.0, 0.0])),
        iparam.Joint("slide", "prismatic", "a", "b", np.eye(4), np.array([1.0, 1.0, 0.0])),
        iparam.Joint("roll", "revolute", "b", "tip", np.eye(4), np.array([1.0, 0.0, 2.0])),
    ),
    (iparam.Link("base"), iparam.Link("a"), iparam.Link("b"), iparam.Link("tip")),
    iparam.JointLimits.unlimited(3),
    "tip",
)


@pytest.mark.parametrize("robot", [UR5E, SLIDING], ids=lambda robot: robot.name)
@pytest.mark.parametrize("frame", ["tool", "base"])
@pytest.mark.parametrize("shape", [(), (4,), (2, 3)])
def test_axes_of_joints_are_the_upper_half_of_the_jacobian(
    robot: iparam.Robot, frame: Literal["tool", "base"], shape: tuple[int, ...]
) -> None:
    q = np.random.default_rng(3).normal(size=(*shape, robot.num_joints))
    expected = iparam.jacobian(robot, q, frame)[..., :3, :]
    np.testing.assert_allclose(joint_axes(robot, q, frame), expected, rtol=0, atol=1e-14)


def test_batch_shapes_broadcast() -> None:
    q = np.random.default_rng(1).normal(size=(5, 1, 6))
    dq = np.random.default_rng(2).normal(size=(4, 6))
    motion = iparam.tool_motion(UR5E, q, dq, ZERO)
    assert motion.linear_velocity.shape == (5, 4, 3)
    one = iparam.tool_motion(UR5E, q[3, 0], dq[2], ZERO)
    np.testing.assert_array_equal(motion.linear_velocity[3, 2], one.linear_velocity)


def test_strided_read_only_integer_and_single_precision_input_gives_the_same_numbers() -> None:
    q = np.random.default_rng(3).integers(-3, 4, size=(8, 6))
    expected = iparam.forward_kinematics(UR5E, q.astype(float))
    frozen = q.astype(float)
    frozen.flags.writeable = False
    for same in (q, q.astype(np.int8), q.astype(np.float32), frozen, np.asfortranarray(q, dtype=float), q.tolist()):
        np.testing.assert_array_equal(iparam.forward_kinematics(UR5E, same), expected)
    wide = np.zeros((8, 12))
    wide[:, ::2] = q
    np.testing.assert_array_equal(iparam.forward_kinematics(UR5E, wide[:, ::2]), expected)


def test_threads_do_not_change_the_numbers() -> None:
    q = np.random.default_rng(4).normal(size=(10_001, 6))
    try:
        iparam.set_num_threads(1)
        one = iparam.jacobian(UR5E, q)
        iparam.set_num_threads(3)
        np.testing.assert_array_equal(iparam.jacobian(UR5E, q), one)
    finally:
        iparam.set_num_threads(None)


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", True])
def test_a_senseless_number_of_threads_is_refused(count: object) -> None:
    with pytest.raises(iparam.InputError, match="number of threads"):
        iparam.set_num_threads(count)  # type: ignore[arg-type]


def test_the_number_of_threads_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPARAM_NUM_THREADS", "3")
    assert iparam.get_num_threads() == 3
    monkeypatch.setenv("IPARAM_NUM_THREADS", "many")
    with pytest.raises(iparam.InputError, match=r"IPARAM_NUM_THREADS.*'many'"):
        iparam.get_num_threads()


def test_every_frame_is_where_its_own_call_says() -> None:
    q = np.random.default_rng(5).normal(size=(2, 6))
    poses = iparam.frame_poses(UR5E, q)
    assert tuple(poses) == UR5E.frames
    for name, pose in poses.items():
        np.testing.assert_array_equal(pose, iparam.forward_kinematics(UR5E, q, frame=name))
    np.testing.assert_array_equal(poses["tool0"], iparam.forward_kinematics(UR5E, q))


def test_a_moved_tool_moves_pose_and_velocity() -> None:
    offset = np.eye(4)
    offset[:3, 3] = [0.0, 0.0, 0.2]
    tcp = UR5E.with_tool(offset)
    assert tcp.tool_frame == "tcp"
    q, dq = np.random.default_rng(6).normal(size=(2, 6))
    np.testing.assert_allclose(
        iparam.forward_kinematics(tcp, q), iparam.forward_kinematics(UR5E, q) @ offset, atol=1e-15
    )
    before, after = (iparam.tool_motion(robot, q, dq, ZERO) for robot in (UR5E, tcp))
    expected = before.linear_velocity + np.cross(before.angular_velocity, offset[:3, 3])
    np.testing.assert_allclose(after.linear_velocity, expected, atol=1e-14)


@pytest.mark.parametrize(
    ("q", "singular"),
    [
        ([0.1, -1.2, 1.3, 0.4, 1.0, 0.2], False),
        ([0.1, -1.2, 0.0, 0.4, 1.0, 0.2], True),  # elbow stretched
        ([0.1, -1.2, 1.3, 0.4, 0.0, 0.2], True),  # wrist: axes 4 and 6 parallel
        ([0.1, -1.2, 1.3, 0.4, math.pi, 0.2], True),
    ],
)
def test_known_singularities_of_the_ur5e(q: list[float], singular: bool) -> None:
    assert bool(iparam.is_singular(UR5E, q)) is singular
    assert (float(iparam.manipulability(UR5E, q)) < 1e-9) is singular
    jacobian = iparam.jacobian(UR5E, q)
    assert float(iparam.manipulability(UR5E, q)) == pytest.approx(abs(np.linalg.det(jacobian)), abs=1e-12)
    assert float(iparam.smallest_singular_value(UR5E, q)) == pytest.approx(
        math.sqrt(max(np.linalg.eigvalsh(jacobian @ jacobian.T)[0], 0.0)), abs=1e-7
    )


def test_sin_and_cos_of_the_kernels_are_right_to_two_units_in_the_last_place() -> None:
    # One revolute joint about z: its pose holds cos and sin of the angle, and nothing else.
    joint = iparam.Joint("j", iparam.JointKind.REVOLUTE, "a", "b", np.eye(4))
    arm = iparam.Robot("j", (joint,), (iparam.Link("a"), iparam.Link("b")), iparam.JointLimits.unlimited(1), "b")
    rng = np.random.default_rng(7)
    quarters = np.arange(-40, 41) * (math.pi / 2)
    angles = np.concatenate([rng.uniform(-7, 7, 20_000), rng.uniform(-2e5, 2e5, 20_000), quarters, quarters + 1e-9])
    pose = iparam.forward_kinematics(arm, angles[:, None])
    cos, sin = np.array([math.cos(a) for a in angles]), np.array([math.sin(a) for a in angles])
    np.testing.assert_allclose(pose[:, 0, 0], cos, rtol=0, atol=2.3e-16)
    np.testing.assert_allclose(pose[:, 1, 0], sin, rtol=0, atol=2.3e-16)
    near = np.abs(angles) < 100
    np.testing.assert_allclose(pose[near, 1, 0], sin[near], rtol=4e-16, atol=1e-25)


@pytest.mark.parametrize("robot", [UR5E], ids=repr)
@pytest.mark.parametrize(
    ("q", "message"),
    [
        (np.zeros(5), r"q must have shape \(\.\.\., 6\), got \(5,\)"),
        (0.0, r"q must have shape \(\.\.\., 6\), got \(\)"),
        (np.zeros((6, 1)), "got"),
        ([0, 0, np.nan, 0, 0, 0], "q must be finite, got nan at index 2"),
        ([[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, np.inf, 0]], r"got inf at index \(1, 4\)"),
        (np.zeros(6, complex), "real numbers.*complex128"),
        (["a"] * 6, "real numbers"),
        ([None] * 6, "real numbers"),
        ([[0] * 6, [0] * 5], "ragged"),
        (np.array([object()] * 6), "real numbers"),
        (np.zeros(6, "datetime64[s]"), "real numbers"),
    ],
)
def test_bad_joint_positions_are_refused(robot: iparam.Robot, q: object, message: str) -> None:
    for call in (
        iparam.forward_kinematics,
        iparam.frame_poses,
        iparam.jacobian,
        iparam.manipulability,
        iparam.mass_matrix,
        iparam.gravity_torques,
        lambda r, x: iparam.tool_motion(r, x, ZERO, ZERO),
        lambda r, x: iparam.inverse_dynamics(r, x, ZERO, ZERO),
        lambda r, x: iparam.wrench_regressor(r, x, ZERO, ZERO),
        lambda r, x: iparam.joint_torque_regressor(r, x, ZERO, ZERO),
        lambda r, x: iparam.wrench_regressor_derivatives(r, x, ZERO, ZERO),
    ):
        with pytest.raises(iparam.InputError, match=message):
            call(robot, q)


def test_batch_shapes_that_do_not_fit_are_named() -> None:
    with pytest.raises(iparam.InputError, match=r"q \(3, 6\), dq \(4, 6\)"):
        iparam.tool_motion(UR5E, np.zeros((3, 6)), np.zeros((4, 6)), ZERO)


def test_unknown_frames_are_refused_with_the_known_ones() -> None:
    with pytest.raises(iparam.UnknownNameError, match=r"'tool_0'; did you mean 'tool0'\?.*base, shoulder_link"):
        iparam.forward_kinematics(UR5E, ZERO, frame="tool_0")
    with pytest.raises(iparam.UnknownNameError, match="'world'; known: tool, base"):
        iparam.jacobian(UR5E, ZERO, frame="world")  # type: ignore[arg-type]
    with pytest.raises(iparam.UnknownNameError, match="'world'; known: tool, base"):
        joint_axes(UR5E, ZERO, frame="world")  # type: ignore[arg-type]
    with pytest.raises(iparam.InputError, match="threshold must be positive, got 0"):
        iparam.is_singular(UR5E, ZERO, threshold=0)


def test_largest_finite_numbers_do_not_crash() -> None:
    q = np.full(6, 1e308)
    assert np.isfinite(iparam.forward_kinematics(UR5E, q)).all()

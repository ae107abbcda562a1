"""The DH tables, stated apart from the catalogue, give the same arms."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.errors import InputError, UnknownNameError
from iparam.robot import JointKind, Robot, StandardDH, catalog_robot, dh_table, robot_names

ANGLES = np.random.default_rng(7).uniform(-np.pi, np.pi, (50, 6))


def about_z(angle: float) -> np.ndarray:
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return pose


def about_x(angle: float) -> np.ndarray:
    pose = np.eye(4)
    pose[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return pose


def shift(x: float = 0.0, z: float = 0.0) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = x, 0.0, z
    return pose


def tool_pose(robot: Robot, q: np.ndarray) -> np.ndarray:
    """Base to tool by plain products along the joints, all of which turn about z."""
    found = {robot.base_frame: np.eye(4)}
    angles = dict(zip(robot.joint_names, q, strict=True))
    for joint in robot.joints:
        turn = np.eye(4) if joint.kind is JointKind.FIXED else about_z(angles[joint.name])
        found[joint.child] = found[joint.parent] @ joint.origin @ turn
    return found[robot.tool_frame]


def test_there_is_a_table_for_every_catalogue_robot() -> None:
    assert [dh_table(name).num_joints for name in robot_names()] == [6] * 9
    assert dh_table("UR5e") is dh_table("ur5e")
    with pytest.raises(UnknownNameError, match="ur10e"):
        dh_table("panda")


def test_ur5_and_ur5e_are_different_arms() -> None:
    ur5e = dh_table("ur5e")
    assert ur5e.d.tolist() == [0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996]
    assert ur5e.a.tolist() == [0.0, -0.425, -0.3922, 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(ur5e.alpha, [np.pi / 2, 0, 0, np.pi / 2, -np.pi / 2, 0])
    assert dh_table("ur5").d[0] == 0.089159


@pytest.mark.parametrize("name", robot_names())
def test_tables_give_the_catalogues_tool_poses(name: str) -> None:
    # The maker writes pi/2 with ten digits, which is worth up to 1e-9 m at the tool.
    robot = catalog_robot(name)
    expected = np.array([tool_pose(robot, q) for q in ANGLES])
    np.testing.assert_allclose(dh_table(name).forward_kinematics(ANGLES), expected, rtol=0, atol=1e-9)


def test_a_step_is_rz_tz_tx_rx() -> None:
    table = StandardDH(a=[0.3, 0.1], d=[0.2, -0.4], alpha=[0.5, -1.0], theta_offset=[0.1, 0.7])
    q = np.array([0.9, -0.6])
    steps = table.transforms(q)
    for i in range(2):
        expected = (
            about_z(q[i] + table.theta_offset[i]) @ shift(z=table.d[i]) @ shift(x=table.a[i]) @ about_x(table.alpha[i])
        )
        np.testing.assert_allclose(steps[i], expected, atol=1e-15)
    np.testing.assert_allclose(table.forward_kinematics(q), steps[0] @ steps[1], atol=1e-15)


def test_any_batch_shape() -> None:
    table = dh_table("ur10e")
    q = ANGLES[:12].reshape(3, 4, 6)
    assert table.transforms(q).shape == (3, 4, 6, 4, 4)
    assert table.forward_kinematics(q).shape == (3, 4, 4, 4)
    np.testing.assert_array_equal(table.forward_kinematics(q)[1, 2], table.forward_kinematics(q[1, 2]))
    assert table.forward_kinematics(np.zeros((0, 6))).shape == (0, 4, 4)
    assert table.forward_kinematics(np.zeros(6, dtype=np.int8)).shape == (4, 4)


def test_bad_tables_are_refused() -> None:
    with pytest.raises(InputError, match=r"d must have shape \(2,\)"):
        StandardDH(a=[0.0, 1.0], d=[0.0], alpha=[0.0, 0.0])
    with pytest.raises(InputError, match="n >= 1"):
        StandardDH(a=[], d=[], alpha=[])
    with pytest.raises(InputError, match="finite"):
        StandardDH(a=[np.inf], d=[0.0], alpha=[0.0])
    with pytest.raises(InputError, match="6"):
        dh_table("ur5e").forward_kinematics(np.zeros(5))

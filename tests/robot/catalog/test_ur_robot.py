"""The catalogue gives the maker's figures to the last digit, in the frames that it documents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.robot import JointKind, Robot, catalog_robot, load_robot, robot_names
from iparam.robot.catalog import ACCELERATION_LIMIT
from iparam.spatial import InertialParameters, is_physically_consistent

NAMES = robot_names()
PARTS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")


def rotation(rpy: tuple[float, float, float]) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll), written out anew."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


def poses(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """Every frame in the base, by plain products along the joints; all joints turn about z."""
    found = {robot.base_frame: np.eye(4)}
    angles = dict(zip(robot.joint_names, q, strict=True))
    for joint in robot.joints:
        turn = np.eye(4)
        if joint.kind is not JointKind.FIXED:
            turn[:3, :3] = rotation((0.0, 0.0, angles[joint.name]))
        found[joint.child] = found[joint.parent] @ joint.origin @ turn
    return found


@pytest.mark.parametrize("name", NAMES)
def test_frames_and_joints_have_the_documented_names(name: str) -> None:
    robot = catalog_robot(name)
    assert robot.name == name
    assert robot.frames == ("base", *(f"{part}_link" for part in PARTS), "flange", "tool0")
    assert robot.tool_frame == "tool0"
    assert robot.joint_names == (
        "shoulder_pan_joint",
        "shoulder_lift_joint",
        "elbow_joint",
        "wrist_1_joint",
        "wrist_2_joint",
        "wrist_3_joint",
    )
    assert robot.link("base").inertial is None


@pytest.mark.parametrize("name", NAMES)
def test_tool0_is_the_last_link_and_the_flange_looks_along_x(name: str) -> None:
    robot = catalog_robot(name)
    by_frame = poses(robot, np.array([0.3, -1.1, 0.9, -0.4, 1.3, 2.0]))
    np.testing.assert_array_equal(by_frame["tool0"], by_frame["wrist_3_link"])
    np.testing.assert_allclose(by_frame["flange"][:3, 0], by_frame["tool0"][:3, 2], atol=1e-15)
    np.testing.assert_allclose(robot.joints[-2].origin[:3, :3], rotation((0.0, -np.pi / 2, -np.pi / 2)), atol=1e-15)
    np.testing.assert_allclose(robot.joints[-1].origin[:3, :3], rotation((np.pi / 2, 0.0, np.pi / 2)), atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_the_makers(name: str, maker_figures: Callable[[str], dict[str, Any]]) -> None:
    robot, figures = catalog_robot(name), maker_figures(name)
    inertia = figures["inertia_parameters"]
    for index, part in enumerate(PARTS):
        origin, joint = figures["kinematics"][part], robot.joints[index]
        assert joint.origin[:3, 3].tolist() == [origin[axis] for axis in "xyz"]
        angles = (origin["roll"], origin["pitch"], origin["yaw"])
        np.testing.assert_allclose(joint.origin[:3, :3], rotation(angles), rtol=0, atol=1e-15)

        body = robot.link(f"{part}_link").inertial
        assert body is not None
        assert body.mass == inertia[f"{part}_mass"]
        assert body.center_of_mass.tolist() == [inertia["center_of_mass"][f"{part}_cog"][axis] for axis in "xyz"]
        xx, xy, xz, yy, yz, zz = (inertia["tensor"][part][key] for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        angles = tuple(inertia["rotation"][part][key] for key in ("roll", "pitch", "yaw"))
        expected = rotation(angles) @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ rotation(angles).T
        np.testing.assert_allclose(body.inertia_about_com, expected, rtol=0, atol=1e-15)

        limit = figures["joint_limits"][robot.joint_names[index]]
        position = (limit.get("min_position", -np.inf), limit.get("max_position", np.inf))
        assert (robot.limits.lower[index], robot.limits.upper[index]) == pytest.approx(position, rel=1e-15)
        assert robot.limits.velocity[index] == pytest.approx(limit["max_velocity"], rel=1e-15)
        assert robot.limits.torque[index] == limit["max_effort"]
        assert robot.limits.acceleration[index] == ACCELERATION_LIMIT


@pytest.mark.parametrize("name", NAMES)
def test_the_makers_urdf_reads_as_the_same_robot(name: str, maker_urdf: Callable[[str], Path]) -> None:
    ours, theirs = catalog_robot(name), load_robot(maker_urdf(name))
    assert theirs.tool_frame == "tool0"
    assert theirs.joint_names == ours.joint_names
    np.testing.assert_allclose(theirs.chain.phi, ours.chain.phi, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(theirs.limits.torque, ours.limits.torque)
    q = np.array([0.4, -1.2, 1.1, 0.2, -0.9, 0.5])
    np.testing.assert_allclose(poses(theirs, q)["tool0"], poses(ours, q)["tool0"], rtol=0, atol=1e-15)


@pytest.mark.reference
@pytest.mark.parametrize("name", NAMES)
def test_poses_and_inertias_agree_with_pinocchio(name: str, maker_urdf: Callable[[str], Path]) -> None:
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(maker_urdf(name)))
    data, robot = model.createData(), catalog_robot(name)
    q = np.array([0.4, -1.2, 1.1, 0.2, -0.9, 0.5])
    pin.framesForwardKinematics(model, data, pin.integrate(model, pin.neutral(model), q))
    np.testing.assert_allclose(data.oMf[model.getFrameId("tool0")].homogeneous, poses(robot, q)["tool0"], atol=1e-14)
    for index in range(6):
        expected = model.inertias[index + 1]
        ours = InertialParameters.from_phi(robot.chain.phi[index])
        assert ours.mass == pytest.approx(expected.mass, rel=1e-14)
        np.testing.assert_allclose(ours.center_of_mass, expected.lever, atol=1e-14)
        np.testing.assert_allclose(ours.inertia_about_com, expected.inertia, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_every_body_is_physically_possible(name: str) -> None:
    assert np.all(is_physically_consistent(catalog_robot(name).chain.phi))

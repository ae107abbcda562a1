"""The arm that is cut out of a robot of several: what is not on it stands still, and weighs and is where it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, RobotModelError, UnknownNameError
from iparam.robot import load_robot
from iparam.spatial import exp_so3


@pytest.fixture
def pr2(example_robot_urdf: Callable[[str], Path]) -> Path:
    (path,) = example_robot_urdf("panda").parents[2].rglob("pr2.urdf")
    return path


@pytest.mark.reference
def test_an_arm_of_a_robot_of_two_is_that_of_the_whole_robot(pr2: Path) -> None:
    """Pinocchio moves the whole robot; the arm that is cut out has its torques, with the rest locked where told."""
    pin = pytest.importorskip("pinocchio")
    lock = {"torso_lift_joint": 0.2, "head_pan_joint": 0.3, "r_gripper_l_finger_joint": 0.3}
    robot = load_robot(pr2, base="torso_lift_link", tip="r_wrist_roll_link", lock=lock)
    assert robot.num_joints == 7
    assert robot.lock["r_gripper_r_finger_joint"] == 0.3  # mimics the one that is told
    model = pin.buildModelFromUrdf(str(pr2))
    data, rng = model.createData(), np.random.default_rng(4)
    for _ in range(3):
        q, dq, ddq = rng.uniform(-1.0, 1.0, (3, 7))
        configuration, velocity, acceleration = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        displacement = np.zeros(model.nv)
        for name, position in robot.lock.items():
            displacement[model.joints[model.getJointId(name)].idx_v] = position
        places = [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
        displacement[places], velocity[places], acceleration[places] = q, dq, ddq
        configuration = pin.integrate(model, configuration, displacement)
        expected = pin.rnea(model, data, configuration, velocity, acceleration)[places]
        ours = iparam.inverse_dynamics(robot, q, dq, ddq, gravity=(0.0, 0.0, -9.81))
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)
        pin.framesForwardKinematics(model, data, configuration)
        base = data.oMf[model.getFrameId("torso_lift_link")].inverse()
        for frame in (
            "r_wrist_roll_link",
            "head_pan_link",
            "l_gripper_palm_link",
            "base_link",
            "r_gripper_l_finger_link",
        ):
            expected = (base * data.oMf[model.getFrameId(frame)]).homogeneous
            np.testing.assert_allclose(iparam.forward_kinematics(robot, q, frame=frame), expected, atol=1e-12)


def test_a_tilted_base_says_what_gravity_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="mount"/><link name="a"/><joint name="m" type="revolute">'
        '<parent link="base"/><child link="mount"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="1" '
        'effort="1"/></joint><joint name="j" type="continuous"><parent link="mount"/><child link="a"/></joint></robot>',
        encoding="utf-8",
    )
    upright = load_robot(path, base="mount", tip="a")
    assert not any("tilted" in note for note in upright.notes)
    robot = load_robot(path, base="mount", tip="a", lock={"m": 0.5})
    x, y, z = exp_so3([0.0, 0.5, 0.0]).T @ (0.0, 0.0, -9.81)
    (note,) = (note for note in robot.notes if "tilted" in note)
    assert f"{x:.4f}".rstrip("0") in note
    assert f"{z:.4f}".rstrip("0") in note
    assert y == 0.0
    assert robot.locked_joints == ("m",)
    assert set(robot.frames) == {"mount", "a", "base"}


def test_joints_of_the_arm_can_be_locked(tmp_path: Path) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(
        '<robot name="r"><link name="base"/><link name="mount"/><link name="a"/><joint name="m" type="continuous">'
        '<parent link="base"/><child link="mount"/></joint><joint name="j" type="continuous"><parent link="mount"/>'
        '<child link="a"/></joint></robot>',
        encoding="utf-8",
    )
    assert load_robot(path, lock={"j": 0.0}).joint_names == ("m",)
    with pytest.raises(RobotModelError, match=r"with m, j locked; lock fewer, or choose another base or tip"):
        load_robot(path, lock={"m": 0.0, "j": 0.0})
    with pytest.raises(UnknownNameError, match="known: m, j"):
        load_robot(path, lock={"torso": 0.0})
    with pytest.raises(InputError, match="no joints off the arm"):
        load_robot("ur5e", lock={"j": 0.0})

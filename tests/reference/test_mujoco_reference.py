"""The UR5e against MuJoCo, which reads a URDF built from the maker's figures and has its own recursions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import iparam

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def model(maker_urdf: Callable[[str], Path]):
    spec = mujoco.MjSpec.from_file(str(maker_urdf("ur5e")))
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = False
    spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
    spec.option.gravity = (0.0, 0.0, -9.81)
    return spec.compile()


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return np.random.default_rng(3).uniform(-3.0, 3.0, (3, 200, 6))


def test_poses_torques_and_mass_matrix(model, states: np.ndarray) -> None:
    robot = iparam.load_robot("ur5e")
    q, dq, ddq = states
    poses = iparam.frame_poses(robot, q)
    torques, inertias = iparam.inverse_dynamics(robot, q, dq, ddq), iparam.mass_matrix(robot, q)
    coriolis = iparam.coriolis_centrifugal(robot, q, dq)
    data, full = mujoco.MjData(model), np.zeros((6, 6))
    for k in range(len(q)):
        data.qpos, data.qvel, data.qacc = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        mujoco.mj_fullM(model, data, full)
        np.testing.assert_allclose(torques[k], data.qfrc_inverse, atol=1e-9 * np.abs(torques[k]).max())
        np.testing.assert_allclose(inertias[k], full, atol=1e-9)
        gravity = iparam.gravity_torques(robot, q[k])
        np.testing.assert_allclose(coriolis[k] + gravity, data.qfrc_bias, atol=1e-9 * np.abs(data.qfrc_bias).max())
        for link in ("upper_arm_link", "wrist_2_link", "wrist_3_link"):
            body = data.body(link)
            np.testing.assert_allclose(poses[link][k][:3, 3], body.xpos, atol=1e-9)
            np.testing.assert_allclose(poses[link][k][:3, :3].ravel(), body.xmat, atol=1e-9)
        np.testing.assert_array_equal(poses["tool0"][k], poses["wrist_3_link"][k])


def test_tool_velocity_and_acceleration(model, states: np.ndarray) -> None:
    robot = iparam.load_robot("ur5e")
    q, dq, ddq = states
    motion = iparam.tool_motion(robot, q, dq, ddq)
    data, six, body = mujoco.MjData(model), np.zeros(6), model.body("wrist_3_link").id
    for k in range(len(q)):
        data.qpos, data.qvel, data.qacc = q[k], dq[k], ddq[k]
        mujoco.mj_inverse(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        # The body FRAME, not its centre of mass: mjOBJ_XBODY. Both come as [angular, linear] in local axes.
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, six, 1)
        np.testing.assert_allclose(motion.angular_velocity[k], six[:3], atol=1e-9)
        np.testing.assert_allclose(motion.linear_velocity[k], six[3:], atol=1e-9)
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, six, 1)
        # MuJoCo's accelerations contain the upward acceleration that stands for gravity.
        up = motion.pose[k][:3, :3].T @ [0.0, 0.0, 9.81]
        np.testing.assert_allclose(motion.angular_acceleration[k], six[:3], atol=1e-8)
        np.testing.assert_allclose(motion.linear_acceleration[k] + up, six[3:], atol=1e-8)

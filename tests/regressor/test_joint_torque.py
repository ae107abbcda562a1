"""Derivatives of the joint-torque regressor: against central differences, and consistent with those of the torques."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.regressor.joint_torque import joint_torque_regressor_derivatives
from iparam.robot.dynamics import inverse_dynamics_derivatives

STEP = 1e-5
GRAVITY = (1.0, -2.0, -9.0)


def slanted_arm() -> iparam.Robot:
    """Revolute and prismatic joints about axes that are not z."""
    rng = np.random.default_rng(12)
    place = np.eye(4)
    place[:3, :3] = [[0, -1, 0], [0.6, 0, -0.8], [0.8, 0, 0.6]]
    place[:3, 3] = [0.2, -0.1, 0.3]
    body = iparam.InertialParameters.box(1.5, [0.1, 0.2, 0.3]).transformed(place)
    kinds = ("revolute", "prismatic", "revolute", "prismatic")
    joints = tuple(
        iparam.Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", place, rng.normal(size=3)) for i, kind in enumerate(kinds)
    )
    links = (iparam.Link("l0"), *(iparam.Link(f"l{i + 1}", body) for i in range(4)))
    return iparam.Robot("slanted", joints, links, iparam.JointLimits.unlimited(4), "l4")


@pytest.fixture(scope="module", params=["ur5e", "slanted"])
def robot(request: pytest.FixtureRequest) -> iparam.Robot:
    return iparam.load_robot("ur5e") if request.param == "ur5e" else slanted_arm()


def test_against_central_differences(robot: iparam.Robot) -> None:
    motion = np.random.default_rng(0).uniform(-3.0, 3.0, (3, 20, robot.num_joints))
    found = joint_torque_regressor_derivatives(robot, *motion, GRAVITY)
    np.testing.assert_allclose(
        found.regressor, iparam.joint_torque_regressor(robot, *motion, GRAVITY), rtol=0, atol=1e-12
    )
    for order, slopes in enumerate((found.by_q, found.by_dq, found.by_ddq)):
        for joint in range(robot.num_joints):
            shift = np.zeros_like(motion)
            shift[order, :, joint] = STEP
            ahead, behind = (
                iparam.joint_torque_regressor(robot, *(motion + sign * shift), GRAVITY) for sign in (1.0, -1.0)
            )
            np.testing.assert_allclose(slopes[:, joint], (ahead - behind) / (2 * STEP), atol=2e-7)


def test_they_give_the_derivatives_of_the_torques(robot: iparam.Robot) -> None:
    motion = np.random.default_rng(1).uniform(-3.0, 3.0, (3, 2, 3, robot.num_joints))
    phi = robot.body_parameters.ravel()
    regressor = joint_torque_regressor_derivatives(robot, *motion)
    torques = inverse_dynamics_derivatives(robot, *motion)
    for order in ("by_q", "by_dq", "by_ddq"):
        np.testing.assert_allclose(
            (getattr(regressor, order) @ phi).swapaxes(-1, -2), getattr(torques, order), atol=1e-10
        )

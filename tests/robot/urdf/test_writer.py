"""Robots written as URDF and read again are the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.robot.urdf.writer import robot_to_urdf


def odd_arm() -> iparam.Robot:
    """A slide and an unlimited turn, with a load on a side frame and names that XML has to quote."""
    body = iparam.InertialParameters(1.5, [0.1, -0.2, 0.05], [[0.03, 0.001, 0], [0.001, 0.02, 0], [0, 0, 0.025]])
    turned = np.eye(4)
    turned[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    turned[:3, 3] = [0.1, 0.2, 0.3]
    joints = (
        iparam.Joint('slide "a" & b', iparam.JointKind.PRISMATIC, "base", "one", turned, [1.0, 1.0, 0.0]),
        iparam.Joint("turn", iparam.JointKind.REVOLUTE, "one", "two", turned, [0.0, 1.0, 0.0]),
        iparam.Joint("mount", iparam.JointKind.FIXED, "two", "tool", turned),
    )
    links = (iparam.Link("base"), iparam.Link("one", body), iparam.Link("two", body), iparam.Link("tool", body))
    limits = iparam.JointLimits(
        np.array([-0.5, -np.inf]),
        np.array([0.5, np.inf]),
        np.array([1.0, np.inf]),
        np.full(2, np.inf),
        np.full(2, 50.0),
    )
    return iparam.Robot("odd", joints, links, limits, "tool")


@pytest.mark.parametrize("name", ["ur3", "ur10e", "odd"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    robot = odd_arm() if name == "odd" else iparam.load_robot(name)
    path = tmp_path / "robot.urdf"
    damping = np.linspace(1.0, 2.0, robot.num_joints)
    path.write_text(robot_to_urdf(robot, {"damping": damping}), encoding="utf-8")
    assert 'damping="2.0"' in path.read_text(encoding="utf-8")
    again = iparam.load_robot(path, tip=robot.tool_frame)
    assert again.joint_names == robot.joint_names
    assert again.frames == robot.frames
    for limit in ("lower", "upper", "velocity", "acceleration", "torque"):
        np.testing.assert_allclose(getattr(again.limits, limit), getattr(robot.limits, limit), rtol=1e-15)
    q, dq, ddq = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 20, robot.num_joints))
    np.testing.assert_allclose(iparam.forward_kinematics(again, q), iparam.forward_kinematics(robot, q), atol=1e-14)
    before, after = (iparam.inverse_dynamics(arm, q, dq, ddq) for arm in (robot, again))
    np.testing.assert_allclose(after, before, atol=1e-11)

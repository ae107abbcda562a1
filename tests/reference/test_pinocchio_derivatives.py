"""Derivatives of the inverse dynamics against Pinocchio, on URDFs that this project did not write."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.robot.dynamics import inverse_dynamics_derivatives

pin = pytest.importorskip("pinocchio")
pytestmark = pytest.mark.reference

SAMPLES = 200
ARMS = {"ur5": "tool0", "panda": "panda_hand", "tiago": "arm_tool_link", "kinova": "j2s6s200_end_effector"}


@pytest.mark.parametrize("rotors", [False, True], ids=["bare", "with rotor inertia"])
@pytest.mark.parametrize("name", ARMS)
def test_inverse_dynamics_derivatives(name: str, rotors: bool, example_robot_urdf, pinocchio_model) -> None:
    path = example_robot_urdf(name)
    robot = iparam.load_robot(path, tip=ARMS[name])
    model = pinocchio_model(path, robot)
    rng = np.random.default_rng(11)
    if rotors:
        robot = robot.with_armature(rng.uniform(0.1, 1.0, robot.num_joints))
        model.armature = np.array(robot.armature)
    q, dq, ddq = (rng.uniform(-3.0, 3.0, (SAMPLES, robot.num_joints)) for _ in range(3))
    ours = inverse_dynamics_derivatives(robot, q, dq, ddq)
    data = model.createData()
    for k in range(SAMPLES):
        position = pin.integrate(model, pin.neutral(model), q[k])
        # The derivatives are by the tangent of the configuration: dq_i of our q_i, for continuous joints as well.
        by_q, by_dq, by_ddq = pin.computeRNEADerivatives(model, data, position, dq[k], ddq[k])
        mass = np.triu(by_ddq) + np.triu(by_ddq, 1).T
        for slope, reference in ((ours.by_q[k], by_q), (ours.by_dq[k], by_dq), (ours.by_ddq[k], mass)):
            np.testing.assert_allclose(slope, reference, atol=1e-9 * np.abs(reference).max(), rtol=0)
        np.testing.assert_allclose(ours.torques[k], data.tau, atol=1e-9 * np.abs(data.tau).max(), rtol=0)

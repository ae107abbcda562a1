"""The torque constraint: margins are those of the loaded arm, gradients exact."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import MotionArrays, worst_margin
from iparam.excitation.constraints.torque_limit import TorqueLimitConstraint

STEP = 1e-5
PAYLOAD = iparam.InertialParameters.box(3.0, [0.1, 0.15, 0.2])


@pytest.fixture(scope="module")
def robot() -> iparam.Robot:
    return iparam.load_robot("ur5e").with_armature(0.2)


@pytest.fixture(scope="module")
def motion() -> MotionArrays:
    return MotionArrays(*np.random.default_rng(3).uniform(-2.0, 2.0, (4, 8, 6)))


def test_margins_are_the_distance_of_the_torques_from_the_limits(robot: iparam.Robot, motion: MotionArrays) -> None:
    constraint = TorqueLimitConstraint.of_robot(robot, PAYLOAD)
    torques = iparam.inverse_dynamics(robot.with_payload(PAYLOAD), motion.q, motion.dq, motion.ddq)
    limits = robot.limits.torque
    margins = constraint.margins(motion)
    np.testing.assert_allclose(margins, np.hstack([torques + limits, limits - torques]), atol=1e-10)
    assert constraint.labels == tuple(f"{joint} {side}" for side in ("lower", "upper") for joint in robot.joint_names)
    assert (constraint.name, constraint.unit, constraint.orders) == ("joint torque", "N m", (0, 1, 2))
    assert constraint.scale == limits.min()
    bare = TorqueLimitConstraint.of_robot(robot).margins(motion)
    assert np.abs(bare - margins).max() > 1.0


def test_gradients_against_central_differences(robot: iparam.Robot, motion: MotionArrays) -> None:
    constraint = TorqueLimitConstraint(robot, [100.0, np.inf, 80.0, 20.0, np.inf, 5.0], PAYLOAD, (0.0, 3.0, -9.0))
    found = constraint.linearize(motion)
    np.testing.assert_allclose(found.values, constraint.margins(motion), atol=1e-10)
    for order, gradient in zip(constraint.orders, found.gradients, strict=True):
        assert gradient.shape == (8, 8, 6)
        for joint in range(6):
            sides = []
            for sign in (1.0, -1.0):
                arrays = [np.array(part) for part in motion]
                arrays[order][:, joint] += sign * STEP
                sides.append(constraint.margins(MotionArrays(*arrays)))
            np.testing.assert_allclose(gradient[:, :, joint], (sides[0] - sides[1]) / (2 * STEP), atol=1e-6)


def test_infinite_limits_are_left_out(robot: iparam.Robot, motion: MotionArrays) -> None:
    limits = np.array([np.inf, 50.0, np.inf, np.inf, np.inf, 9.0])
    constraint = TorqueLimitConstraint(robot, limits)
    names = robot.joint_names
    assert constraint.labels == (f"{names[1]} lower", f"{names[5]} lower", f"{names[1]} upper", f"{names[5]} upper")
    assert constraint.margins(motion).shape == (8, 4)
    none = TorqueLimitConstraint(robot, np.full(6, np.inf))
    assert none.labels == ()
    assert worst_margin(none, motion, np.arange(8.0)) is None


@pytest.mark.parametrize("limits", [np.ones(5), np.zeros(6), -np.ones(6), np.full(6, np.nan)])
def test_senseless_limits_are_refused(robot: iparam.Robot, limits: np.ndarray) -> None:
    with pytest.raises(iparam.InputError, match="6 positive numbers"):
        TorqueLimitConstraint(robot, limits)

"""Where a motion starts: the usual pose where it leaves room, else one that does, else why there is none."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.excitation.constraints.constraint import InfeasibleError
from iparam.excitation.constraints.torque_limit import TorqueLimitConstraint
from iparam.excitation.search.start_pose import default_start, find_start
from iparam.excitation.setup import planning_problem
from iparam.robot.cell import Box, WorkCell

UR5E = iparam.load_robot("ur5e")
DOWN = np.array([0.0, 0.0, -9.81])


def test_default_starts() -> None:
    np.testing.assert_allclose(np.degrees(default_start(UR5E)), [90, -90, 90, -90, -90, 90])
    joint = iparam.Joint("j", iparam.JointKind.REVOLUTE, "a", "b", np.eye(4))
    limits = iparam.JointLimits(np.array([-1.0]), np.array([3.0]), *([np.array([1.0])] * 3))
    arm = iparam.Robot("one", (joint,), (iparam.Link("a"), iparam.Link("b")), limits, "b")
    np.testing.assert_allclose(default_start(arm), [1.0])
    for lower, upper, start in ((-np.inf, np.inf, 0.0), (2.0, np.inf, 2.0), (-np.inf, -3.0, -3.0)):
        limits = iparam.JointLimits(np.array([lower]), np.array([upper]), *([np.array([1.0])] * 3))
        np.testing.assert_allclose(default_start(dataclasses.replace(arm, limits=limits)), [start])


def test_the_usual_pose_stays_where_it_leaves_room() -> None:
    problem = planning_problem(UR5E, payload=iparam.PayloadBox.from_size([0.1, 0.15, 0.2]))
    np.testing.assert_array_equal(problem.q0, default_start(UR5E))


def test_another_pose_is_found_where_the_usual_one_takes_too_much_torque() -> None:
    """The shoulder of an arm that is weak for its forearm holds it above or below itself, not sideways."""
    usual = np.abs(iparam.gravity_torques(UR5E, default_start(UR5E)))
    weak = dataclasses.replace(UR5E.limits, torque=np.where(usual > 20.0, 0.9 * usual, UR5E.limits.torque))
    arm = dataclasses.replace(UR5E, limits=weak)
    problem = planning_problem(arm)
    problem.check_start()
    assert not np.allclose(problem.q0, default_start(arm))
    assert (np.abs(iparam.gravity_torques(arm, problem.q0)) < 0.75 * weak.torque).all()
    inside = np.minimum(problem.q0 - weak.lower, weak.upper - problem.q0)
    assert (inside > 0.1 * (weak.upper - weak.lower)).all()
    # The tool turns about every axis: nothing about the load stays hidden for lack of a direction.
    turning = iparam.jacobian(arm, problem.q0, frame="tool")[:3]
    assert np.linalg.svd(turning, compute_uv=False)[-1] > 0.3
    np.testing.assert_array_equal(problem.q0, planning_problem(arm).q0)


def test_the_direction_of_gravity_counts() -> None:
    """An arm on a wall holds its weight in other poses."""
    limit = TorqueLimitConstraint(UR5E, np.array([40.0, 40.0, 30.0, 10.0, 10.0, 10.0]), gravity=DOWN)
    on_wall = dataclasses.replace(limit, gravity=np.array([9.81, 0.0, 0.0]))
    for constraint, gravity in ((limit, DOWN), (on_wall, on_wall.gravity)):
        torques = iparam.gravity_torques(UR5E, find_start(UR5E, [constraint], gravity), gravity)
        assert (np.abs(torques) < 0.8 * constraint.limits).all()


def test_an_arm_that_cannot_hold_itself_ends_with_that_reason() -> None:
    """Its wrist alone weighs more than the drive of the elbow holds in any pose but a few."""
    feeble = dataclasses.replace(UR5E.limits, torque=np.full(6, 1e-6))
    with pytest.raises(InfeasibleError, match=r"no pose to start from.*misses 'joint torque' by .* N m .*lighter load"):
        planning_problem(dataclasses.replace(UR5E, limits=feeble))


def test_a_cell_without_room_ends_with_that_reason() -> None:
    press = Box(np.array([0.0, 0.0, 0.6]), np.array([2.0, 2.0, 0.5]), name="press")
    with pytest.raises(InfeasibleError, match=r"misses 'robot-.*press.*more room, or less clearance"):
        planning_problem(UR5E, cell=WorkCell(boxes=(press,), ground_height=0.0))

"""What an arm can do passes, and what it cannot is named by the quantity, the joint and the bound."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import iparam
from iparam.bridges.physical_bounds import Capacity, ImplausibleLoadError, PhysicalBounds, check_load
from iparam.export import IdentifiedLoad

BANDWIDTH = 15.0
BOX = iparam.InertialParameters.box(4.0, (0.1, 0.1, 0.2))


@pytest.fixture(scope="module")
def ur5e() -> iparam.Robot:
    return iparam.load_robot("ur5e")


def test_all_that_its_motors_can_bring_about_passes(ur5e: iparam.Robot) -> None:
    """Full torque at full speed, with a load or a contact: with whatever comes of it the arm is within its bounds."""
    random, limits = np.random.default_rng(0), ur5e.limits
    bounds = PhysicalBounds(ur5e, bandwidth=BANDWIDTH)
    for _ in range(200):
        q, dq = random.uniform(-np.pi, np.pi, 6), limits.velocity * random.uniform(-1.0, 1.0, 6)
        torque, wrench = limits.torque * random.uniform(-1.0, 1.0, 6), random.uniform(-50.0, 50.0, 6)
        push = iparam.jacobian(ur5e, q).T @ wrench[[3, 4, 5, 0, 1, 2]]
        ddq = iparam.forward_dynamics(ur5e, q, dq, torque - push)
        assert bounds.of_wrenches(wrench[None], q, dq, ddq) is None


def test_a_motion_filtered_to_the_bandwidth_passes_at_full_speed(ur5e: iparam.Robot) -> None:
    bounds, speed = PhysicalBounds(ur5e, bandwidth=BANDWIDTH), ur5e.limits.velocity
    fastest = 2.0 * np.pi * BANDWIDTH * speed  # of a velocity of this amplitude and frequency
    assert bounds.of_motion(speed, fastest) is None
    found = bounds.of_motion(speed, 2.1 * fastest)
    assert found is not None
    assert (found.quantity, found.bound) == ("acceleration", pytest.approx(2.0 * fastest[found.joint - 1]))
    found = bounds.of_motion(3.0 * speed * np.eye(6)[4], fastest)
    assert found is not None
    assert (found.quantity, found.joint) == ("velocity", 5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_no_number_does_not_pass(ur5e: iparam.Robot, value: float) -> None:
    bounds, rest, wrench = PhysicalBounds(ur5e, bandwidth=BANDWIDTH), np.zeros(6), np.zeros((2, 6))
    for found in (
        bounds.of_motion(np.full(6, value), rest),
        bounds.of_wrenches(wrench + value, rest),
        bounds.of_wrenches(wrench, rest, rest, np.full(6, value)),
    ):
        assert found is not None
        assert found.quantity == "number"


def test_a_wrench_that_would_break_the_arm_does_not_pass(ur5e: iparam.Robot) -> None:
    bounds, q = PhysicalBounds(ur5e), np.array([0.0, -1.2, 1.4, -1.0, -1.5, 0.3])
    for one in np.eye(6):
        found = bounds.of_wrenches(np.array([np.zeros(6), 7.5e7 * one]), q)
        assert found is not None
        assert found.quantity == "torque"
        assert found.bound in 2.0 * ur5e.limits.torque


UPRIGHT = np.array([0.0, -np.pi / 2, 0.0, -np.pi / 2, 0.0, 0.0])
"""Where a vertical force takes no torque of any joint."""


def test_what_takes_no_torque_in_a_singular_pose_does_not_pass(ur5e: iparam.Robot) -> None:
    bounds = PhysicalBounds(ur5e)
    vertical = iparam.forward_kinematics(ur5e, UPRIGHT)[2, :3]
    for size, quantity in ((1000.0, None), (7.5e7, "force")):
        found = bounds.of_wrenches(np.array([[*(size * vertical), 0.0, 0.0, 0.0]]), UPRIGHT)
        assert (found and found.quantity) == quantity
    assert bounds.of_load(BOX.phi, UPRIGHT) is None
    found = bounds.of_load(iparam.InertialParameters.box(1e6, (0.1, 0.1, 0.2)).phi, UPRIGHT)
    assert found is not None
    assert found.quantity == "force"


@pytest.mark.parametrize("name", ["ur3e", "ur10e", "ur20"])
def test_a_force_of_any_arm_is_bounded_in_all_poses(name: str) -> None:
    """Not below what its motors give where it works, and not above some hundred times what it is made to carry."""
    robot, random = iparam.load_robot(name), np.random.default_rng(1)
    bounds = PhysicalBounds(robot)
    passing = 0
    for q in random.uniform(-np.pi, np.pi, (200, 6)):
        direction = random.standard_normal(3)
        direction /= np.linalg.norm(direction)
        strongest = 1.0 / float((np.abs(direction @ iparam.jacobian(robot, q)[3:]) / robot.limits.torque).max())
        found = bounds.of_wrenches(np.array([[*(0.5 * strongest * direction), 0.0, 0.0, 0.0]]), q)
        passing += found is None or found.quantity == "torque"
        found = bounds.of_wrenches(np.array([[*(1e3 * Capacity.of(name).rated_load * direction * 9.81), 0, 0, 0]]), q)
        assert found is not None
    assert passing >= 199


def test_loads(ur5e: iparam.Robot) -> None:
    bounds, q = PhysicalBounds(ur5e), np.array([0.0, -0.3, 0.2, -1.0, -1.5, 0.3])
    assert bounds.of_load(BOX.phi, q) is None
    partly = np.where(np.arange(10) < 1, BOX.phi, np.nan)
    assert bounds.of_load(partly, q) is None
    for phi, quantity in (
        (-BOX.phi, "mass"),
        (0.0 * BOX.phi, "mass"),
        (BOX.phi * [1, 1, 1, 1, 1, 1, 1, 1, 1, -1], "inertia"),
        (100.0 * BOX.phi, "torque"),
        (100.0 * partly, "torque"),
        (partly * np.nan, "mass"),
    ):
        found = bounds.of_load(phi, q)
        assert found is not None
        assert found.quantity == quantity


def test_limits_that_are_not_stated_bound_nothing(ur5e: iparam.Robot) -> None:
    free = dataclasses.replace(ur5e, limits=iparam.robot.JointLimits.unlimited(6))
    bounds = PhysicalBounds(free, bandwidth=BANDWIDTH)
    assert bounds.of_motion(np.full(6, 1e9), np.full(6, 1e9)) is None
    assert bounds.of_wrenches(np.full((1, 6), 1e9), np.zeros(6)) is None
    found = bounds.of_motion(np.zeros(6), np.full(6, np.inf))
    assert found is not None
    assert found.quantity == "number"


def test_a_controller_is_not_told_what_its_arm_cannot_carry() -> None:
    load = IdentifiedLoad(4.0, np.array([0.0, 0.0, 0.1]), 0.02 * np.eye(3), frame="tool0")
    check_load(load, "ur5e")
    Capacity("an arm", 4.0, reach=0.1, wrist_torque=4.0).check(load)
    for wrong in (
        dataclasses.replace(load, mass=5.1),
        dataclasses.replace(load, center_of_mass=np.array([0.0, 0.0, 0.8])),
        dataclasses.replace(load, center_of_mass=np.array([0.0, 0.0, 2.0])),
    ):
        with pytest.raises(ImplausibleLoadError):
            check_load(wrong, "ur5e")
    for less in (
        Capacity("an arm", 3.9, 1.0, 9.0),
        Capacity("an arm", 9.0, 0.09, 9.0),
        Capacity("an arm", 9.0, 1.0, 3.9),
    ):
        with pytest.raises(ImplausibleLoadError):
            less.check(load)

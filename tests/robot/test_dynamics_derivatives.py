"""Derivatives of the inverse dynamics: exact against central differences, for any joint axes, and batched."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import iparam
from iparam.robot.dynamics import InverseDynamicsDerivatives, inverse_dynamics_derivatives

STEP = 1e-5
GRAVITY = (1.0, -2.0, -9.0)


def mixed_arm(seed: int = 5) -> iparam.Robot:
    """Revolute and prismatic joints about axes that are not z, a fixed joint between, and rotor inertia."""
    rng = np.random.default_rng(seed)

    def origin() -> np.ndarray:
        q, r = np.linalg.qr(rng.normal(size=(3, 3)))
        rotation = q * np.sign(np.diag(r))
        transform = np.eye(4)
        transform[:3, :3] = rotation * np.linalg.det(rotation)
        transform[:3, 3] = rng.uniform(-0.4, 0.4, 3)
        return transform

    def body() -> iparam.InertialParameters:
        return iparam.InertialParameters.box(rng.uniform(0.5, 3.0), rng.uniform(0.05, 0.3, 3)).transformed(origin())

    kinds = ["prismatic", "revolute", "fixed", "revolute", "prismatic", "revolute"]
    joints = tuple(
        iparam.Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", origin(), rng.normal(size=3)) for i, kind in enumerate(kinds)
    )
    links = (iparam.Link("l0"), *(iparam.Link(f"l{i + 1}", body()) for i in range(len(kinds))))
    return iparam.Robot("mixed", joints, links, iparam.JointLimits.unlimited(5), "l6", rng.uniform(0, 1, 5))


ROBOTS = [iparam.load_robot("ur5e"), mixed_arm(), mixed_arm(6)]
NUMBERS = st.floats(-3.0, 3.0, allow_subnormal=False)


@st.composite
def states(draw: st.DrawFn):
    robot = draw(st.sampled_from(ROBOTS))
    motion = (draw(arrays(float, robot.num_joints, elements=NUMBERS)) for _ in range(3))
    return (robot, *motion, draw(arrays(float, 6, elements=st.floats(-20.0, 20.0))))


def central_differences(robot: iparam.Robot, motion: list[np.ndarray], tip: np.ndarray, order: int) -> np.ndarray:
    columns = []
    for unit in np.eye(robot.num_joints):
        ahead, behind = list(motion), list(motion)
        ahead[order], behind[order] = motion[order] + STEP * unit, motion[order] - STEP * unit
        change = iparam.inverse_dynamics(robot, *ahead, GRAVITY, tip) - iparam.inverse_dynamics(
            robot, *behind, GRAVITY, tip
        )
        columns.append(change / (2 * STEP))
    return np.stack(columns, axis=-1)


@settings(deadline=None, max_examples=60)
@given(states())
def test_derivatives_are_those_of_the_inverse_dynamics(state) -> None:
    robot, q, dq, ddq, tip = state
    found = inverse_dynamics_derivatives(robot, q, dq, ddq, GRAVITY, tip)
    scale = 1.0 + np.abs(found.torques).max()
    np.testing.assert_allclose(
        found.torques, iparam.inverse_dynamics(robot, q, dq, ddq, GRAVITY, tip), atol=1e-12 * scale
    )
    for order, slope in enumerate((found.by_q, found.by_dq, found.by_ddq)):
        reference = central_differences(robot, [q, dq, ddq], tip, order)
        np.testing.assert_allclose(slope, reference, atol=2e-8 * (scale + np.abs(slope).max()))


@settings(deadline=None, max_examples=30)
@given(states())
def test_slope_by_acceleration_is_the_mass_matrix(state) -> None:
    robot, q, dq, ddq, tip = state
    found = inverse_dynamics_derivatives(robot, q, dq, ddq, tip_wrench=tip)
    np.testing.assert_allclose(found.by_ddq, iparam.mass_matrix(robot, q), atol=1e-12)
    np.testing.assert_array_equal(found.by_ddq, found.by_ddq.T)


def test_torques_turn_with_the_arm_about_a_vertical_first_axis() -> None:
    q, dq, ddq = np.random.default_rng(0).uniform(-3.0, 3.0, (3, 50, 6))
    found = inverse_dynamics_derivatives(iparam.load_robot("ur5e"), q, dq, ddq)
    np.testing.assert_allclose(found.by_q[..., 0], 0.0, atol=1e-12)


def test_gravity_alone_has_a_symmetric_slope() -> None:
    # At rest the torques are the gradient of the potential energy.
    q = np.random.default_rng(1).uniform(-3.0, 3.0, (20, 5))
    found = inverse_dynamics_derivatives(mixed_arm(), q, np.zeros(5), np.zeros(5))
    np.testing.assert_allclose(found.by_q, found.by_q.swapaxes(-1, -2), atol=1e-12)
    np.testing.assert_allclose(found.by_dq, 0.0, atol=1e-12)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,), (5000,)])
def test_batches(shape: tuple[int, ...]) -> None:
    robot = iparam.load_robot("ur3e")
    q, dq, ddq = np.random.default_rng(2).uniform(-3.0, 3.0, (3, *shape, 6))
    found = inverse_dynamics_derivatives(robot, q, dq, ddq)
    assert isinstance(found, InverseDynamicsDerivatives)
    assert found.torques.shape == (*shape, 6)
    for slope in (found.by_q, found.by_dq, found.by_ddq):
        assert slope.shape == (*shape, 6, 6)
    np.testing.assert_allclose(found.torques, iparam.inverse_dynamics(robot, q, dq, ddq), atol=1e-10)
    if shape == (5000,):
        last = inverse_dynamics_derivatives(robot, q[-1], dq[-1], ddq[-1])
        np.testing.assert_array_equal(found.by_q[-1], last.by_q)


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(iparam.InputError, match="dq must have shape"):
        inverse_dynamics_derivatives(iparam.load_robot("ur5e"), np.zeros(6), np.zeros(5), np.zeros(6))

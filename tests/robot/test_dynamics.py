"""Dynamics at its public entrance: hand-computed cases, rotor inertia, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import iparam

UR5E = iparam.load_robot("ur5e")
ZERO = np.zeros(6)


def pendulum(mass: float = 2.0, length: float = 0.5) -> iparam.Robot:
    """A point-like bob on a massless rod along x, turning about a horizontal axis (-y), so that q = 0 is level."""
    bob = iparam.InertialParameters(mass, [length, 0, 0], np.zeros((3, 3)))
    joint = iparam.Joint("pivot", iparam.JointKind.REVOLUTE, "wall", "rod", np.eye(4), [0, -1, 0])
    return iparam.Robot(
        "pendulum", (joint,), (iparam.Link("wall"), iparam.Link("rod", bob)), iparam.JointLimits.unlimited(1), "rod"
    )


def test_pendulum_by_hand() -> None:
    arm, q = pendulum(), np.array([0.3])
    assert iparam.mass_matrix(arm, q).item() == pytest.approx(2.0 * 0.25)
    assert iparam.gravity_torques(arm, q).item() == pytest.approx(2.0 * 9.81 * 0.5 * math.cos(0.3))
    assert iparam.coriolis_centrifugal(arm, q, [5.0]).item() == pytest.approx(0.0, abs=1e-14)
    result = iparam.newton_euler(arm, q, [2.0], [0.0], gravity=(0, 0, 0))
    np.testing.assert_allclose(result.wrenches[0], [0, 0, 0, -2.0 * 0.5 * 4.0, 0, 0], atol=1e-14)  # centripetal pull
    np.testing.assert_allclose(result.motion.twists[0], [0, -2.0, 0, 0, 0, 0], atol=1e-15)


def test_gravity_carried_by_a_vertical_slide() -> None:
    joint = iparam.Joint("lift", iparam.JointKind.PRISMATIC, "floor", "car", np.eye(4))
    car = iparam.Link("car", iparam.InertialParameters.sphere(3.0, 0.1))
    arm = iparam.Robot("lift", (joint,), (iparam.Link("floor"), car), iparam.JointLimits.unlimited(1), "car")
    assert iparam.inverse_dynamics(arm, [1.0], [2.0], [0.5]).item() == pytest.approx(3.0 * (9.81 + 0.5))


def test_static_payload_needs_its_weight_upward() -> None:
    q = np.array([0.4, -1.1, 1.2, -0.3, 0.7, 0.1])
    phi = iparam.InertialParameters.box(2.0, [0.1, 0.1, 0.1]).phi
    force_in_tool = (iparam.wrench_regressor(UR5E, q, ZERO, ZERO) @ phi)[:3]
    force_in_base = iparam.forward_kinematics(UR5E, q)[:3, :3] @ force_in_tool
    np.testing.assert_allclose(force_in_base, [0, 0, 2.0 * 9.81], atol=1e-12)


def test_rotor_inertia_adds_to_the_diagonal_and_to_the_torques() -> None:
    geared = UR5E.with_armature([1, 2, 3, 4, 5, 6])
    q, dq, ddq = np.random.default_rng(0).normal(size=(3, 6))
    rotor = np.arange(1.0, 7.0)
    np.testing.assert_allclose(iparam.mass_matrix(geared, q) - iparam.mass_matrix(UR5E, q), np.diag(rotor), atol=1e-13)
    more = iparam.inverse_dynamics(geared, q, dq, ddq) - iparam.inverse_dynamics(UR5E, q, dq, ddq)
    np.testing.assert_allclose(more, rotor * ddq, atol=1e-12)
    np.testing.assert_allclose(
        iparam.newton_euler(geared, q, dq, ddq).torques, iparam.inverse_dynamics(geared, q, dq, ddq), atol=1e-12
    )


def test_passes_can_be_called_on_their_own_and_in_batches() -> None:
    q, dq, ddq = np.random.default_rng(1).normal(size=(3, 2, 5, 6))
    tip = np.random.default_rng(2).normal(size=(5, 6))
    motion = iparam.forward_pass(UR5E, q, dq, ddq)
    assert motion.poses.shape == (2, 5, 6, 4, 4)
    assert motion.twists.shape == motion.accelerations.shape == (2, 5, 6, 6)
    result = iparam.backward_pass(UR5E, motion, tip)
    np.testing.assert_allclose(
        result.torques, iparam.inverse_dynamics(UR5E, q, dq, ddq, tip_wrench=tip), rtol=0, atol=1e-11
    )
    assert result.wrenches.shape == (2, 5, 6, 6)
    np.testing.assert_allclose(motion.poses[..., -1, :, :], iparam.forward_kinematics(UR5E, q), atol=1e-14)


def test_a_massless_moving_link_has_no_forward_dynamics_and_is_told_the_way_out() -> None:
    joint = iparam.Joint("j", iparam.JointKind.REVOLUTE, "a", "b", np.eye(4))
    arm = iparam.Robot("ghost", (joint,), (iparam.Link("a"), iparam.Link("b")), iparam.JointLimits.unlimited(1), "b")
    with pytest.raises(iparam.InputError, match=r"'ghost' is singular.*with_armature"):
        iparam.forward_dynamics(arm, [0.0], [0.0], [1.0])
    assert iparam.forward_dynamics(arm.with_armature(0.5), [0.0], [0.0], [1.0]).item() == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gravity": (0, 0)}, r"gravity must have shape \(\.\.\., 3\)"),
        ({"gravity": np.zeros((2, 3))}, r"one vector \(3,\)"),
        ({"gravity": (0, 0, np.nan)}, "gravity must be finite"),
        ({"tip_wrench": np.zeros(5)}, "tip_wrench must have shape"),
        ({"tip_wrench": np.zeros((7, 6))}, "tip_wrench.*does not fit"),
        ({"tip_wrench": [1j] * 6}, "real numbers"),
    ],
)
def test_bad_gravity_and_tip_wrenches_are_refused(arguments: dict[str, object], message: str) -> None:
    for call in (iparam.inverse_dynamics, iparam.newton_euler, iparam.forward_dynamics):
        with pytest.raises(iparam.InputError, match=message):
            call(UR5E, np.zeros((3, 6)), ZERO, ZERO, **arguments)  # type: ignore[arg-type]


def test_a_motion_put_together_from_two_is_refused() -> None:
    short, long = (iparam.forward_pass(UR5E, np.zeros((size, 6)), ZERO, ZERO) for size in (2, 3))
    mixed = iparam.LinkMotion(short.q, short.ddq, long.poses, long.twists, long.accelerations)
    with pytest.raises(iparam.InputError, match="different numbers of samples"):
        iparam.backward_pass(UR5E, mixed)


@pytest.mark.parametrize(("armature", "message"), [([1, 2], "one number or 6"), (-1.0, "none negative")])
def test_bad_rotor_inertias_are_refused(armature: object, message: str) -> None:
    with pytest.raises(iparam.IparamError, match=message):
        UR5E.with_armature(armature)  # type: ignore[arg-type]

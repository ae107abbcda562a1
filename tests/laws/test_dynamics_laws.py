"""What rigid-body mechanics demands of any arm in any state, whatever a reference says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import iparam
from iparam.spatial import adjoint, log_se3

SLOW = settings(deadline=None, max_examples=60)
ANGLES = st.floats(-6.0, 6.0, allow_subnormal=False)


def mixed_arm() -> iparam.Robot:
    """Revolute and prismatic joints about axes that are not z, with a fixed joint between."""
    rng = np.random.default_rng(5)

    def origin() -> np.ndarray:
        q, r = np.linalg.qr(rng.normal(size=(3, 3)))
        rotation = q * np.sign(np.diag(r))
        transform = np.eye(4)
        transform[:3, :3] = rotation * np.linalg.det(rotation)
        transform[:3, 3] = rng.uniform(-0.4, 0.4, 3)
        return transform

    def body() -> iparam.InertialParameters:
        box = iparam.InertialParameters.box(rng.uniform(0.5, 3.0), rng.uniform(0.05, 0.3, 3))
        return box.transformed(origin())

    kinds = ["revolute", "prismatic", "fixed", "revolute", "revolute", "prismatic"]
    joints = [
        iparam.Joint(f"j{i}", kind, f"l{i}", f"l{i + 1}", origin(), rng.normal(size=3)) for i, kind in enumerate(kinds)
    ]
    links = [iparam.Link("l0"), *(iparam.Link(f"l{i + 1}", body()) for i in range(len(kinds)))]
    return iparam.Robot(
        "mixed", tuple(joints), tuple(links), iparam.JointLimits.unlimited(5), "l6", rng.uniform(0, 1, 5)
    )


ROBOTS = [iparam.load_robot("ur5e"), mixed_arm()]


@st.composite
def states(draw: st.DrawFn, parts: int = 3):
    robot = draw(st.sampled_from(ROBOTS))
    return (robot, *(draw(arrays(float, robot.num_joints, elements=ANGLES)) for _ in range(parts)))


@SLOW
@given(states())
def test_torques_are_inertial_plus_coriolis_plus_gravity(state) -> None:
    robot, q, dq, ddq = state
    total = iparam.inverse_dynamics(robot, q, dq, ddq)
    parts = (
        iparam.mass_matrix(robot, q) @ ddq
        + iparam.coriolis_centrifugal(robot, q, dq)
        + iparam.gravity_torques(robot, q)
    )
    np.testing.assert_allclose(total, parts, atol=1e-10 * (1.0 + np.abs(total).max()))


@SLOW
@given(states())
def test_forward_dynamics_undoes_inverse_dynamics(state) -> None:
    robot, q, dq, ddq = state
    torques = iparam.inverse_dynamics(robot, q, dq, ddq)
    condition = np.linalg.cond(iparam.mass_matrix(robot, q))
    again = iparam.forward_dynamics(robot, q, dq, torques)
    np.testing.assert_allclose(again, ddq, atol=1e-15 * condition * (1.0 + np.abs(torques).max()))


@SLOW
@given(states(1))
def test_mass_matrix_is_symmetric_positive_definite(state) -> None:
    robot, q = state
    matrix = iparam.mass_matrix(robot, q)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0.0


@SLOW
@given(states(2))
def test_kinetic_energy_is_that_of_the_links(state) -> None:
    robot, q, dq = state
    bare = robot.with_armature(0.0)
    motion = iparam.forward_pass(bare, q, dq, np.zeros_like(q), gravity=(0, 0, 0))
    energy = sum(
        0.5 * twist @ iparam.InertialParameters.from_phi(phi).spatial_inertia @ twist
        for twist, phi in zip(motion.twists, bare.body_parameters, strict=True)
    )
    assert 0.5 * dq @ iparam.mass_matrix(bare, q) @ dq == pytest.approx(energy, rel=1e-10, abs=1e-12)


@SLOW
@given(states(2))
def test_coriolis_torques_do_the_work_that_the_changing_mass_matrix_stores(state) -> None:
    # d/dt (dq' M dq / 2) = dq' (tau - g) with ddq = 0 gives dq' c = dq' M_dot dq / 2.
    robot, q, dq = state
    h = 1e-6
    change = (iparam.mass_matrix(robot, q + h * dq) - iparam.mass_matrix(robot, q - h * dq)) / (2 * h)
    stored = 0.5 * dq @ change @ dq
    size = 1.0 + float(np.abs(dq).max()) ** 3
    assert dq @ iparam.coriolis_centrifugal(robot, q, dq) == pytest.approx(stored, abs=1e-6 * size)


@SLOW
@given(states(1))
def test_gravity_torques_are_the_slope_of_the_potential_energy(state) -> None:
    robot, q = state

    def potential(position: np.ndarray) -> float:
        poses = iparam.forward_pass(robot, position, np.zeros_like(q), np.zeros_like(q)).poses
        return sum(
            9.81 * (phi[0] * pose[2, 3] + pose[2, :3] @ phi[1:4])
            for pose, phi in zip(poses, robot.body_parameters, strict=True)
        )

    h = 1e-6
    slope = [(potential(q + h * e) - potential(q - h * e)) / (2 * h) for e in np.eye(len(q))]
    np.testing.assert_allclose(iparam.gravity_torques(robot, q), slope, atol=1e-6)


@SLOW
@given(states(1))
def test_jacobian_is_the_derivative_of_the_pose(state) -> None:
    robot, q = state
    jacobian, pose = iparam.jacobian(robot, q), iparam.forward_kinematics(robot, q)
    h = 1e-5
    for i, e in enumerate(np.eye(len(q))):
        ahead, behind = iparam.forward_kinematics(robot, q + h * e), iparam.forward_kinematics(robot, q - h * e)
        column = (log_se3(np.linalg.inv(pose) @ ahead) - log_se3(np.linalg.inv(pose) @ behind)) / (2 * h)
        np.testing.assert_allclose(jacobian[:, i], column, atol=1e-8)


@SLOW
@given(states(2))
def test_jacobian_derivative_is_its_change_along_the_motion(state) -> None:
    robot, q, dq = state
    h = 1e-6
    for frame in ("tool", "base"):
        change = (iparam.jacobian(robot, q + h * dq, frame) - iparam.jacobian(robot, q - h * dq, frame)) / (2 * h)
        scale = 1.0 + float(np.abs(dq).max()) ** 3
        np.testing.assert_allclose(iparam.jacobian_derivative(robot, q, dq, frame), change, atol=1e-8 * scale)


@SLOW
@given(states())
def test_tool_motion_is_the_jacobian_times_the_joint_motion(state) -> None:
    robot, q, dq, ddq = state
    motion = iparam.tool_motion(robot, q, dq, ddq).in_base()
    velocity = iparam.jacobian(robot, q, "base") @ dq
    acceleration = iparam.jacobian(robot, q, "base") @ ddq + iparam.jacobian_derivative(robot, q, dq, "base") @ dq
    np.testing.assert_allclose(np.r_[motion.angular_velocity, motion.linear_velocity], velocity, atol=1e-12)
    np.testing.assert_allclose(np.r_[motion.angular_acceleration, motion.linear_acceleration], acceleration, atol=1e-11)
    back = motion.in_tool()
    np.testing.assert_allclose(
        back.linear_acceleration, iparam.tool_motion(robot, q, dq, ddq).linear_acceleration, atol=1e-12
    )


@SLOW
@given(states(), arrays(float, 3, elements=st.floats(-0.3, 0.3)))
def test_wrench_regressor_gives_the_newton_euler_wrench_of_a_payload(state, offset: np.ndarray) -> None:
    robot, q, dq, ddq = state
    pose = np.eye(4)
    pose[:3, 3] = offset
    payload = iparam.InertialParameters.box(2.0, [0.1, 0.15, 0.2]).transformed(pose)
    wrench = iparam.wrench_regressor(robot, q, dq, ddq) @ payload.phi
    force, torque = wrench[:3], wrench[3:]
    # Newton and Euler about the centre of mass, from the tool's motion, then moved to the tool's origin.
    motion = iparam.tool_motion(robot, q, dq, ddq)
    w, alpha, c = motion.angular_velocity, motion.angular_acceleration, payload.center_of_mass
    gravity = motion.pose[:3, :3].T @ [0.0, 0.0, -9.81]
    center_acceleration = motion.linear_acceleration + np.cross(alpha, c) + np.cross(w, np.cross(w, c))
    inertia = payload.inertia_about_com
    newton = payload.mass * (center_acceleration - gravity)
    euler = inertia @ alpha + np.cross(w, inertia @ w) + np.cross(c, newton)
    scale = 1.0 + np.abs(wrench).max()
    np.testing.assert_allclose(force, newton, atol=1e-12 * scale)
    np.testing.assert_allclose(torque, euler, atol=1e-12 * scale)
    # The arm feels the payload as a wrench at its tip, and as a heavier last link.
    carried = iparam.inverse_dynamics(robot, q, dq, ddq, tip_wrench=np.r_[torque, force])
    heavier = iparam.inverse_dynamics(robot.with_payload(payload), q, dq, ddq)
    np.testing.assert_allclose(carried, heavier, atol=1e-11 * (1.0 + np.abs(heavier).max()))


@SLOW
@given(states())
def test_joint_torque_regressor_times_the_parameters_are_the_torques(state) -> None:
    robot, q, dq, ddq = state
    bare = robot.with_armature(0.0)
    torques = iparam.inverse_dynamics(bare, q, dq, ddq)
    ours = iparam.joint_torque_regressor(bare, q, dq, ddq) @ bare.body_parameters.ravel()
    np.testing.assert_allclose(ours, torques, atol=1e-12 * (1.0 + np.abs(torques).max()))


@SLOW
@given(states())
def test_wrench_regressor_derivatives_against_central_differences(state) -> None:
    robot, q, dq, ddq = state
    result = iparam.wrench_regressor_derivatives(robot, q, dq, ddq)
    np.testing.assert_allclose(result.regressor, iparam.wrench_regressor(robot, q, dq, ddq), atol=1e-11)
    h = 1e-5
    for which, exact in enumerate((result.by_q, result.by_dq, result.by_ddq)):
        for i in range(robot.num_joints):
            ahead, behind = [q.copy(), dq.copy(), ddq.copy()], [q.copy(), dq.copy(), ddq.copy()]
            ahead[which][i] += h
            behind[which][i] -= h
            change = (iparam.wrench_regressor(robot, *ahead) - iparam.wrench_regressor(robot, *behind)) / (2 * h)
            scale = 1.0 + float(np.abs(dq).max()) ** 2 + float(np.abs(ddq).max())
            np.testing.assert_allclose(exact[i], change, atol=1e-7 * scale)


@SLOW
@given(states(1))
def test_turning_gravity_with_the_base_changes_nothing(state) -> None:
    robot, q = state
    # An arm whose base hangs upside down is the same arm under gravity that points to its ceiling.
    flip = np.diag([1.0, -1.0, -1.0, 1.0])
    first = robot.joints[0]
    hung = iparam.Robot(
        robot.name,
        (iparam.Joint("hang", "fixed", "ceiling", first.parent, flip), *robot.joints),
        (iparam.Link("ceiling"), *robot.links),
        robot.limits,
        robot.tool_frame,
        robot.armature,
    )
    np.testing.assert_allclose(
        iparam.gravity_torques(hung, q), iparam.gravity_torques(robot, q, gravity=(0, 0, 9.81)), atol=1e-11
    )


@SLOW
@given(states())
def test_newton_euler_links_obey_the_lynch_park_recursion(state) -> None:
    robot, q, dq, ddq = state
    result = iparam.newton_euler(robot, q, dq, ddq)
    poses, twists, accelerations = result.motion.poses, result.motion.twists, result.motion.accelerations
    for i in range(1, robot.num_joints):
        carry = adjoint(np.linalg.inv(poses[i]) @ poses[i - 1])
        relative = twists[i] - carry @ twists[i - 1]
        axis = robot.moving_joints[i].axis
        screw = np.r_[axis, 0, 0, 0] if robot.moving_joints[i].kind == "revolute" else np.r_[0, 0, 0, axis]
        np.testing.assert_allclose(relative, screw * dq[i], atol=1e-11)
        carried = adjoint(np.linalg.inv(poses[i]) @ poses[i - 1]) @ accelerations[i - 1]
        bracket = np.r_[
            np.cross(twists[i][:3], screw[:3]),
            np.cross(twists[i][:3], screw[3:]) + np.cross(twists[i][3:], screw[:3]),
        ]
        np.testing.assert_allclose(accelerations[i], carried + bracket * dq[i] + screw * ddq[i], atol=1e-10)

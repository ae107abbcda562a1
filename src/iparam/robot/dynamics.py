"""Rigid-body dynamics of a serial arm by the Newton-Euler recursion (Lynch & Park 2017, chapter 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.native import rigid_body as native
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector, joint_batch, run_batched, tip_batch
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot


@dataclass(frozen=True, eq=False)
class LinkMotion:
    """Result of the forward pass: the motion of the n moving links, each in its own frame.

    Gravity is in the accelerations as an upward acceleration of the base, V_dot_0 = (0, -g).

    Attributes:
        q, ddq: (..., n) the joint positions and accelerations it belongs to.
        poses: (..., n, 4, 4) T_base_link [m].
        twists: (..., n, 6) [omega, v] [rad/s, m/s].
        accelerations: (..., n, 6) [alpha, v_dot], the derivative of the twist's components [rad/s^2, m/s^2].
    """

    q: FloatArray
    ddq: FloatArray
    poses: FloatArray
    twists: FloatArray
    accelerations: FloatArray


@dataclass(frozen=True, eq=False)
class NewtonEulerResult:
    """The whole result of the recursion.

    Attributes:
        torques: (..., n) joint torques or forces [N m or N].
        motion: of every link.
        wrenches: (..., n, 6) [moment, force] that each link receives through its joint, in the link's frame about its
            origin [N m, N].
    """

    torques: FloatArray
    motion: LinkMotion
    wrenches: FloatArray


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    dq: ArrayLike,
    ddq: ArrayLike,
    gravity: ArrayLike = STANDARD_GRAVITY,
    tip_wrench: ArrayLike | None = None,
) -> FloatArray:
    """Joint torques that bring about a motion: tau = M(q) ddq + c(q, dq) + g(q) + J^T F_tip.

    Args:
        robot: the arm; its rotor inertias (``armature``) count.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations.
        gravity: (3,) in base axes [m/s^2]; turn it for an arm that hangs from a wall or ceiling.
        tip_wrench: (..., 6) [moment, force] that the tool exerts ON its environment, in tool axes about the tool's
            origin [N m, N]; None for a free tool.

    Returns:
        (..., n) [N m or N].
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    chain = robot.chain
    torques = batch.empty(robot.num_joints)
    constants = (chain.address, gravity_vector(gravity))
    run_batched(native.inverse_dynamics, constants, (*batch.arrays, tip_batch(batch, tip_wrench), torques), batch.size)
    return batch.unflatten(torques)


def newton_euler(
    robot: Robot,
    q: ArrayLike,
    dq: ArrayLike,
    ddq: ArrayLike,
    gravity: ArrayLike = STANDARD_GRAVITY,
    tip_wrench: ArrayLike | None = None,
) -> NewtonEulerResult:
    """Torques as :func:`inverse_dynamics`, with the twist, acceleration and wrench of every link.

    The recursion of Newton and Euler in full: :func:`forward_pass`, then :func:`backward_pass`.

    Args:
        robot: the arm; its rotor inertias (``armature``) count.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations [rad, rad/s, rad/s^2; m for sliding ones].
        gravity: (3,) in base axes [m/s^2].
        tip_wrench: (..., 6) [moment, force] that the tool exerts ON its environment, in tool axes about the tool's
            origin [N m, N]; None for a free tool.

    Returns:
        The torques (..., n), the motion of every link, and the wrench (..., n, 6) through every joint.
    """
    return backward_pass(robot, forward_pass(robot, q, dq, ddq, gravity), tip_wrench)


def forward_pass(
    robot: Robot, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, gravity: ArrayLike = STANDARD_GRAVITY
) -> LinkMotion:
    """The outward half of the recursion: pose, twist and acceleration of every link, from the base to the tool.

    Args:
        robot: the arm.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations [rad, rad/s, rad/s^2; m for sliding ones].
        gravity: (3,) in base axes [m/s^2]; it is in the accelerations, as one of the base upwards.

    Returns:
        Of n links: poses (..., n, 4, 4) in the base; twists and accelerations (..., n, 6), each in its own frame.
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    chain, count = robot.chain, robot.num_joints
    outputs = (batch.empty(count, 4, 4), batch.empty(count, 6), batch.empty(count, 6))
    constants = (chain.address, gravity_vector(gravity))
    run_batched(native.forward_pass, constants, (*batch.arrays, *outputs), batch.size)
    positions, _, joint_accelerations = (batch.unflatten(array) for array in batch.arrays)
    return LinkMotion(positions, joint_accelerations, *(batch.unflatten(output) for output in outputs))


def backward_pass(robot: Robot, motion: LinkMotion, tip_wrench: ArrayLike | None = None) -> NewtonEulerResult:
    """The inward half of the recursion: wrench through every joint, and the joint torques.

    Args:
        robot: the arm the motion belongs to.
        motion: from :func:`forward_pass`.
        tip_wrench: as in :func:`inverse_dynamics`.
    """
    batch = joint_batch(robot, q=motion.q, ddq=motion.ddq)
    chain, count = robot.chain, robot.num_joints
    tip_poses = forward_kinematics(robot, motion.q).reshape(-1, 4, 4)
    links = [
        as_float_array(array, name, (count, *trailing)).reshape(-1, count, *trailing)
        for name, array, trailing in (
            ("motion.poses", motion.poses, (4, 4)),
            ("motion.twists", motion.twists, (6,)),
            ("motion.accelerations", motion.accelerations, (6,)),
        )
    ]
    if any(array.shape[0] != batch.size for array in links):
        raise InputError("the arrays of the motion belong to different numbers of samples; use one forward_pass")
    wrenches, torques = batch.empty(count, 6), batch.empty(count)
    batches = (tip_poses, *links, tip_batch(batch, tip_wrench), wrenches, torques)
    run_batched(native.backward_pass, (chain.address,), batches, batch.size)
    torques += chain.armature * batch.arrays[1]
    return NewtonEulerResult(batch.unflatten(torques), motion, batch.unflatten(wrenches))


def mass_matrix(robot: Robot, q: ArrayLike) -> FloatArray:
    """Joint-space mass matrix M(q) (..., n, n) [kg m^2, kg m or kg], rotor inertias on its diagonal included."""
    batch = joint_batch(robot, q=q)
    chain = robot.chain
    matrices = batch.empty(robot.num_joints, robot.num_joints)
    run_batched(native.mass_matrix, (chain.address,), (*batch.arrays, matrices), batch.size)
    return batch.unflatten(matrices)


def gravity_torques(robot: Robot, q: ArrayLike, gravity: ArrayLike = STANDARD_GRAVITY) -> FloatArray:
    """Joint torques g(q) that hold the arm still against gravity.

    Args:
        robot: the arm.
        q: (..., n) joint positions [rad; m for prismatic joints].
        gravity: (3,) in base axes [m/s^2].

    Returns:
        (..., n) [N m or N].
    """
    still = np.zeros(robot.num_joints)
    return inverse_dynamics(robot, q, still, still, gravity)


def coriolis_centrifugal(robot: Robot, q: ArrayLike, dq: ArrayLike) -> FloatArray:
    """Joint torques c(q, dq) of the Coriolis and centrifugal effects.

    Args:
        robot: the arm.
        q, dq: (..., n) joint positions and velocities [rad, rad/s; m for prismatic joints].

    Returns:
        (..., n) [N m or N].
    """
    return inverse_dynamics(robot, q, dq, np.zeros(robot.num_joints), gravity=(0.0, 0.0, 0.0))


def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    dq: ArrayLike,
    torques: ArrayLike,
    gravity: ArrayLike = STANDARD_GRAVITY,
    tip_wrench: ArrayLike | None = None,
) -> FloatArray:
    """Joint accelerations (..., n) that follow from joint torques: M^-1 (tau - c - g - J^T F_tip).

    Args:
        robot: the arm.
        q, dq: (..., n) joint positions and velocities.
        torques: (..., n) [N m or N].
        gravity, tip_wrench: as in :func:`inverse_dynamics`.
    """
    batch = joint_batch(robot, q=q, dq=dq, torques=torques)
    positions, velocities, efforts = (batch.unflatten(array) for array in batch.arrays)
    bias = inverse_dynamics(robot, positions, velocities, np.zeros(robot.num_joints), gravity, tip_wrench)
    try:
        solution = np.linalg.solve(mass_matrix(robot, positions), (efforts - bias)[..., None])
    except np.linalg.LinAlgError:
        raise InputError(
            f"the mass matrix of {robot.name!r} is singular: a moving link has no inertia about its joint; "
            "give it one, or a rotor inertia with robot.with_armature(...)"
        ) from None
    return np.asarray(solution[..., 0], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class InverseDynamicsDerivatives:
    """The joint torques and their exact derivatives; entry [i, j] is that of torque i by joint j.

    Attributes:
        torques: (..., n) tau [N m or N].
        by_q: (..., n, n) d tau_i / d q_j.
        by_dq: (..., n, n) d tau_i / d dq_j.
        by_ddq: (..., n, n) d tau_i / d ddq_j: the mass matrix, rotor inertias on its diagonal included.
    """

    torques: FloatArray
    by_q: FloatArray
    by_dq: FloatArray
    by_ddq: FloatArray


def inverse_dynamics_derivatives(
    robot: Robot,
    q: ArrayLike,
    dq: ArrayLike,
    ddq: ArrayLike,
    gravity: ArrayLike = STANDARD_GRAVITY,
    tip_wrench: ArrayLike | None = None,
) -> InverseDynamicsDerivatives:
    """Torques as :func:`iparam.inverse_dynamics`, with their derivatives by joint positions, velocities, accelerations.

    Args:
        robot: the arm; its rotor inertias (``armature``) count.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations [rad or m, per s, per s^2].
        gravity: (3,) in base axes [m/s^2].
        tip_wrench: (..., 6) [moment, force] that the tool exerts ON its environment, in tool axes about the tool's
            origin [N m, N]; it turns with the tool. None for a free tool.
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    chain, count = robot.chain, robot.num_joints
    outputs = (batch.empty(count), *(batch.empty(count, count) for _ in range(3)))
    constants = (chain.address, gravity_vector(gravity))
    batches = (*batch.arrays, tip_batch(batch, tip_wrench), *outputs)
    run_batched(native.inverse_dynamics_derivatives, constants, batches, batch.size)
    return InverseDynamicsDerivatives(*(batch.unflatten(output) for output in outputs))

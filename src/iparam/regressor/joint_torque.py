"""The joint-torque regressor of the arm itself: its torques are Y times the inertial parameters of its links."""

from __future__ import annotations

from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.regressor.kernels import joint_torque as kernels
from iparam.robot.batching import run_batched
from iparam.robot.model import Robot
from iparam.robot.motion_input import STANDARD_GRAVITY, gravity_vector, joint_batch


def joint_torque_regressor(
    robot: Robot, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, gravity: ArrayLike = STANDARD_GRAVITY
) -> FloatArray:
    """The matrix Y of tau = Y phi, phi stacking the ten parameters of the n moving bodies from the base.

    ``robot.body_parameters.ravel()`` is that stack for the robot's own figures. Each body's parameters are in the frame
    of the link behind its joint, about that frame's origin. Rotor inertia and friction are not in it.

    Args:
        robot: the arm.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations.
        gravity: (3,) in base axes [m/s^2].

    Returns:
        (..., n, 10 n).
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    chain, count = robot.chain, robot.num_joints
    matrices = batch.empty(count, 10 * count)
    constants = (chain.origins, chain.prismatic, chain.link_turns, gravity_vector(gravity))
    run_batched(kernels.joint_torque_regressor, constants, (*batch.arrays, matrices), batch.size)
    return batch.unflatten(matrices)

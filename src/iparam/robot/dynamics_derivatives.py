"""How the joint torques change with the motion: exact derivatives of the inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.robot.batching import run_batched
from iparam.robot.kernels import dynamics_derivatives as kernels
from iparam.robot.model import Robot
from iparam.robot.motion_input import STANDARD_GRAVITY, gravity_vector, joint_batch, tip_batch


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
    constants = (chain.origins, chain.prismatic, chain.tool, chain.phi, chain.armature, gravity_vector(gravity))
    batches = (*batch.arrays, tip_batch(batch, tip_wrench), *outputs)
    run_batched(kernels.inverse_dynamics_derivatives, constants, batches, batch.size)
    return InverseDynamicsDerivatives(*(batch.unflatten(output) for output in outputs))

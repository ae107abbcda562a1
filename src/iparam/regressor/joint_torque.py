"""The joint-torque regressor of the arm itself: its torques are Y times the inertial parameters of its links."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from iparam.arrays import FloatArray
from iparam.native import regressors as native
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector, joint_batch, run_batched
from iparam.robot.model import Robot


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
    count = robot.num_joints
    matrices = batch.empty(count, 10 * count)
    constants = (robot.chain.address, gravity_vector(gravity))
    run_batched(native.joint_torque_regressor, constants, (*batch.arrays, matrices), batch.size)
    return batch.unflatten(matrices)


@dataclass(frozen=True, eq=False)
class JointTorqueRegressorDerivatives:
    """The joint-torque regressor Y and its exact derivatives; index j of the derivatives is the joint.

    Attributes:
        regressor: (..., n, 10 n) Y.
        by_q: (..., n, n, 10 n) dY/dq_j.
        by_dq: (..., n, n, 10 n) dY/d(dq_j).
        by_ddq: (..., n, n, 10 n) dY/d(ddq_j).
    """

    regressor: FloatArray
    by_q: FloatArray
    by_dq: FloatArray
    by_ddq: FloatArray


def joint_torque_regressor_derivatives(
    robot: Robot, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, gravity: ArrayLike = STANDARD_GRAVITY
) -> JointTorqueRegressorDerivatives:
    """:func:`iparam.joint_torque_regressor` with its derivatives by joint positions, velocities and accelerations.

    Args:
        robot: the arm.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations [rad or m, per s, per s^2].
        gravity: (3,) in base axes [m/s^2].
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    count = robot.num_joints
    matrices, changes = batch.empty(count, 10 * count), batch.empty(3, count, count, 10 * count)
    constants = (robot.chain.address, gravity_vector(gravity))
    run_batched(native.joint_torque_regressor_derivatives, constants, (*batch.arrays, matrices, changes), batch.size)
    by_order = (batch.unflatten(changes)[..., order, :, :, :] for order in range(3))
    return JointTorqueRegressorDerivatives(batch.unflatten(matrices), *by_order)

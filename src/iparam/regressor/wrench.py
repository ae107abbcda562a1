"""The wrench regressor of a payload: what a wrist force/torque sensor at the tool reads is A phi."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array, kernel_input
from iparam.errors import InputError
from iparam.native import regressors as native
from iparam.robot.batching import STANDARD_GRAVITY, gravity_vector, joint_batch, run_batched
from iparam.robot.model import Robot


@dataclass(frozen=True, eq=False)
class WrenchRegressorDerivatives:
    """The wrench regressor A and its exact derivatives; index i of the derivatives is the joint.

    Attributes:
        regressor: (..., 6, 10) A.
        by_q: (..., n, 6, 10) dA/dq_i.
        by_dq: (..., n, 6, 10) dA/d(dq_i).
        by_ddq: (..., n, 6, 10) dA/d(ddq_i).
    """

    regressor: FloatArray
    by_q: FloatArray
    by_dq: FloatArray
    by_ddq: FloatArray


def wrench_regressor(
    robot: Robot, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, gravity: ArrayLike = STANDARD_GRAVITY
) -> FloatArray:
    """The matrix A of y = A phi for a payload fixed to the tool frame.

    y = [force (3), torque (3)] is what the robot exerts ON the payload, in tool axes about the tool's origin [N, N m];
    at rest the force is m * 9.81 upward. phi = [m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz], the inertia about
    the tool's origin.

    Args:
        robot: the arm.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations.
        gravity: (3,) in base axes [m/s^2].

    Returns:
        (..., 6, 10).
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    matrices = batch.empty(6, 10)
    run_batched(native.wrench_regressor, _constants(robot, gravity), (*batch.arrays, matrices), batch.size)
    return batch.unflatten(matrices)


def body_regressor(
    angular_velocity: ArrayLike, angular_acceleration: ArrayLike, acceleration_minus_gravity: ArrayLike
) -> FloatArray:
    """The same matrix (N, 6, 10) from the motion of the sensor's frame itself, whatever carries it.

    Args:
        angular_velocity, angular_acceleration: (N, 3) in the sensor's axes [rad/s, rad/s^2].
        acceleration_minus_gravity: (N, 3) of the frame's origin, in its axes [m/s^2]: what an accelerometer there
            measures; at rest 9.81 upwards.
    """
    given = {
        "angular_velocity": angular_velocity,
        "angular_acceleration": angular_acceleration,
        "acceleration_minus_gravity": acceleration_minus_gravity,
    }
    parts = [as_float_array(value, name, (3,)) for name, value in given.items()]
    if any(part.ndim != 2 or part.shape != parts[0].shape for part in parts):
        raise InputError(f"the motion of a frame must be three arrays (N, 3), got {[part.shape for part in parts]}")
    matrices = np.empty((len(parts[0]), 6, 10))
    omega, alpha, acceleration = (kernel_input(part) for part in parts)
    native.body_regressor(omega, alpha, acceleration, matrices)
    return matrices


def wrench_regressor_derivatives(
    robot: Robot, q: ArrayLike, dq: ArrayLike, ddq: ArrayLike, gravity: ArrayLike = STANDARD_GRAVITY
) -> WrenchRegressorDerivatives:
    """:func:`wrench_regressor` with its analytic derivatives by joint positions, velocities and accelerations.

    Args:
        robot: the arm.
        q, dq, ddq: (..., n) joint positions, velocities and accelerations [rad, rad/s, rad/s^2; m for sliding ones].
        gravity: (3,) in base axes [m/s^2].

    Returns:
        The regressor (..., 6, 10), and its derivatives (..., n, 6, 10) by each joint's q, dq and ddq.
    """
    batch = joint_batch(robot, q=q, dq=dq, ddq=ddq)
    outputs = (batch.empty(6, 10), *(batch.empty(robot.num_joints, 6, 10) for _ in range(3)))
    run_batched(native.wrench_regressor_derivatives, _constants(robot, gravity), (*batch.arrays, *outputs), batch.size)
    return WrenchRegressorDerivatives(*(batch.unflatten(output) for output in outputs))


def _constants(robot: Robot, gravity: ArrayLike) -> tuple[int, FloatArray]:
    return (robot.chain.address, gravity_vector(gravity))

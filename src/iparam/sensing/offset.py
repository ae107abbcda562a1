"""The sensor's offset: one that was zeroed with the load on it, and the bias as six more unknowns.

A wrist sensor shows y + b with a bias b that changes from day to day. Two ways to deal with it:

- Zero the sensor while the load hangs on it at rest in a known pose (Kubus et al. 2008, Eq. 7 to 9). From then on it
  shows y - y_init, and since y_init = A_init phi for the same load, that is (A - A_init) phi: the load can be estimated
  from the zeroed signal, with `offset_compensated_regressor`.
- Leave the bias in and estimate it along with phi: y = A phi + b is linear in both, with an identity beside every A.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import Robot


def offset_compensated_regressor(A: ArrayLike, A_init: ArrayLike) -> FloatArray:
    """The regressor of a sensor that was zeroed with the load on it: y_zeroed = (A - A_init) phi.

    The sign: A_init is the ordinary regressor of the arm at rest in the pose of zeroing (`resting_regressor`), and it
    is subtracted. Kubus et al. write A + A_ginit: their A_ginit holds the gravity vector itself where the regressor of
    an arm at rest holds a - g = -g, so A_ginit = -A_init and the sum is the same matrix. `gravity_offset_matrix` is
    theirs.

    Args:
        A: (..., 6, 10) regressors of the motion, or stacked (6 N, 10).
        A_init: (6, 10) regressor at rest, in the pose in which the sensor was zeroed.

    Returns:
        As ``A``.
    """
    matrices, resting = as_float_array(A, "A", (10,)), as_float_array(A_init, "A_init", (6, 10))
    if resting.shape != (6, 10):
        raise InputError(f"A_init must be one matrix (6, 10), got {resting.shape}")
    if matrices.ndim < 2 or matrices.shape[-2] % 6 or (matrices.ndim > 2 and matrices.shape[-2] != 6):
        raise InputError(f"A must have shape (..., 6, 10) or (6 N, 10), got {matrices.shape}")
    return (matrices.reshape(-1, 6, 10) - resting).reshape(matrices.shape)


def resting_regressor(robot: Robot, q_init: ArrayLike, gravity: ArrayLike = STANDARD_GRAVITY) -> FloatArray:
    """The wrench regressor (6, 10) of the arm at rest at q_init (n,), with gravity (3,) in base axes [m/s^2]."""
    from iparam.regressor.wrench import wrench_regressor

    rest = np.zeros(robot.num_joints)
    return wrench_regressor(robot, q_init, rest, rest, gravity)


def gravity_offset_matrix(gravity_in_tool: ArrayLike) -> FloatArray:
    """A_ginit (6, 10) of Kubus et al. (Eq. 7): minus the regressor at rest, from gravity (3,) in tool axes [m/s^2].

    Add it to the regressor where the paper does.
    """
    g = as_float_array(gravity_in_tool, "gravity_in_tool", (3,))
    if g.shape != (3,):
        raise InputError(argument="gravity_in_tool", value=g.shape, expected="one vector (3,)")
    matrix = np.zeros((6, 10))
    matrix[:3, 0] = g
    # At rest the torque is h x (-g) = g x h; its negative is -[g]x h.
    matrix[3:, 1:4] = [[0.0, g[2], -g[1]], [-g[2], 0.0, g[0]], [g[1], -g[0], 0.0]]
    return matrix

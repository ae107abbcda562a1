"""Kernels of kinematics and dynamics. Arrays are float64, contiguous and writable; outputs come last.

``chain`` is the address of `Chain.packed` of a robot with n joints, N is the number of samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.native.library import array, count, kernel, pointer

_tool_motion = kernel("tool_motion", count, count, *[array] * 9)
_frame_poses = kernel("frame_poses", count, count, array, count, *[array] * 4)
_jacobian = kernel("jacobian", count, count, array, count, *[array] * 4)
_inverse_dynamics = kernel("inverse_dynamics", count, count, *[array] * 7)
_inverse_dynamics_derivatives = kernel("inverse_dynamics_derivatives", count, count, *[array] * 10)
_forward_pass = kernel("forward_pass", count, count, *[array] * 8)
_backward_pass = kernel("backward_pass", count, count, *[array] * 8)
_mass_matrix = kernel("mass_matrix", count, count, *[array] * 3)


def tool_motion(
    chain: int,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    pose: FloatArray,
    v: FloatArray,
    omega: FloatArray,
    a: FloatArray,
    alpha: FloatArray,
) -> None:
    """Pose (N, 4, 4) and, in tool axes, linear and angular velocity and acceleration (N, 3) of the tool frame."""
    outputs = pointer(pose), pointer(v), pointer(omega), pointer(a), pointer(alpha)
    _tool_motion(*q.shape, chain, pointer(q), pointer(dq), pointer(ddq), *outputs)


def frame_poses(chain: int, bodies: NDArray[np.int64], offsets: FloatArray, q: FloatArray, poses: FloatArray) -> None:
    """Poses (N, F, 4, 4) of frames with offsets (F, 12) from the bodies (F,) that they are fixed to."""
    _frame_poses(*q.shape, chain, len(bodies), pointer(bodies), pointer(offsets), pointer(q), pointer(poses))


def jacobian(chain: int, in_tool: bool, q: FloatArray, dq: FloatArray, jac: FloatArray, djac: FloatArray) -> None:
    """Jacobian (N, 6, n), rows [omega, v] of the tool origin, and its time derivative, in base or tool axes."""
    _jacobian(*q.shape, chain, in_tool, pointer(q), pointer(dq), pointer(jac), pointer(djac))


def inverse_dynamics(
    chain: int,
    gravity: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    tip: FloatArray | None,
    tau: FloatArray,
) -> None:
    """Joint torques (N, n) for a motion, the tool exerting ``tip`` (N, 6) [moment, force] on the environment."""
    load = None if tip is None else pointer(tip)
    _inverse_dynamics(*q.shape, chain, pointer(gravity), pointer(q), pointer(dq), pointer(ddq), load, pointer(tau))


def inverse_dynamics_derivatives(
    chain: int,
    gravity: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    tip: FloatArray | None,
    tau: FloatArray,
    by_q: FloatArray,
    by_dq: FloatArray,
    by_ddq: FloatArray,
) -> None:
    """Joint torques (N, n) and their derivatives (N, n, n), [i, k] being that of torque i by joint k."""
    inputs = pointer(gravity), pointer(q), pointer(dq), pointer(ddq), None if tip is None else pointer(tip)
    outputs = pointer(tau), pointer(by_q), pointer(by_dq), pointer(by_ddq)
    _inverse_dynamics_derivatives(*q.shape, chain, *inputs, *outputs)


def forward_pass(
    chain: int,
    gravity: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accelerations: FloatArray,
) -> None:
    """Pose (N, n, 4, 4), twist and spatial acceleration (N, n, 6) [omega, v] of every link, in its own frame."""
    inputs = pointer(gravity), pointer(q), pointer(dq), pointer(ddq)
    _forward_pass(*q.shape, chain, *inputs, pointer(poses), pointer(twists), pointer(accelerations))


def backward_pass(
    chain: int,
    tip_pose: FloatArray,
    poses: FloatArray,
    twists: FloatArray,
    accelerations: FloatArray,
    tip: FloatArray | None,
    wrenches: FloatArray,
    tau: FloatArray,
) -> None:
    """Wrench (N, n, 6) [moment, force] on every link through its joint, in its frame, and joint torques (N, n)."""
    inputs = pointer(tip_pose), pointer(poses), pointer(twists), pointer(accelerations)
    load = None if tip is None else pointer(tip)
    _backward_pass(*tau.shape, chain, *inputs, load, pointer(wrenches), pointer(tau))


def mass_matrix(chain: int, q: FloatArray, out: FloatArray) -> None:
    """Joint-space mass matrix (N, n, n), rotor inertias on its diagonal included."""
    _mass_matrix(*q.shape, chain, pointer(q), pointer(out))

"""Kernels of the regressors, as those of `rigid_body`."""

from __future__ import annotations

from iparam.arrays import FloatArray
from iparam.native.library import array, count, kernel, pointer

_wrench_regressor = kernel("wrench_regressor", count, count, *[array] * 6)
_wrench_regressor_derivatives = kernel("wrench_regressor_derivatives", count, count, *[array] * 9)
_body_regressor = kernel("body_regressor", count, *[array] * 4)
_joint_torque_regressor = kernel("joint_torque_regressor", count, count, *[array] * 6)
_joint_torque_regressor_derivatives = kernel("joint_torque_regressor_derivatives", count, count, *[array] * 7)


def wrench_regressor(
    chain: int, gravity: FloatArray, q: FloatArray, dq: FloatArray, ddq: FloatArray, out: FloatArray
) -> None:
    """Regressor (N, 6, 10) of a payload on the tool: [force, torque] in tool axes about the tool's origin."""
    _wrench_regressor(*q.shape, chain, pointer(gravity), pointer(q), pointer(dq), pointer(ddq), pointer(out))


def wrench_regressor_derivatives(
    chain: int,
    gravity: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    out: FloatArray,
    by_q: FloatArray,
    by_dq: FloatArray,
    by_ddq: FloatArray,
) -> None:
    """Wrench regressor (N, 6, 10) and its derivatives (N, n, 6, 10) by each joint's q, dq and ddq."""
    inputs = pointer(gravity), pointer(q), pointer(dq), pointer(ddq)
    outputs = pointer(out), pointer(by_q), pointer(by_dq), pointer(by_ddq)
    _wrench_regressor_derivatives(*q.shape, chain, *inputs, *outputs)


def body_regressor(omega: FloatArray, alpha: FloatArray, a: FloatArray, out: FloatArray) -> None:
    """Regressor (N, 6, 10) of a body from omega, alpha and a - g (N, 3) of its frame, in its axes."""
    _body_regressor(len(omega), pointer(omega), pointer(alpha), pointer(a), pointer(out))


def joint_torque_regressor(
    chain: int, gravity: FloatArray, q: FloatArray, dq: FloatArray, ddq: FloatArray, out: FloatArray
) -> None:
    """Regressor (N, n, 10 n) of the joint torques: columns phi of each body in its link's frame, from the base."""
    _joint_torque_regressor(*q.shape, chain, pointer(gravity), pointer(q), pointer(dq), pointer(ddq), pointer(out))


def joint_torque_regressor_derivatives(
    chain: int,
    gravity: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    out: FloatArray,
    changes: FloatArray,
) -> None:
    """Joint-torque regressor (N, n, 10 n) and its derivatives (N, 3, n, n, 10 n) by each joint's q, dq and ddq."""
    inputs = pointer(gravity), pointer(q), pointer(dq), pointer(ddq)
    _joint_torque_regressor_derivatives(*q.shape, chain, *inputs, pointer(out), pointer(changes))

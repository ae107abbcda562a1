"""Kernels of the regressors, as those of `rigid_body`: gravity (3,), then q, dq, ddq (N, n)."""

from __future__ import annotations

from iparam.arrays import FloatArray
from iparam.native.library import array, chain_kernel, count, kernel

wrench_regressor = chain_kernel("wrench_regressor", *[array] * 5, sized_by=1)
"""-> regressor (N, 6, 10) of a payload on the tool: [force, torque] in tool axes about the tool's origin."""

wrench_regressor_derivatives = chain_kernel("wrench_regressor_derivatives", *[array] * 8, sized_by=1)
"""-> wrench regressor (N, 6, 10) and its derivatives (N, n, 6, 10) by each joint's q, dq and ddq."""

joint_torque_regressor = chain_kernel("joint_torque_regressor", *[array] * 5, sized_by=1)
"""-> regressor (N, n, 10 n) of the joint torques: columns phi of each body in its link's frame, from the base."""

joint_torque_regressor_derivatives = chain_kernel("joint_torque_regressor_derivatives", *[array] * 6, sized_by=1)
"""-> joint-torque regressor (N, n, 10 n) and its derivatives (N, 3, n, n, 10 n) by each joint's q, dq and ddq."""

_body_regressor = kernel("body_regressor", count, *[array] * 4)


def body_regressor(omega: FloatArray, alpha: FloatArray, a: FloatArray, out: FloatArray) -> None:
    """Regressor (N, 6, 10) of a body from omega, alpha and a - g (N, 3) of its frame, in its axes."""
    _body_regressor(len(omega), omega, alpha, a, out)

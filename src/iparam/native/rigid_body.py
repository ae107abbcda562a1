"""Kernels of kinematics and dynamics. Arrays are float64, contiguous and writable; outputs come last.

``chain`` is the address of `Chain.packed` of a robot with n joints, N is the number of samples.
"""

from __future__ import annotations

from iparam.arrays import FloatArray
from iparam.native.library import array, count, kernel, pointer

_inverse_dynamics = kernel("inverse_dynamics", count, count, *[array] * 7)


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

"""Kernels of the excitation planner, as those of `rigid_body`: gravity (3,), weights, then q, dq, ddq (N, n).

Gradients are exact; a Hessian is their forward difference, good to its step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.native.library import array, chain_kernel, count, number

wrench_curvature = chain_kernel("wrench_curvature", *[array] * 6, number, array, array, sized_by=3)
"""Gravity, S (6,), symmetric weights (10, 10), motion, step -> gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by
[q, dq, ddq] of <weights, A_k^T S A_k> for every sample.
"""

wrench_gram_changes = chain_kernel("wrench_gram_changes", *[array] * 7, sized_by=3)
"""Gravity, S (6,), D (10,), motion -> what each sample's q, dq and ddq change in D A_k^T S A_k D: (N, 3, n, 10, 10)."""

torque_curvature = chain_kernel("torque_curvature", array, count, *[array] * 7, number, array, array, sized_by=6)
"""As `wrench_curvature` of <weights, Y_k^T S Y_k>: gravity, r, independent (r,), first, S, weights (r, r), motion,
step.
"""

_torque_gram_products = chain_kernel("torque_gram_products", array, count, *[array] * 9, count, array, sized_by=6)
_BLOCK = 8  # samples whose regressors are made at a time: the widest path's lanes


def torque_gram_products(
    chain: int,
    gravity: FloatArray,
    independent: NDArray[np.int64],
    first: NDArray[np.int64],
    row_weights: FloatArray,
    scales: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    gram: FloatArray,
    change: FloatArray,
) -> None:
    """W (r, r), and what each sample's q, dq and ddq change in it: (N, 3, n, r, r)."""
    joints, size = q.shape[1], len(independent)
    work = np.empty(_BLOCK * 10 * joints**2 * (1 + 3 * joints) + 2 * joints * size)
    parts = (independent, first, row_weights, scales)
    _torque_gram_products(chain, gravity, size, *parts, q, dq, ddq, gram, change, _BLOCK, work)

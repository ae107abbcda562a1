"""Kernels of the excitation planner, as those of `rigid_body`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from iparam.arrays import FloatArray
from iparam.native.library import array, count, kernel, number, pointer

_wrench_curvature = kernel("wrench_curvature", count, count, *[array] * 7, number, array, array)
_wrench_gram_changes = kernel("wrench_gram_changes", count, count, *[array] * 8)
_torque_gram_products = kernel("torque_gram_products", count, count, array, array, count, *[array] * 9, count, array)
_torque_curvature = kernel("torque_curvature", count, count, array, array, count, *[array] * 7, number, array, array)

_BLOCK = 8  # samples whose regressors are made at a time: the widest path's lanes


def wrench_curvature(
    chain: int,
    gravity: FloatArray,
    row_weights: FloatArray,
    weights: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    step: float,
    gradient: FloatArray,
    hessian: FloatArray,
) -> None:
    """Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by [q, dq, ddq] of <weights, A_k^T S A_k> for every sample.

    ``weights`` (10, 10) is symmetric. The gradient is exact; the Hessian is its forward difference, good to ``step``.
    """
    inputs = pointer(gravity), pointer(row_weights), pointer(weights), pointer(q), pointer(dq), pointer(ddq)
    _wrench_curvature(*q.shape, chain, *inputs, step, pointer(gradient), pointer(hessian))


def wrench_gram_changes(
    chain: int,
    gravity: FloatArray,
    row_weights: FloatArray,
    scales: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    changes: FloatArray,
) -> None:
    """What each sample's q, dq and ddq change in D A_k^T S A_k D (10, 10): (N, 3, n, 10, 10).

    S is of ``row_weights`` (6,), D of ``scales`` (10,).
    """
    inputs = pointer(gravity), pointer(row_weights), pointer(scales), pointer(q), pointer(dq), pointer(ddq)
    _wrench_gram_changes(*q.shape, chain, *inputs, pointer(changes))


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
    parts = pointer(independent), pointer(first), pointer(row_weights), pointer(scales)
    motion = pointer(q), pointer(dq), pointer(ddq)
    outputs = pointer(gram), pointer(change), _BLOCK, pointer(work)
    _torque_gram_products(*q.shape, chain, pointer(gravity), size, *parts, *motion, *outputs)


def torque_curvature(
    chain: int,
    gravity: FloatArray,
    independent: NDArray[np.int64],
    first: NDArray[np.int64],
    row_weights: FloatArray,
    weights: FloatArray,
    q: FloatArray,
    dq: FloatArray,
    ddq: FloatArray,
    step: float,
    gradient: FloatArray,
    hessian: FloatArray,
) -> None:
    """Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by [q, dq, ddq] of <weights, Y_k^T S Y_k> for every sample.

    ``weights`` (r, r) is symmetric. The gradient is exact; the Hessian is its forward difference, good to ``step``.
    """
    parts = pointer(independent), pointer(first), pointer(row_weights), pointer(weights)
    motion = pointer(q), pointer(dq), pointer(ddq)
    outputs = pointer(gradient), pointer(hessian)
    _torque_curvature(*q.shape, chain, pointer(gravity), len(independent), *parts, *motion, step, *outputs)

"""Kernels of the estimators: orthogonal updates, what single samples tell, and recursions along a series.

Arrays are float64, contiguous and writable.
"""

from __future__ import annotations

import ctypes

import numpy as np

from iparam.arrays import FloatArray
from iparam.native.library import array, count, kernel

_fold_rows = kernel("fold_rows", count, count, array, array)
_solve_triangle = kernel("solve_triangle", count, array, array, returns=count)
_append_rows = kernel("append_rows", count, count, array, array, array)
_solve_total = kernel("solve_total", count, count, *[array] * 5, returns=ctypes.c_double)
_add_innovation = kernel("add_innovation", count, *[array] * 7, returns=ctypes.c_double)
_change_information = kernel("change_information", count, count, *[array] * 8)
_recursive_filter = kernel("recursive_filter", count, count, *[array] * 3)
_presliding = kernel("presliding", count, count, *[array] * 3)


def fold_rows(r: FloatArray, rows: FloatArray) -> None:
    """Fold rows (b, p) into the triangular factor r (p, p): r' r becomes r' r + rows' rows."""
    _fold_rows(*rows.shape, rows, r)


def solve_triangle(r: FloatArray) -> FloatArray | None:
    """(p,) least-squares solution of the triangular factor r (p + 1, p + 1) of [A, y]; None if it determines none."""
    solution = np.empty(len(r) - 1)
    return solution if _solve_triangle(len(solution), r, solution) else None


def append_rows(values: FloatArray, vectors: FloatArray, rows: FloatArray) -> None:
    """Update singular values (p,), descending, and right singular vectors (p, p), columns, for rows (b, p)."""
    _append_rows(*rows.shape, rows, values, vectors)


def solve_total(r: FloatArray, exact: int, noise: FloatArray, solution: FloatArray) -> float:
    """Solve the total least-squares problem of the triangle r (p + 1, p + 1), whose last column is y.

    Args:
        r: of [exact columns, A, y].
        exact: how many of the first columns have no errors.
        noise: (m, m) with m = p + 1 - exact, the Gram matrix of the errors of the others, y's included.
        solution: (p,) output.

    Returns:
        The least ratio v' T' T v / v' noise v, T the trailing block (m, m) of r; negative if there is no solution.
    """
    return float(_solve_total(len(r), exact, None, None, noise, r, solution))


def solve_total_of_svd(
    values: FloatArray, vectors: FloatArray, exact: int, noise: FloatArray, r: FloatArray, solution: FloatArray
) -> float:
    """`solve_total` of singular values (p + 1,) and right singular vectors (p + 1, p + 1), of which r is written.

    Negative also where they do not determine a solution.
    """
    return float(_solve_total(len(r), exact, values, vectors, noise, r, solution))


def add_innovation(
    whiten: FloatArray,
    A: FloatArray,
    y: FloatArray,
    parameters: FloatArray,
    covariance: FloatArray,
    score: FloatArray,
    information: FloatArray,
) -> float:
    """Add what the innovation e of one wrench sample, of covariance S, says of the parameters, by its design H.

    Args:
        whiten: (6, 6) lower triangular root of the inverse covariance of a sample.
        A: (6, 10) its regressor.
        y: (6,) its wrench.
        parameters: (p,) the estimate before it; with p = 16 the bias is in it.
        covariance: (p, p) of that estimate.
        score: (p,) to which H' S^-1 e is added.
        information: (p,) to which the diagonal of H' S^-1 H is added.

    Returns:
        Mean square of the innovation's six parts, each weighing as the others know it.
    """
    return float(_add_innovation(len(parameters), whiten, A, y, parameters, covariance, score, information))


def change_information(
    products: FloatArray,
    errors: FloatArray,
    weights: FloatArray,
    parameters: FloatArray,
    root: FloatArray,
    shape: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """What samples tell of a change of the first k of p unknowns, by ``shape`` times u, of a state that is known.

    Args:
        products: (6, p + 1, p + 1) sums of products of [design, y] for each of their six parts.
        errors: (k, k) what errors in the design are expected to add to the weighted products of its first columns.
        weights: (6,) inverse variances of these.
        parameters: (p,) the state as it was known.
        root: (p, p) a lower triangular root of its covariance.
        shape: (k,).

    Returns:
        The information (k, k) on u, and its score (k,).
    """
    k = len(shape)
    information, score = np.empty((k, k)), np.empty(k)
    _change_information(len(parameters), k, products, errors, weights, parameters, root, shape, information, score)
    return information, score


def recursive_filter(factors: FloatArray, values: FloatArray) -> FloatArray:
    """(N, C) values (N, C) behind a filter of second order; of both, all before the first are 0.

    Factors (2, 3) are those of values and of what is found, of which the first is 1.
    """
    found = np.empty_like(values)
    _recursive_filter(*values.shape, factors, values, found)
    return found


def presliding(side: FloatArray, decay: FloatArray, state: FloatArray) -> None:
    """Go on with the tension s of springs that motion takes along: s <- side + (s - side) decay.

    Args:
        side: (T - 1, n) where each step went, -1 or 1; 0 where it went nowhere.
        decay: (T - 1, n) what it leaves of the difference; 1 where it went nowhere.
        state: (T, n) output, whose first row is given.
    """
    _presliding(*state.shape, side, decay, state)

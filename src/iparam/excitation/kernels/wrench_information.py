"""Second-order information about the payload's Gram matrix W = sum_k A_k^T S A_k along a motion."""

from __future__ import annotations

from iparam.regressor.kernels.body import motion_slopes, point_acceleration, products, write_regressor
from iparam.regressor.kernels.wrench import tool_twist_derivatives
from iparam.robot.kernels.compilation import compiled, part
from iparam.robot.kernels.steps import cross, read_vector
from iparam.robot.kernels.workspace import empty


@part
def along(columns, part, i, slope):
    """A column's component along a slope (6)."""
    return (
        columns[0, part, i, 0] * slope[0]
        + columns[0, part, i, 1] * slope[1]
        + columns[0, part, i, 2] * slope[2]
        + columns[0, part, i, 3] * slope[3]
        + columns[0, part, i, 4] * slope[4]
        + columns[0, part, i, 5] * slope[5]
    )


@part
def weighted_gradient(row_weights, weights, twist, accel, columns, matrix, work, gradient):
    """Gradient (3 n,) by [q, dq, ddq] of <weights, A^T S A> of one sample whose twist derivatives are given.

    The chain of A's construction is walked backwards: from A to the products of omega, alpha and a, from there to the
    twist and its derivative, and from those, by their known derivatives, to the joints.
    """
    n = columns.shape[2]
    w, v, l = read_vector(twist, 0, 0), read_vector(twist, 0, 3), read_vector(accel, 0, 0)
    write_regressor(matrix, 0, products(w, w), l, point_acceleration(w, v, read_vector(accel, 0, 3)))
    for r in range(6):
        for c in range(10):
            total = 0.0
            for d in range(10):
                total += matrix[0, r, d] * weights[d, c]
            work[r, c] = 2.0 * row_weights[r] * total
    by_omega, g, a = motion_slopes(work, w)
    va = cross(v[0], v[1], v[2], a[0], a[1], a[2])
    aw = cross(a[0], a[1], a[2], w[0], w[1], w[2])
    twist_slope = (by_omega[0] + va[0], by_omega[1] + va[1], by_omega[2] + va[2], aw[0], aw[1], aw[2])
    accel_slope = (g[0], g[1], g[2], a[0], a[1], a[2])
    for i in range(n):
        # Columns are J_i, dJ_i/dt, dV/dq_i and dA/dq_i; dA/d(dq_i) = dJ_i/dt + dV/dq_i.
        gradient[i] = along(columns, 2, i, twist_slope) + along(columns, 3, i, accel_slope)
        gradient[n + i] = (
            along(columns, 0, i, twist_slope) + along(columns, 1, i, accel_slope) + along(columns, 2, i, accel_slope)
        )
        gradient[2 * n + i] = along(columns, 0, i, accel_slope)


@part
def symmetrize(matrix):
    """Make a matrix (m, m) its symmetric part: a Hessian by differences is so to rounding and the step only."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            mean = 0.5 * (matrix[i, j] + matrix[j, i])
            matrix[i, j], matrix[j, i] = mean, mean


@compiled
def weighted_curvature(origins, prismatic, tool, gravity, row_weights, weights, q, dq, ddq, step, gradient, hessian):
    """Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by [q, dq, ddq] of <weights, A_k^T S A_k> for every sample.

    The gradient is exact; the Hessian is its forward difference, good to ``step``, which is enough for Newton steps.
    """
    count, n = q.shape
    size = 3 * n
    state = empty((3, 1, n))
    ahead = empty(size)
    twist, accel, columns = empty((1, 6)), empty((1, 6)), empty((1, 4, n, 6))
    matrix, work = empty((1, 6, 10)), empty((6, 10))
    for k in range(count):
        for i in range(n):
            state[0, 0, i], state[1, 0, i], state[2, 0, i] = q[k, i], dq[k, i], ddq[k, i]
        for j in range(-1, size):
            if j >= 0:
                state[j // n, 0, j % n] += step
            tool_twist_derivatives(
                origins, prismatic, tool, gravity, state[0], state[1], state[2], twist, accel, columns
            )
            weighted_gradient(row_weights, weights, twist, accel, columns, matrix, work, ahead)
            if j < 0:
                for i in range(size):  # not gradient[k] = ahead: its possible error takes seconds to compile
                    gradient[k, i] = ahead[i]
                continue
            state[j // n, 0, j % n] -= step
            for i in range(size):
                hessian[k, j, i] = (ahead[i] - gradient[k, i]) / step
        symmetrize(hessian[k])

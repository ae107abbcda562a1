"""Second-order information about the Gram matrix W = sum_k Y_k^T S Y_k of the arm's own base parameters.

Y holds the independent columns of the joint-torque regressor, sorted, and ``first[i]`` is the first of them that
belongs to body i or one behind it: joint i feels no other.
"""

from __future__ import annotations

import numpy as np

from iparam.excitation.kernels.wrench_information import symmetrize
from iparam.regressor.kernels.body import motion_slopes, point_acceleration, products, write_regressor
from iparam.regressor.kernels.joint_torque import joint_torque_regressor_derivatives, seen_from
from iparam.robot.kernels.compilation import allocating, part
from iparam.robot.kernels.dynamics_derivatives import ACCEL, BENT, SCREW, TURNED, TWIST, write_screws
from iparam.robot.kernels.steps import advance, at_rest, cross, read_vector, turn_matrix


@allocating
def gram_products(
    origins, prismatic, link_turns, gravity, independent, first, row_weights, scales, q, dq, ddq, gram, change
):
    """W (r, r), and what each sample's q, dq and ddq change in it: (N, 3, n, r, r)."""
    count, n = q.shape
    size = independent.shape[0]
    matrix, changes = np.empty((1, n, 10 * n)), np.empty((1, 3, n, n, 10 * n))
    rows, slopes = np.zeros((n, size)), np.zeros((n, size))
    gram[:] = 0.0
    change[:] = 0.0
    for k in range(count):
        one = slice(k, k + 1)
        joint_torque_regressor_derivatives(
            origins, prismatic, link_turns, gravity, q[one], dq[one], ddq[one], matrix, changes
        )
        for i in range(n):
            for c in range(first[i], size):
                rows[i, c] = matrix[0, i, independent[c]] * scales[c]
            for c in range(first[i], size):
                weighted = row_weights[i] * rows[i, c]
                for d in range(c, size):
                    gram[c, d] += weighted * rows[i, d]
        for order in range(3):
            for j in range(n):
                block = change[k, order, j]
                for i in range(n):
                    for c in range(first[i], size):
                        slopes[i, c] = changes[0, order, j, i, independent[c]] * scales[c]
                    for c in range(first[i], size):
                        y, slope = row_weights[i] * rows[i, c], row_weights[i] * slopes[i, c]
                        for d in range(c, size):
                            block[c, d] += y * slopes[i, d] + slope * rows[i, d]
                for c in range(size):
                    for d in range(c):
                        block[c, d] = block[d, c]
    for c in range(size):
        for d in range(c):
            gram[c, d] = gram[d, c]


@part
def regressor_adjoint(y, w, v):
    """What <y, A> (6, 10) of a body's regressor A is in terms of its motion: of omega (3), alpha (3) and a (3).

    The first is by a change x of the twist's angular part that comes with a change -V x x of the acceleration; such a
    change of the linear part does nothing.
    """
    by_omega, g, a = motion_slopes(y, w)
    va = cross(v[0], v[1], v[2], a[0], a[1], a[2])
    wg = cross(w[0], w[1], w[2], g[0], g[1], g[2])
    turned = (
        by_omega[0] + 2.0 * va[0] + wg[0],
        by_omega[1] + 2.0 * va[1] + wg[1],
        by_omega[2] + 2.0 * va[2] + wg[2],
    )
    return turned, g, a


@part
def local_tables(origins, prismatic, link_turns, gravity, q, dq, ddq, screws, local, matrices):
    """Of one sample: S, P and D of every joint seen from every link behind it, V last (n, n + 1, 18); A (n, 6, 10)."""
    state = at_rest(0.0, 0.0, 0.0)
    for b in range(q.shape[0]):
        state, z = advance(state, origins, prismatic, b, q[b], 0.0, 0.0)
        p = state[1]
        write_screws(screws, b, not prismatic[b], z, p, gravity, dq[b], ddq[b])
        r = turn_matrix(state[0], link_turns, b)
        for j in range(b + 1):
            for start in (SCREW, TURNED, BENT):
                x, y = seen_from(screws, j, start, r, p)
                for c in range(3):
                    local[b, j, start + c], local[b, j, start + 3 + c] = x[c], y[c]
        w, v = seen_from(screws, b, TWIST, r, p)
        l, a = seen_from(screws, b, ACCEL, r, p)
        write_regressor(matrices, b, products(w, w), l, point_acceleration(w, v, a))
        for c in range(3):
            local[b, b + 1, c], local[b, b + 1, 3 + c] = w[c], v[c]


@part
def weighted_gradient(independent, first, row_weights, weights, local, matrices, rows, weighted, adjoint, gradient):
    """Gradient (3 n,) by [q, dq, ddq] of <weights, Y^T S Y> of one sample, from its `local_tables`."""
    n, size = matrices.shape[0], independent.shape[0]
    for i in range(n):
        for c in range(first[i], size):
            b, parameter = independent[c] // 10, independent[c] % 10
            total = 0.0
            for e in range(3):
                total += matrices[b, e, parameter] * local[b, i, 3 + e] + matrices[b, 3 + e, parameter] * local[b, i, e]
            rows[i, c] = total
            weighted[i, c] = 0.0
        for d in range(first[i], size):
            y = 2.0 * row_weights[i] * rows[i, d]
            for c in range(first[i], size):
                weighted[i, c] += y * weights[d, c]
    for i in range(3 * n):
        gradient[i] = 0.0
    for b in range(n):
        link = local[b]
        w, v = read_vector(link, b + 1, 0), read_vector(link, b + 1, 3)
        adjoint[:] = 0.0
        m, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)  # how the screws of the joints so far feel to turn
        for i in range(b + 1):
            t, s = read_vector(link, i, SCREW), read_vector(link, i, SCREW + 3)
            gradient[i] += t[0] * m[0] + t[1] * m[1] + t[2] * m[2] + s[0] * f[0] + s[1] * f[1] + s[2] * f[2]
            force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            for c in range(first[b], first[b + 1]):
                parameter, z = independent[c] - 10 * b, weighted[i, c]
                x = matrices[b, :, parameter]
                force = (force[0] + x[0] * z, force[1] + x[1] * z, force[2] + x[2] * z)
                moment = (moment[0] + x[3] * z, moment[1] + x[4] * z, moment[2] + x[5] * z)
                for e in range(3):
                    adjoint[e, parameter] += s[e] * z
                    adjoint[3 + e, parameter] += t[e] * z
            mt = cross(moment[0], moment[1], moment[2], t[0], t[1], t[2])
            fs = cross(force[0], force[1], force[2], s[0], s[1], s[2])
            ft = cross(force[0], force[1], force[2], t[0], t[1], t[2])
            m = (m[0] + mt[0] + fs[0], m[1] + mt[1] + fs[1], m[2] + mt[2] + fs[2])
            f = (f[0] + ft[0], f[1] + ft[1], f[2] + ft[2])
        turned, g, a = regressor_adjoint(adjoint, w, v)
        for j in range(b + 1):
            x = link[j]
            for e in range(3):
                gradient[j] += turned[e] * x[TURNED + e] + g[e] * x[BENT + e] + a[e] * x[BENT + 3 + e]
                gradient[n + j] += turned[e] * x[e] + 2.0 * (g[e] * x[TURNED + e] + a[e] * x[TURNED + 3 + e])
                gradient[2 * n + j] += g[e] * x[e] + a[e] * x[3 + e]


@allocating
def weighted_curvature(
    origins,
    prismatic,
    link_turns,
    gravity,
    independent,
    first,
    row_weights,
    weights,
    q,
    dq,
    ddq,
    step,
    gradient,
    hessian,
):
    """Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by [q, dq, ddq] of <weights, Y_k^T S Y_k> for every sample.

    The gradient is exact; the Hessian is its forward difference, good to ``step``.
    """
    count, n = q.shape
    size = 3 * n
    state, ahead = np.empty((3, n)), np.empty(size)
    screws, local, matrices = np.empty((n, 30)), np.zeros((n, n + 1, 18)), np.empty((n, 6, 10))
    rows, weighted = np.zeros((n, independent.shape[0])), np.zeros((n, independent.shape[0]))
    adjoint = np.empty((6, 10))
    for k in range(count):
        for i in range(n):
            state[0, i], state[1, i], state[2, i] = q[k, i], dq[k, i], ddq[k, i]
        for j in range(-1, size):
            if j >= 0:
                before = state[j // n, j % n]
                state[j // n, j % n] = before + step
            local_tables(origins, prismatic, link_turns, gravity, state[0], state[1], state[2], screws, local, matrices)
            weighted_gradient(independent, first, row_weights, weights, local, matrices, rows, weighted, adjoint, ahead)
            if j < 0:
                for i in range(size):  # not gradient[k] = ahead: its possible error takes seconds to compile
                    gradient[k, i] = ahead[i]
                continue
            state[j // n, j % n] = before
            for i in range(size):
                hessian[k, j, i] = (ahead[i] - gradient[k, i]) / step
        symmetrize(hessian[k])

"""The joint-torque regressor and its derivatives."""

from __future__ import annotations

import numpy as np

from iparam.regressor.kernels.body import point_acceleration, products
from iparam.robot.kernels.compilation import allocating, part
from iparam.robot.kernels.dynamics_derivatives import ACCEL, BENT, SCREW, TURNED, TWIST, write_screws
from iparam.robot.kernels.steps import advance, at_rest, cross, read_vector, turn_back, turn_matrix


@allocating
def joint_torque_regressor(origins, prismatic, link_turns, gravity, q, dq, ddq, out):
    """Regressor (N, n, 10 n) of the joint torques: columns phi of each body in its link's frame, from the base."""
    n = q.shape[1]
    axes = np.empty((n, 6))
    for k in range(q.shape[0]):
        state = at_rest(gravity[0], gravity[1], gravity[2])
        row = out[k]
        for body in range(n):
            state, z = advance(state, origins, prismatic, body, q[k, body], dq[k, body], ddq[k, body])
            r, p, w, _, l, a = state
            for j in range(3):
                axes[body, j], axes[body, 3 + j] = z[j], p[j]
            r = turn_matrix(r, link_turns, body)
            w0, w1, w2 = turn_back(r, w[0], w[1], w[2])
            l0, l1, l2 = turn_back(r, l[0], l[1], l[2])
            a0, a1, a2 = turn_back(r, a[0], a[1], a[2])
            xx, yy, zz, xy, xz, yz = products((w0, w1, w2), (w0, w1, w2))
            c = 10 * body
            for i in range(n):
                if i > body:  # a body does not load the joints behind it
                    for j in range(10):
                        row[i, c + j] = 0.0
                    continue
                # (t, v) is the twist that a unit speed of joint i gives the body, in its link's frame.
                z = read_vector(axes, i, 0)
                if prismatic[i]:
                    t0, t1, t2 = 0.0, 0.0, 0.0
                    v0, v1, v2 = turn_back(r, z[0], z[1], z[2])
                else:
                    t0, t1, t2 = turn_back(r, z[0], z[1], z[2])
                    d = cross(z[0], z[1], z[2], p[0] - axes[i, 3], p[1] - axes[i, 4], p[2] - axes[i, 5])
                    v0, v1, v2 = turn_back(r, d[0], d[1], d[2])
                row[i, c] = v0 * a0 + v1 * a1 + v2 * a2
                row[i, c + 1] = v1 * (xy + l2) + v2 * (xz - l1) - v0 * (yy + zz) + t2 * a1 - t1 * a2
                row[i, c + 2] = v0 * (xy - l2) + v2 * (yz + l0) - v1 * (xx + zz) + t0 * a2 - t2 * a0
                row[i, c + 3] = v0 * (xz + l1) + v1 * (yz - l0) - v2 * (xx + yy) + t1 * a0 - t0 * a1
                row[i, c + 4] = t0 * l0 + t1 * xz - t2 * xy
                row[i, c + 5] = t0 * (l1 - xz) + t1 * (l0 + yz) + t2 * (xx - yy)
                row[i, c + 6] = t0 * (l2 + xy) + t1 * (zz - xx) + t2 * (l0 - yz)
                row[i, c + 7] = t1 * l1 - t0 * yz + t2 * xy
                row[i, c + 8] = t0 * (yy - zz) + t1 * (l2 - xy) + t2 * (l1 + xz)
                row[i, c + 9] = t0 * yz - t1 * xz + t2 * l2


@part
def add_torque_row(out, i, c, t, v, ww, alpha, a):
    """Add to columns c .. c + 9 of row i what a body's motion loads a joint with that gives it the twist (t, v).

    The 6x10 regressor of the body from the products of omega, alpha and a, each linear, times the twist.
    """
    xx, yy, zz, xy, xz, yz = ww
    t0, t1, t2 = t
    v0, v1, v2 = v
    l0, l1, l2 = alpha
    a0, a1, a2 = a
    out[i, c] += v0 * a0 + v1 * a1 + v2 * a2
    out[i, c + 1] += v1 * (xy + l2) + v2 * (xz - l1) - v0 * (yy + zz) + t2 * a1 - t1 * a2
    out[i, c + 2] += v0 * (xy - l2) + v2 * (yz + l0) - v1 * (xx + zz) + t0 * a2 - t2 * a0
    out[i, c + 3] += v0 * (xz + l1) + v1 * (yz - l0) - v2 * (xx + yy) + t1 * a0 - t0 * a1
    out[i, c + 4] += t0 * l0 + t1 * xz - t2 * xy
    out[i, c + 5] += t0 * (l1 - xz) + t1 * (l0 + yz) + t2 * (xx - yy)
    out[i, c + 6] += t0 * (l2 + xy) + t1 * (zz - xx) + t2 * (l0 - yz)
    out[i, c + 7] += t1 * l1 - t0 * yz + t2 * xy
    out[i, c + 8] += t0 * (yy - zz) + t1 * (l2 - xy) + t2 * (l1 + xz)
    out[i, c + 9] += t0 * yz - t1 * xz + t2 * l2


@part
def seen_from(screws, i, start, r, p):
    """Angular and linear part of the twist in columns ``start`` of row i, in the frame (r, p) about its origin."""
    x, y = read_vector(screws, i, start), read_vector(screws, i, start + 3)
    xp = cross(x[0], x[1], x[2], p[0], p[1], p[2])
    return turn_back(r, x[0], x[1], x[2]), turn_back(r, y[0] + xp[0], y[1] + xp[1], y[2] + xp[2])


@part
def bracket(x, y, u, s):
    """The bracket ad_(x, y) (u, s) of two twists, each given by its angular and its linear part."""
    xs = cross(x[0], x[1], x[2], s[0], s[1], s[2])
    yu = cross(y[0], y[1], y[2], u[0], u[1], u[2])
    return cross(x[0], x[1], x[2], u[0], u[1], u[2]), (xs[0] + yu[0], xs[1] + yu[1], xs[2] + yu[2])


@part
def motion_change(w, v, dw, dv, factor, b, a):
    """Changes of the products of omega, of alpha and of the origin's a, when the twist (w, v) changes by (dw, dv).

    The spatial acceleration changes by factor (b, a) - ad_(w, v) (dw, dv).
    """
    turned, moved = bracket(w, v, dw, dv)
    xx, yy, zz, xy, xz, yz = products(w, dw)
    ww = (2.0 * xx, 2.0 * yy, 2.0 * zz, 2.0 * xy, 2.0 * xz, 2.0 * yz)
    dl = (factor * b[0] - turned[0], factor * b[1] - turned[1], factor * b[2] - turned[2])
    dwv = cross(dw[0], dw[1], dw[2], v[0], v[1], v[2])
    ds = (
        factor * a[0] - moved[0] + dwv[0],
        factor * a[1] - moved[1] + dwv[1],
        factor * a[2] - moved[2] + dwv[2],
    )
    return ww, dl, point_acceleration(w, dv, ds)


@allocating
def joint_torque_regressor_derivatives(origins, prismatic, link_turns, gravity, q, dq, ddq, out, changes):
    """Joint-torque regressor (N, n, 10 n) and its derivatives (N, 3, n, n, 10 n) by each joint's q, dq and ddq."""
    n = q.shape[1]
    screws = np.empty((n, 30))
    zero = (0.0, 0.0, 0.0)
    for k in range(q.shape[0]):
        matrix, by_q, by_dq, by_ddq = out[k], changes[k, 0], changes[k, 1], changes[k, 2]
        matrix[:] = 0.0
        changes[k] = 0.0
        state = at_rest(0.0, 0.0, 0.0)
        for body in range(n):
            state, z = advance(state, origins, prismatic, body, q[k, body], 0.0, 0.0)
            p = state[1]
            write_screws(screws, body, not prismatic[body], z, p, gravity, dq[k, body], ddq[k, body])
            r = turn_matrix(state[0], link_turns, body)
            w, v = seen_from(screws, body, TWIST, r, p)
            b, a = seen_from(screws, body, ACCEL, r, p)
            a = point_acceleration(w, v, a)
            ww = products(w, w)
            c = 10 * body
            for i in range(body + 1):
                t, s = seen_from(screws, i, SCREW, r, p)
                add_torque_row(matrix, i, c, t, s, ww, b, a)
                for j in range(i + 1, body + 1):  # the screw of joint i turns, for the body, with the joints behind i
                    u, d = seen_from(screws, j, SCREW, r, p)
                    u, d = bracket(t, s, u, d)
                    add_torque_row(by_q[j], i, c, u, d, ww, b, a)
            for j in range(body + 1):
                u, d = seen_from(screws, j, SCREW, r, p)
                pu, pd = seen_from(screws, j, TURNED, r, p)
                bu, bd = seen_from(screws, j, BENT, r, p)
                q_ww, q_l, q_a = motion_change(w, v, pu, pd, 1.0, bu, bd)
                v_ww, v_l, v_a = motion_change(w, v, u, d, 2.0, pu, pd)
                none = products(zero, zero)
                for i in range(body + 1):
                    t, s = seen_from(screws, i, SCREW, r, p)
                    add_torque_row(by_q[j], i, c, t, s, q_ww, q_l, q_a)
                    add_torque_row(by_dq[j], i, c, t, s, v_ww, v_l, v_a)
                    add_torque_row(by_ddq[j], i, c, t, s, none, u, d)

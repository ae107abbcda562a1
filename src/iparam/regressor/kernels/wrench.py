"""The wrench regressor of a payload and its derivatives."""

from __future__ import annotations

from iparam.regressor.kernels.body import point_acceleration, products, write_regressor
from iparam.robot.kernels.compilation import compiled, part
from iparam.robot.kernels.steps import advance, at_rest, attach, cross, read_vector, turn_back
from iparam.robot.kernels.workspace import empty


@compiled
def wrench_regressor(origins, prismatic, tool, gravity, q, dq, ddq, out):
    """Regressor (N, 6, 10) of a payload on the tool: [force, torque] in tool axes about the tool's origin."""
    for k in range(q.shape[0]):
        state = at_rest(gravity[0], gravity[1], gravity[2])
        for i in range(q.shape[1]):
            state, _ = advance(state, origins, prismatic, i, q[k, i], dq[k, i], ddq[k, i])
        r, _, w, _, l, a = attach(state, tool, 0)
        w, l, a = turn_back(r, w[0], w[1], w[2]), turn_back(r, l[0], l[1], l[2]), turn_back(r, a[0], a[1], a[2])
        write_regressor(out, k, products(w, w), l, a)


@compiled
def body_regressor(w, l, a, out):
    """Regressor (N, 6, 10) of a body from omega, alpha and a - g (N, 3) of its frame, in its axes."""
    for k in range(w.shape[0]):
        omega = read_vector(w, k, 0)
        write_regressor(out, k, products(omega, omega), read_vector(l, k, 0), read_vector(a, k, 0))


@part
def ad(x, y, i, j, out, k):
    """out[k] = ad_x[i] y[j], the bracket of two twists [omega, v] in rows of tables."""
    xw, xv = read_vector(x, i, 0), read_vector(x, i, 3)
    yw, yv = read_vector(y, j, 0), read_vector(y, j, 3)
    ww = cross(xw[0], xw[1], xw[2], yw[0], yw[1], yw[2])
    wv = cross(xw[0], xw[1], xw[2], yv[0], yv[1], yv[2])
    vw = cross(xv[0], xv[1], xv[2], yw[0], yw[1], yw[2])
    for c in range(3):
        out[k, c] = ww[c]
        out[k, 3 + c] = wv[c] + vw[c]


@part
def tool_twist_derivatives(origins, prismatic, tool, gravity, q, dq, ddq, twist, accel, columns):
    """Tool twist and spatial acceleration (N, 6) and their derivatives (N, 4, n, 6), in tool axes, gravity included.

    With J_i the tool's Jacobian columns, V_i and A_i the sums over the joints before i (A_i with the base's -g):
        dV/dddq = 0, dV/ddq_i = J_i, dV/dq_i = ad(V_i) J_i,
        dA/dddq_i = J_i, dA/ddq_i = dJ_i/dt + dV/dq_i, dA/dq_i = ad(A_i) J_i + ad(V_i) dJ_i/dt,
    because a column J_i turns only with the joints behind it: dJ_i/dq_j = ad(J_i) J_j for j > i, else 0.
    ``columns`` holds [J_i, dJ_i/dt, dV/dq_i, dA/dq_i].
    """
    n = q.shape[1]
    axes = empty((n, 6))
    before = empty((2, 6))  # V_i and A_i
    after = empty((1, 6))  # twist of the tool relative to the body behind joint i
    scratch = empty((2, 6))
    for k in range(q.shape[0]):
        state = at_rest(0.0, 0.0, 0.0)
        for i in range(n):
            state, z = advance(state, origins, prismatic, i, q[k, i], 0.0, 0.0)
            p = state[1]
            for j in range(3):
                axes[i, j], axes[i, 3 + j] = z[j], p[j]
        r, p, _, _, _, _ = attach(state, tool, 0)
        jac, djac, dv, da = columns[k, 0], columns[k, 1], columns[k, 2], columns[k, 3]
        for j in range(6):
            after[0, j] = 0.0
        for i in range(n - 1, -1, -1):
            z = read_vector(axes, i, 0)
            top, low = turn_back(r, z[0], z[1], z[2]), (0.0, 0.0, 0.0)
            if prismatic[i]:
                top, low = low, top
            else:
                d = cross(z[0], z[1], z[2], p[0] - axes[i, 3], p[1] - axes[i, 4], p[2] - axes[i, 5])
                low = turn_back(r, d[0], d[1], d[2])
            for j in range(3):
                jac[i, j], jac[i, 3 + j] = top[j], low[j]
            ad(jac, after, i, 0, djac, i)
            for j in range(6):
                after[0, j] += jac[i, j] * dq[k, i]
        g = turn_back(r, gravity[0], gravity[1], gravity[2])
        for j in range(3):
            before[0, j], before[0, 3 + j], before[1, j], before[1, 3 + j] = 0.0, 0.0, 0.0, -g[j]
        for i in range(n):
            ad(before, jac, 0, i, dv, i)
            ad(before, jac, 1, i, scratch, 0)
            ad(before, djac, 0, i, scratch, 1)
            for j in range(6):
                da[i, j] = scratch[0, j] + scratch[1, j]
                before[0, j] += jac[i, j] * dq[k, i]
                before[1, j] += jac[i, j] * ddq[k, i] + djac[i, j] * dq[k, i]
        for j in range(6):
            twist[k, j], accel[k, j] = before[0, j], before[1, j]


@part
def write_motion_derivative(out, k, w, v, dv, da, more, factor, i):
    """out[k]: derivative of the regressor when the twist changes by dv[i], its derivative by da[i] + factor more[i]."""
    dw, dp = read_vector(dv, i, 0), read_vector(dv, i, 3)
    dl = (da[i, 0] + factor * more[i, 0], da[i, 1] + factor * more[i, 1], da[i, 2] + factor * more[i, 2])
    ds = (da[i, 3] + factor * more[i, 3], da[i, 4] + factor * more[i, 4], da[i, 5] + factor * more[i, 5])
    dwv = cross(dw[0], dw[1], dw[2], v[0], v[1], v[2])
    point = point_acceleration(w, dp, (ds[0] + dwv[0], ds[1] + dwv[1], ds[2] + dwv[2]))
    half = products(w, dw)
    ww = (2.0 * half[0], 2.0 * half[1], 2.0 * half[2], 2.0 * half[3], 2.0 * half[4], 2.0 * half[5])
    write_regressor(out, k, ww, dl, point)


@compiled
def wrench_regressor_derivatives(origins, prismatic, tool, gravity, q, dq, ddq, out, by_q, by_dq, by_ddq):
    """Wrench regressor (N, 6, 10) and its derivatives (N, n, 6, 10) by each joint's q, dq and ddq."""
    n = q.shape[1]
    twist, accel, columns = empty((1, 6)), empty((1, 6)), empty((1, 4, n, 6))
    one_q, one_dq, one_ddq = empty((1, n)), empty((1, n)), empty((1, n))
    zero = (0.0, 0.0, 0.0)
    for k in range(q.shape[0]):
        for i in range(n):  # slices of q take longer to compile
            one_q[0, i], one_dq[0, i], one_ddq[0, i] = q[k, i], dq[k, i], ddq[k, i]
        tool_twist_derivatives(origins, prismatic, tool, gravity, one_q, one_dq, one_ddq, twist, accel, columns)
        w, v, l = read_vector(twist, 0, 0), read_vector(twist, 0, 3), read_vector(accel, 0, 0)
        write_regressor(out, k, products(w, w), l, point_acceleration(w, v, read_vector(accel, 0, 3)))
        for i in range(n):
            jac, djac, dv, da = columns[0, 0], columns[0, 1], columns[0, 2], columns[0, 3]
            jw, jv = read_vector(jac, i, 0), read_vector(jac, i, 3)
            write_regressor(by_ddq[k], i, products(zero, zero), jw, jv)
            write_motion_derivative(by_q[k], i, w, v, dv, da, da, 0.0, i)
            write_motion_derivative(by_dq[k], i, w, v, jac, djac, dv, 1.0, i)

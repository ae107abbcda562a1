"""Derivatives of the Newton-Euler torques, in base axes about the base's origin, where bodies simply add up.

There the screw S_i of a joint is the same for every body behind it, and V_i, A_i are the twist and acceleration of body
i (A with the base's -g). Seen from a body, turning joint k changes its motion by very little (Singh, Russell & Wensing
2022): with P_k = V_k x S_k and D_k = A_(k-1) x S_k + V_(k-1) x P_k,
    by q_k:   dV = P_k,  dA = D_k - V x P_k,
    by dq_k:  dV = S_k,  dA = 2 P_k - V x S_k,
    by ddq_k: dV = 0,    dA = S_k,
for every body behind joint k, V being that body's twist.
"""

from __future__ import annotations

from iparam.robot.kernels.compilation import compiled, part
from iparam.robot.kernels.dynamics import inertia_about_base, to_base
from iparam.robot.kernels.steps import advance, at_rest, attach, cross, read_vector
from iparam.robot.kernels.workspace import empty

# Columns of the table of screws, a row a joint, and of the table of bodies.
SCREW, TURNED, BENT, TWIST, ACCEL = 0, 6, 12, 18, 24
MASS, FIRST, INERTIA, SPIN, MOMENTUM, MOMENT, FORCE = 0, 1, 4, 10, 19, 22, 25


@part
def write_bracket(table, i, x, y, out):
    """Columns ``out`` of row i get the bracket of the twists [omega, v] in columns x and y: ad_x y."""
    xw, xv = read_vector(table, i, x), read_vector(table, i, x + 3)
    yw, yv = read_vector(table, i, y), read_vector(table, i, y + 3)
    ww = cross(xw[0], xw[1], xw[2], yw[0], yw[1], yw[2])
    wv = cross(xw[0], xw[1], xw[2], yv[0], yv[1], yv[2])
    vw = cross(xv[0], xv[1], xv[2], yw[0], yw[1], yw[2])
    for c in range(3):
        table[i, out + c], table[i, out + 3 + c] = ww[c], wv[c] + vw[c]


@part
def write_screws(screws, i, revolute, z, p, gravity, dq, ddq):
    """Row i (30): S, P and D of the joint with axis z through p, and the V and A behind it; rows before i are ready."""
    moment = cross(p[0], p[1], p[2], z[0], z[1], z[2])
    for c in range(3):
        screws[i, SCREW + c] = z[c] if revolute else 0.0
        screws[i, SCREW + 3 + c] = moment[c] if revolute else z[c]
        if i == 0:
            screws[i, TWIST + c], screws[i, TWIST + 3 + c] = 0.0, 0.0
            screws[i, ACCEL + c], screws[i, ACCEL + 3 + c] = 0.0, -gravity[c]
    if i > 0:
        for c in range(TWIST, ACCEL + 6):
            screws[i, c] = screws[i - 1, c]
    # V and A are still those of the body before the joint.
    write_bracket(screws, i, TWIST, SCREW, TURNED)
    write_bracket(screws, i, ACCEL, SCREW, BENT)
    a0, a1, a2 = read_vector(screws, i, BENT)
    a3, a4, a5 = read_vector(screws, i, BENT + 3)
    write_bracket(screws, i, TWIST, TURNED, BENT)
    for c, bent in enumerate((a0, a1, a2, a3, a4, a5)):
        screws[i, BENT + c] += bent
        screws[i, TWIST + c] += screws[i, SCREW + c] * dq
        screws[i, ACCEL + c] += screws[i, SCREW + c] * ddq + screws[i, TURNED + c] * dq


@part
def write_body(bodies, i, mass, h, inertia, w, v, l, a):
    """Row i (28) of what adds up over bodies: m, h, I, the 3x3 spin matrix, the linear momentum, moment and force.

    A change dV = x of the twist, together with dA = -V x x, changes the body's wrench by
        moment 2 [S (w x x) - (I w) x x + h x (x x v)], force 2 x x momentum, with S = tr(I)/2 - I,
    which depends on the angular part of x alone; the spin matrix is the 3x3 matrix of that moment.
    """
    xx, xy, xz, yy, yz, zz = inertia
    bodies[i, MASS] = mass
    for c in range(6):
        bodies[i, INERTIA + c] = inertia[c]
    for c in range(3):
        bodies[i, FIRST + c] = h[c]
    jw = (xx * w[0] + xy * w[1] + xz * w[2], xy * w[0] + yy * w[1] + yz * w[2], xz * w[0] + yz * w[1] + zz * w[2])
    hv = h[0] * v[0] + h[1] * v[1] + h[2] * v[2]
    half = 0.5 * (xx + yy + zz)
    second = (half - xx, -xy, -xz, -xy, half - yy, -yz, -xz, -yz, half - zz)
    for r in range(3):
        s0, s1, s2 = second[3 * r], second[3 * r + 1], second[3 * r + 2]
        bodies[i, SPIN + 3 * r] = 2.0 * (s1 * w[2] - s2 * w[1] - v[r] * h[0])
        bodies[i, SPIN + 3 * r + 1] = 2.0 * (s2 * w[0] - s0 * w[2] - v[r] * h[1])
        bodies[i, SPIN + 3 * r + 2] = 2.0 * (s0 * w[1] - s1 * w[0] - v[r] * h[2])
        bodies[i, SPIN + 4 * r] += 2.0 * hv
    bodies[i, SPIN + 1] += 2.0 * jw[2]
    bodies[i, SPIN + 2] -= 2.0 * jw[1]
    bodies[i, SPIN + 3] -= 2.0 * jw[2]
    bodies[i, SPIN + 5] += 2.0 * jw[0]
    bodies[i, SPIN + 6] += 2.0 * jw[1]
    bodies[i, SPIN + 7] -= 2.0 * jw[0]
    wh = cross(w[0], w[1], w[2], h[0], h[1], h[2])
    wv = cross(w[0], w[1], w[2], v[0], v[1], v[2])
    b = (a[0] + wv[0], a[1] + wv[1], a[2] + wv[2])
    lh = cross(l[0], l[1], l[2], h[0], h[1], h[2])
    wwh = cross(w[0], w[1], w[2], wh[0], wh[1], wh[2])
    wj = cross(w[0], w[1], w[2], jw[0], jw[1], jw[2])
    hb = cross(h[0], h[1], h[2], b[0], b[1], b[2])
    jl = (xx * l[0] + xy * l[1] + xz * l[2], xy * l[0] + yy * l[1] + yz * l[2], xz * l[0] + yz * l[1] + zz * l[2])
    for c in range(3):
        bodies[i, MOMENTUM + c] = mass * v[c] + wh[c]
        bodies[i, MOMENT + c] = jl[c] + wj[c] + hb[c]
        bodies[i, FORCE + c] = mass * b[c] + lh[c] + wwh[c]


@part
def inertia_times(bodies, i, x, y):
    """Moment and force of the spatial inertia in row i times the twist (x, y)."""
    m, h = bodies[i, MASS], read_vector(bodies, i, FIRST)
    xx, xy, xz = read_vector(bodies, i, INERTIA)
    yy, yz, zz = read_vector(bodies, i, INERTIA + 3)
    hy = cross(h[0], h[1], h[2], y[0], y[1], y[2])
    xh = cross(x[0], x[1], x[2], h[0], h[1], h[2])
    return (
        (
            xx * x[0] + xy * x[1] + xz * x[2] + hy[0],
            xy * x[0] + yy * x[1] + yz * x[2] + hy[1],
            xz * x[0] + yz * x[1] + zz * x[2] + hy[2],
        ),
        (m * y[0] + xh[0], m * y[1] + xh[1], m * y[2] + xh[2]),
    )


@part
def spin_times(bodies, i, x):
    """Moment and force by which a change x of angular velocity changes the wrench; see `write_body`."""
    p = read_vector(bodies, i, MOMENTUM)
    force = cross(2.0 * x[0], 2.0 * x[1], 2.0 * x[2], p[0], p[1], p[2])
    return (
        (
            bodies[i, SPIN] * x[0] + bodies[i, SPIN + 1] * x[1] + bodies[i, SPIN + 2] * x[2],
            bodies[i, SPIN + 3] * x[0] + bodies[i, SPIN + 4] * x[1] + bodies[i, SPIN + 5] * x[2],
            bodies[i, SPIN + 6] * x[0] + bodies[i, SPIN + 7] * x[1] + bodies[i, SPIN + 8] * x[2],
        ),
        force,
    )


@part
def pairing(screws, i, start, moment, force):
    """Power of a wrench on the twist in columns ``start`` of row i."""
    x, y = read_vector(screws, i, start), read_vector(screws, i, start + 3)
    return x[0] * moment[0] + x[1] * moment[1] + x[2] * moment[2] + y[0] * force[0] + y[1] * force[1] + y[2] * force[2]


@compiled
def inverse_dynamics_derivatives(
    origins, prismatic, tool, phi, armature, gravity, q, dq, ddq, tip, tau, by_q, by_dq, by_ddq
):
    """Joint torques (N, n) and their derivatives (N, n, n), [i, k] being that of torque i by joint k."""
    n = q.shape[1]
    screws, bodies = empty((n, 30)), empty((n, 28))
    for k in range(q.shape[0]):
        state = at_rest(0.0, 0.0, 0.0)
        for i in range(n):
            state, z = advance(state, origins, prismatic, i, q[k, i], 0.0, 0.0)
            p = state[1]
            write_screws(screws, i, not prismatic[i], z, p, gravity, dq[k, i], ddq[k, i])
            mass, h, inertia = inertia_about_base(phi, i, state[0], p)
            w, v = read_vector(screws, i, TWIST), read_vector(screws, i, TWIST + 3)
            l, a = read_vector(screws, i, ACCEL), read_vector(screws, i, ACCEL + 3)
            write_body(bodies, i, mass, h, inertia, w, v, l, a)
        # The tip's wrench goes with the tool: a load of the last body that no motion changes.
        r, p, _, _, _, _ = attach(state, tool, 0)
        f, m = to_base(r, p, read_vector(tip, k, 3), read_vector(tip, k, 0))
        for c in range(3):
            bodies[n - 1, MOMENT + c] += m[c]
            bodies[n - 1, FORCE + c] += f[c]
        for j in range(n - 1, -1, -1):
            if j < n - 1:
                for c in range(28):
                    bodies[j, c] += bodies[j + 1, c]
            write_joint(screws, bodies, j, tau[k], by_q[k], by_dq[k], by_ddq[k])
            tau[k, j] += armature[j] * ddq[k, j]
            by_ddq[k, j, j] += armature[j]


@part
def write_joint(screws, bodies, j, tau, by_q, by_dq, by_ddq):
    """Row and column j of the derivatives up to the diagonal, from all bodies behind joint j as one (row j)."""
    s, t = read_vector(screws, j, SCREW), read_vector(screws, j, SCREW + 3)
    p, pv = read_vector(screws, j, TURNED), read_vector(screws, j, TURNED + 3)
    moment, force = read_vector(bodies, j, MOMENT), read_vector(bodies, j, FORCE)
    tau[j] = pairing(screws, j, SCREW, moment, force)
    own_m, own_f = inertia_times(bodies, j, s, t)
    # Column j: what joint j changes in the wrench of the bodies behind it, felt by the joints up to j.
    bent_m, bent_f = inertia_times(bodies, j, read_vector(screws, j, BENT), read_vector(screws, j, BENT + 3))
    spun_m, spun_f = spin_times(bodies, j, p)
    sm, sf = (
        cross(s[0], s[1], s[2], moment[0], moment[1], moment[2]),
        cross(s[0], s[1], s[2], force[0], force[1], force[2]),
    )
    tf = cross(t[0], t[1], t[2], force[0], force[1], force[2])
    q_m = (
        bent_m[0] + spun_m[0] + sm[0] + tf[0],
        bent_m[1] + spun_m[1] + sm[1] + tf[1],
        bent_m[2] + spun_m[2] + sm[2] + tf[2],
    )
    q_f = (bent_f[0] + spun_f[0] + sf[0], bent_f[1] + spun_f[1] + sf[1], bent_f[2] + spun_f[2] + sf[2])
    turned_m, turned_f = inertia_times(bodies, j, p, pv)
    spun_m, spun_f = spin_times(bodies, j, s)
    v_m = (2.0 * turned_m[0] + spun_m[0], 2.0 * turned_m[1] + spun_m[1], 2.0 * turned_m[2] + spun_m[2])
    v_f = (2.0 * turned_f[0] + spun_f[0], 2.0 * turned_f[1] + spun_f[1], 2.0 * turned_f[2] + spun_f[2])
    # Row j: the transposed spin matrix times the screw, for what the joints before j change behind it.
    momentum = read_vector(bodies, j, MOMENTUM)
    pt = cross(momentum[0], momentum[1], momentum[2], t[0], t[1], t[2])
    b = (
        bodies[j, SPIN] * s[0] + bodies[j, SPIN + 3] * s[1] + bodies[j, SPIN + 6] * s[2] + 2.0 * pt[0],
        bodies[j, SPIN + 1] * s[0] + bodies[j, SPIN + 4] * s[1] + bodies[j, SPIN + 7] * s[2] + 2.0 * pt[1],
        bodies[j, SPIN + 2] * s[0] + bodies[j, SPIN + 5] * s[1] + bodies[j, SPIN + 8] * s[2] + 2.0 * pt[2],
    )
    for i in range(j + 1):
        by_q[i, j] = pairing(screws, i, SCREW, q_m, q_f)
        by_dq[i, j] = pairing(screws, i, SCREW, v_m, v_f)
        by_ddq[i, j] = pairing(screws, i, SCREW, own_m, own_f)
        if i < j:
            x, y = read_vector(screws, i, TURNED), read_vector(screws, i, SCREW)
            by_q[j, i] = pairing(screws, i, BENT, own_m, own_f) + b[0] * x[0] + b[1] * x[1] + b[2] * x[2]
            by_dq[j, i] = 2.0 * pairing(screws, i, TURNED, own_m, own_f) + b[0] * y[0] + b[1] * y[1] + b[2] * y[2]
            by_ddq[j, i] = by_ddq[i, j]

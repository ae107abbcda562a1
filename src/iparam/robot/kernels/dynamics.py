"""Newton-Euler recursions and the mass matrix."""

from __future__ import annotations

from iparam.robot.kernels.compilation import compiled, part
from iparam.robot.kernels.steps import (
    advance,
    at_rest,
    attach,
    cross,
    read_vector,
    turn,
    turn_back,
    turn_matrix,
    write_pose,
)
from iparam.robot.kernels.workspace import empty


@part
def body_wrench(phi, i, w, l, a):
    """Force and moment, about the frame's origin, that move body i; all in its frame, ``a`` minus gravity."""
    m, hx, hy, hz = phi[i, 0], phi[i, 1], phi[i, 2], phi[i, 3]
    xx, xy, xz, yy, yz, zz = phi[i, 4], phi[i, 5], phi[i, 6], phi[i, 7], phi[i, 8], phi[i, 9]
    lh = cross(l[0], l[1], l[2], hx, hy, hz)
    wh = cross(w[0], w[1], w[2], hx, hy, hz)
    wwh = cross(w[0], w[1], w[2], wh[0], wh[1], wh[2])
    f = (m * a[0] + lh[0] + wwh[0], m * a[1] + lh[1] + wwh[1], m * a[2] + lh[2] + wwh[2])
    jx, jy, jz = xx * w[0] + xy * w[1] + xz * w[2], xy * w[0] + yy * w[1] + yz * w[2], xz * w[0] + yz * w[1] + zz * w[2]
    wj = cross(w[0], w[1], w[2], jx, jy, jz)
    ha = cross(hx, hy, hz, a[0], a[1], a[2])
    n = (
        xx * l[0] + xy * l[1] + xz * l[2] + wj[0] + ha[0],
        xy * l[0] + yy * l[1] + yz * l[2] + wj[1] + ha[1],
        xz * l[0] + yz * l[1] + zz * l[2] + wj[2] + ha[2],
    )
    return f, n


@part
def to_base(r, p, f, n):
    """A wrench given in a frame, about its origin, in base axes about the base's origin."""
    f = turn(r, f[0], f[1], f[2])
    n = turn(r, n[0], n[1], n[2])
    pf = cross(p[0], p[1], p[2], f[0], f[1], f[2])
    return f, (n[0] + pf[0], n[1] + pf[1], n[2] + pf[2])


@part
def joint_effort(prismatic, z, p, f, n):
    """Torque about, or force along, the axis z through p of a wrench about the base's origin; all in base axes."""
    if prismatic:
        return z[0] * f[0] + z[1] * f[1] + z[2] * f[2]
    pf = cross(p[0], p[1], p[2], f[0], f[1], f[2])
    return z[0] * (n[0] - pf[0]) + z[1] * (n[1] - pf[1]) + z[2] * (n[2] - pf[2])


@compiled
def inverse_dynamics(origins, prismatic, tool, phi, armature, gravity, q, dq, ddq, tip, tau):
    """Joint torques (N, n) for a motion, the tool exerting ``tip`` (N, 6) [moment, force] on the environment."""
    n = q.shape[1]
    axes = empty((n, 6))
    wrenches = empty((n, 6))
    for k in range(q.shape[0]):
        state = at_rest(gravity[0], gravity[1], gravity[2])
        for i in range(n):
            state, z = advance(state, origins, prismatic, i, q[k, i], dq[k, i], ddq[k, i])
            r, p, w, _, l, a = state
            w, l, a = turn_back(r, w[0], w[1], w[2]), turn_back(r, l[0], l[1], l[2]), turn_back(r, a[0], a[1], a[2])
            f, m = body_wrench(phi, i, w, l, a)
            f, m = to_base(r, p, f, m)
            for j in range(3):
                axes[i, j], axes[i, 3 + j] = z[j], p[j]
                wrenches[i, j], wrenches[i, 3 + j] = f[j], m[j]
        r, p, _, _, _, _ = attach(state, tool, 0)
        f, m = to_base(r, p, read_vector(tip, k, 3), read_vector(tip, k, 0))
        for i in range(n - 1, -1, -1):
            f = (f[0] + wrenches[i, 0], f[1] + wrenches[i, 1], f[2] + wrenches[i, 2])
            m = (m[0] + wrenches[i, 3], m[1] + wrenches[i, 4], m[2] + wrenches[i, 5])
            effort = joint_effort(prismatic[i], read_vector(axes, i, 0), read_vector(axes, i, 3), f, m)
            tau[k, i] = effort + armature[i] * ddq[k, i]


@compiled
def forward_pass(origins, prismatic, link_turns, gravity, q, dq, ddq, poses, twists, accelerations):
    """Pose (N, n, 4, 4), twist and spatial acceleration (N, n, 6) [omega, v] of every link, in its own frame."""
    for k in range(q.shape[0]):
        state = at_rest(gravity[0], gravity[1], gravity[2])
        for i in range(q.shape[1]):
            state, _ = advance(state, origins, prismatic, i, q[k, i], dq[k, i], ddq[k, i])
            r, p, w, v, l, a = state
            r = turn_matrix(r, link_turns, i)
            write_pose(poses[k], i, r, p)
            wv = cross(w[0], w[1], w[2], v[0], v[1], v[2])
            w, v, l = turn_back(r, w[0], w[1], w[2]), turn_back(r, v[0], v[1], v[2]), turn_back(r, l[0], l[1], l[2])
            # The spatial acceleration is the derivative of the twist's components, not of the point's velocity.
            a = turn_back(r, a[0] - wv[0], a[1] - wv[1], a[2] - wv[2])
            for j in range(3):
                twists[k, i, j], twists[k, i, 3 + j] = w[j], v[j]
                accelerations[k, i, j], accelerations[k, i, 3 + j] = l[j], a[j]


@compiled
def backward_pass(prismatic, link_turns, phi, tip_pose, poses, twists, accelerations, tip, wrenches, tau):
    """Wrench (N, n, 6) [moment, force] on every link through its joint, in its own frame, and joint torques (N, n)."""
    for k in range(poses.shape[0]):
        f, m = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for i in range(poses.shape[1], -1, -1):
            if i == poses.shape[1]:
                t = tip_pose[k]
                own_f, own_m = read_vector(tip, k, 3), read_vector(tip, k, 0)
            else:
                t = poses[k, i]
                w, v = read_vector(twists[k], i, 0), read_vector(twists[k], i, 3)
                l, a = read_vector(accelerations[k], i, 0), read_vector(accelerations[k], i, 3)
                wv = cross(w[0], w[1], w[2], v[0], v[1], v[2])
                own_f, own_m = body_wrench(phi, i, w, l, (a[0] + wv[0], a[1] + wv[1], a[2] + wv[2]))
            r = (t[0, 0], t[0, 1], t[0, 2], t[1, 0], t[1, 1], t[1, 2], t[2, 0], t[2, 1], t[2, 2])
            p = (t[0, 3], t[1, 3], t[2, 3])
            own_f, own_m = to_base(r, p, own_f, own_m)
            f = (f[0] + own_f[0], f[1] + own_f[1], f[2] + own_f[2])
            m = (m[0] + own_m[0], m[1] + own_m[1], m[2] + own_m[2])
            if i < poses.shape[1]:
                z = turn(r, link_turns[i, 6], link_turns[i, 7], link_turns[i, 8])
                tau[k, i] = joint_effort(prismatic[i], z, p, f, m)
                pf = cross(p[0], p[1], p[2], f[0], f[1], f[2])
                here_m = turn_back(r, m[0] - pf[0], m[1] - pf[1], m[2] - pf[2])
                here_f = turn_back(r, f[0], f[1], f[2])
                for j in range(3):
                    wrenches[k, i, j], wrenches[k, i, 3 + j] = here_m[j], here_f[j]


@part
def inertia_about_base(phi, i, r, p):
    """Mass, first moment and inertia (6) of body i about the base's origin, in base axes."""
    m = phi[i, 0]
    h = turn(r, phi[i, 1], phi[i, 2], phi[i, 3])
    xx, xy, xz, yy, yz, zz = phi[i, 4], phi[i, 5], phi[i, 6], phi[i, 7], phi[i, 8], phi[i, 9]
    # Columns of I R^T, then rows of R times them.
    c0 = (xx * r[0] + xy * r[1] + xz * r[2], xy * r[0] + yy * r[1] + yz * r[2], xz * r[0] + yz * r[1] + zz * r[2])
    c1 = (xx * r[3] + xy * r[4] + xz * r[5], xy * r[3] + yy * r[4] + yz * r[5], xz * r[3] + yz * r[4] + zz * r[5])
    c2 = (xx * r[6] + xy * r[7] + xz * r[8], xy * r[6] + yy * r[7] + yz * r[8], xz * r[6] + yz * r[7] + zz * r[8])
    bxx = r[0] * c0[0] + r[1] * c0[1] + r[2] * c0[2]
    bxy = r[0] * c1[0] + r[1] * c1[1] + r[2] * c1[2]
    bxz = r[0] * c2[0] + r[1] * c2[1] + r[2] * c2[2]
    byy = r[3] * c1[0] + r[4] * c1[1] + r[5] * c1[2]
    byz = r[3] * c2[0] + r[4] * c2[1] + r[5] * c2[2]
    bzz = r[6] * c2[0] + r[7] * c2[1] + r[8] * c2[2]
    # Shifting the point by -p: with g = 2 h + m p, I grows by the symmetric part of (p.g) E - p g^T.
    gx, gy, gz = 2.0 * h[0] + m * p[0], 2.0 * h[1] + m * p[1], 2.0 * h[2] + m * p[2]
    trace = p[0] * gx + p[1] * gy + p[2] * gz
    return (
        m,
        (h[0] + m * p[0], h[1] + m * p[1], h[2] + m * p[2]),
        (
            bxx + trace - p[0] * gx,
            bxy - 0.5 * (p[0] * gy + p[1] * gx),
            bxz - 0.5 * (p[0] * gz + p[2] * gx),
            byy + trace - p[1] * gy,
            byz - 0.5 * (p[1] * gz + p[2] * gy),
            bzz + trace - p[2] * gz,
        ),
    )


@compiled
def mass_matrix(origins, prismatic, phi, armature, q, out):
    """Joint-space mass matrix (N, n, n): composite bodies about the base's origin, so that they simply add up."""
    n = q.shape[1]
    axes = empty((n, 6))
    bodies = empty((n, 10))
    for k in range(q.shape[0]):
        state = at_rest(0.0, 0.0, 0.0)
        for i in range(n):
            state, z = advance(state, origins, prismatic, i, q[k, i], 0.0, 0.0)
            p = state[1]
            mass, h, inertia = inertia_about_base(phi, i, state[0], p)
            bodies[i, 0] = mass
            for j in range(3):
                axes[i, j], axes[i, 3 + j], bodies[i, 1 + j] = z[j], p[j], h[j]
            for j in range(6):
                bodies[i, 4 + j] = inertia[j]
        for i in range(n - 1, -1, -1):
            if i < n - 1:
                for j in range(10):
                    bodies[i, j] += bodies[i + 1, j]
            z, p = read_vector(axes, i, 0), read_vector(axes, i, 3)
            m, h = bodies[i, 0], read_vector(bodies, i, 1)
            if prismatic[i]:
                f = (m * z[0], m * z[1], m * z[2])
                t = cross(h[0], h[1], h[2], z[0], z[1], z[2])
            else:
                a = cross(p[0], p[1], p[2], z[0], z[1], z[2])
                zh = cross(z[0], z[1], z[2], h[0], h[1], h[2])
                f = (m * a[0] + zh[0], m * a[1] + zh[1], m * a[2] + zh[2])
                ha = cross(h[0], h[1], h[2], a[0], a[1], a[2])
                t = (
                    bodies[i, 4] * z[0] + bodies[i, 5] * z[1] + bodies[i, 6] * z[2] + ha[0],
                    bodies[i, 5] * z[0] + bodies[i, 7] * z[1] + bodies[i, 8] * z[2] + ha[1],
                    bodies[i, 6] * z[0] + bodies[i, 8] * z[1] + bodies[i, 9] * z[2] + ha[2],
                )
            for j in range(i + 1):
                effort = joint_effort(prismatic[j], read_vector(axes, j, 0), read_vector(axes, j, 3), f, t)
                out[k, i, j] = effort
                out[k, j, i] = effort
            out[k, i, i] += armature[i]

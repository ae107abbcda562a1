"""Poses, tool motion and Jacobians."""

from __future__ import annotations

from iparam.robot.kernels.compilation import compiled
from iparam.robot.kernels.steps import (
    advance,
    at_rest,
    attach,
    cross,
    read_vector,
    turn_back,
    write_pose,
    write_vector,
)
from iparam.robot.kernels.workspace import empty


@compiled
def tool_motion(origins, prismatic, tool, q, dq, ddq, pose, v_out, w_out, a_out, l_out):
    """Pose (N, 4, 4) and, in tool axes, linear and angular velocity and acceleration (N, 3) of the tool frame."""
    for k in range(q.shape[0]):
        state = at_rest(0.0, 0.0, 0.0)
        for i in range(q.shape[1]):
            state, _ = advance(state, origins, prismatic, i, q[k, i], dq[k, i], ddq[k, i])
        r, p, w, v, l, a = attach(state, tool, 0)
        write_pose(pose, k, r, p)
        write_vector(v_out, k, turn_back(r, v[0], v[1], v[2]))
        write_vector(w_out, k, turn_back(r, w[0], w[1], w[2]))
        write_vector(a_out, k, turn_back(r, a[0], a[1], a[2]))
        write_vector(l_out, k, turn_back(r, l[0], l[1], l[2]))


@compiled
def frame_poses(origins, prismatic, bodies, offsets, q, poses):
    """Poses (N, F, 4, 4) of frames fixed to bodies."""
    for k in range(q.shape[0]):
        state = at_rest(0.0, 0.0, 0.0)
        for i in range(q.shape[1] + 1):
            if i > 0:
                state, _ = advance(state, origins, prismatic, i - 1, q[k, i - 1], 0.0, 0.0)
            for f in range(bodies.shape[0]):
                if bodies[f] == i:
                    r, p, _, _, _, _ = attach(state, offsets, f)
                    write_pose(poses[k], f, r, p)


@compiled
def jacobian(origins, prismatic, tool, in_tool, q, dq, jac, djac):
    """Jacobian (N, 6, n), rows [omega, v] of the tool origin, and its time derivative, in base or tool axes."""
    n = q.shape[1]
    axes = empty((n, 12))
    for k in range(q.shape[0]):
        state = at_rest(0.0, 0.0, 0.0)
        for i in range(n):
            state, z = advance(state, origins, prismatic, i, q[k, i], dq[k, i], 0.0)
            write_vector(axes, i, z)
            # The axis turns with the body behind the joint: its own motion about the axis does not matter.
            dz = cross(state[2][0], state[2][1], state[2][2], z[0], z[1], z[2])
            for j in range(3):
                axes[i, 3 + j], axes[i, 6 + j], axes[i, 9 + j] = dz[j], state[1][j], state[3][j]
        r, p, w, v, _, _ = attach(state, tool, 0)
        for i in range(n):
            z, dz = read_vector(axes, i, 0), read_vector(axes, i, 3)
            if prismatic[i]:
                top, dtop = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
                low, dlow = z, dz
            else:
                top, dtop = z, dz
                d = (p[0] - axes[i, 6], p[1] - axes[i, 7], p[2] - axes[i, 8])
                e = (v[0] - axes[i, 9], v[1] - axes[i, 10], v[2] - axes[i, 11])
                low = cross(z[0], z[1], z[2], d[0], d[1], d[2])
                zd = cross(dz[0], dz[1], dz[2], d[0], d[1], d[2])
                ze = cross(z[0], z[1], z[2], e[0], e[1], e[2])
                dlow = (zd[0] + ze[0], zd[1] + ze[1], zd[2] + ze[2])
            if in_tool:
                wt = cross(w[0], w[1], w[2], top[0], top[1], top[2])
                wl = cross(w[0], w[1], w[2], low[0], low[1], low[2])
                top, low = turn_back(r, top[0], top[1], top[2]), turn_back(r, low[0], low[1], low[2])
                dtop = turn_back(r, dtop[0] - wt[0], dtop[1] - wt[1], dtop[2] - wt[2])
                dlow = turn_back(r, dlow[0] - wl[0], dlow[1] - wl[1], dlow[2] - wl[2])
            for j in range(3):
                jac[k, j, i], jac[k, 3 + j, i] = top[j], low[j]
                djac[k, j, i], djac[k, 3 + j, i] = dtop[j], dlow[j]

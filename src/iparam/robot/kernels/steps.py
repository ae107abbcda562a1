"""The steps that all recursions share. `advance` moves the state of a frame across one joint.

A state is (R, p, omega, v, alpha, a), all in base axes. Scalars in tuples stay in registers, which is what makes these
fast; a kernel's workspace holds one sample and stays in the first-level cache.
"""

from __future__ import annotations

import math

from iparam.robot.kernels.compilation import part


@part
def sin_cos(x):
    """sin(x) and cos(x) to two units in the last place (2.2e-16), three times as fast as two calls of the C library.

    Cody-Waite reduction to |y| <= pi/4 in three exact parts of pi/2, then the classical minimax polynomials. Beyond
    1e5 rad, where the reduction would lose digits, the C library takes over.
    """
    if abs(x) > 1e5:
        return math.sin(x), math.cos(x)
    n = math.floor(x * 0.6366197723675814 + 0.5)
    y = ((x - n * 1.5707963267341256) - n * 6.077100506303966e-11) - n * 2.0222662487959506e-21
    z = y * y
    s = 2.75573136213857245e-6 + z * (-2.50507477628578073e-8 + z * 1.58962301576546568e-10)
    s = -1.66666666666666307e-1 + z * (8.33333333332211859e-3 + z * (-1.98412698295895386e-4 + z * s))
    s = y + y * z * s
    c = -2.75573141792967388e-7 + z * (2.08757008419747317e-9 - z * 1.13585365213876817e-11)
    c = 4.16666666666665929e-2 + z * (-1.38888888888730564e-3 + z * (2.48015872888517045e-5 + z * c))
    c = 1.0 - 0.5 * z + z * z * c
    quadrant = int(n) & 3
    if quadrant & 1:
        s, c = c, s
    if quadrant & 2:
        s = -s
    if (quadrant + 1) & 2:
        c = -c
    return s, c


@part
def cross(ax, ay, az, bx, by, bz):
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@part
def turn(r, x, y, z):
    """R x for the first nine entries of ``r``."""
    return r[0] * x + r[1] * y + r[2] * z, r[3] * x + r[4] * y + r[5] * z, r[6] * x + r[7] * y + r[8] * z


@part
def turn_back(r, x, y, z):
    """R^T x for the first nine entries of ``r``."""
    return r[0] * x + r[3] * y + r[6] * z, r[1] * x + r[4] * y + r[7] * z, r[2] * x + r[5] * y + r[8] * z


@part
def turn_matrix(r, table, i):
    """The nine entries of R B, where B is the first nine numbers in row i of ``table``."""
    b = (
        table[i, 0],
        table[i, 1],
        table[i, 2],
        table[i, 3],
        table[i, 4],
        table[i, 5],
        table[i, 6],
        table[i, 7],
        table[i, 8],
    )
    return (
        r[0] * b[0] + r[1] * b[3] + r[2] * b[6],
        r[0] * b[1] + r[1] * b[4] + r[2] * b[7],
        r[0] * b[2] + r[1] * b[5] + r[2] * b[8],
        r[3] * b[0] + r[4] * b[3] + r[5] * b[6],
        r[3] * b[1] + r[4] * b[4] + r[5] * b[7],
        r[3] * b[2] + r[4] * b[5] + r[5] * b[8],
        r[6] * b[0] + r[7] * b[3] + r[8] * b[6],
        r[6] * b[1] + r[7] * b[4] + r[8] * b[7],
        r[6] * b[2] + r[7] * b[5] + r[8] * b[8],
    )


@part
def at_rest(gx, gy, gz):
    """State of the base frame: R, p, omega, v, alpha, a. Its acceleration -g puts gravity into everything carried."""
    return (
        (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (-gx, -gy, -gz),
    )


@part
def carry(state, d):
    """Velocity and acceleration of the point at ``d`` (base axes) from the state's origin, on the same body."""
    _, _, w, v, l, a = state
    wx, wy, wz = cross(w[0], w[1], w[2], d[0], d[1], d[2])
    lx, ly, lz = cross(l[0], l[1], l[2], d[0], d[1], d[2])
    cx, cy, cz = cross(w[0], w[1], w[2], wx, wy, wz)
    return (v[0] + wx, v[1] + wy, v[2] + wz), (a[0] + lx + cx, a[1] + ly + cy, a[2] + lz + cz)


@part
def advance(state, origins, prismatic, i, q, dq, ddq):
    """The state behind a joint, and the joint's axis in base axes."""
    r, p, w, v, l, a = state
    dx, dy, dz = turn(r, origins[i, 9], origins[i, 10], origins[i, 11])
    r = turn_matrix(r, origins, i)
    z = (r[2], r[5], r[8])
    if prismatic[i]:
        dx, dy, dz = dx + q * z[0], dy + q * z[1], dz + q * z[2]
    v, a = carry(state, (dx, dy, dz))
    p = (p[0] + dx, p[1] + dy, p[2] + dz)
    gx, gy, gz = cross(w[0], w[1], w[2], z[0] * dq, z[1] * dq, z[2] * dq)
    if prismatic[i]:
        v = (v[0] + z[0] * dq, v[1] + z[1] * dq, v[2] + z[2] * dq)
        a = (a[0] + 2.0 * gx + z[0] * ddq, a[1] + 2.0 * gy + z[1] * ddq, a[2] + 2.0 * gz + z[2] * ddq)
    else:
        w = (w[0] + z[0] * dq, w[1] + z[1] * dq, w[2] + z[2] * dq)
        l = (l[0] + gx + z[0] * ddq, l[1] + gy + z[1] * ddq, l[2] + gz + z[2] * ddq)
        s, c = sin_cos(q)
        r = (
            c * r[0] + s * r[1],
            c * r[1] - s * r[0],
            r[2],
            c * r[3] + s * r[4],
            c * r[4] - s * r[3],
            r[5],
            c * r[6] + s * r[7],
            c * r[7] - s * r[6],
            r[8],
        )
    return (r, p, w, v, l, a), z


@part
def attach(state, offsets, i):
    """The state of a frame fixed on the body at row i of ``offsets`` (12: rotation, translation)."""
    r, p, w, _, l, _ = state
    d = turn(r, offsets[i, 9], offsets[i, 10], offsets[i, 11])
    v, a = carry(state, d)
    return (turn_matrix(r, offsets, i), (p[0] + d[0], p[1] + d[1], p[2] + d[2]), w, v, l, a)


@part
def write_pose(out, k, r, p):
    out[k, 0, 0], out[k, 0, 1], out[k, 0, 2], out[k, 0, 3] = r[0], r[1], r[2], p[0]
    out[k, 1, 0], out[k, 1, 1], out[k, 1, 2], out[k, 1, 3] = r[3], r[4], r[5], p[1]
    out[k, 2, 0], out[k, 2, 1], out[k, 2, 2], out[k, 2, 3] = r[6], r[7], r[8], p[2]
    out[k, 3, 0], out[k, 3, 1], out[k, 3, 2], out[k, 3, 3] = 0.0, 0.0, 0.0, 1.0


@part
def write_vector(out, k, x):
    out[k, 0], out[k, 1], out[k, 2] = x[0], x[1], x[2]


@part
def read_vector(table, i, start):
    return table[i, start], table[i, start + 1], table[i, start + 2]

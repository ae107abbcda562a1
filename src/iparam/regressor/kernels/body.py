"""The regressor of one body from its motion, forwards and backwards."""

from __future__ import annotations

from iparam.robot.kernels.compilation import part
from iparam.robot.kernels.steps import cross


@part
def products(w, v):
    """The symmetric products of two vectors: (xx, yy, zz, xy, xz, yz) of (w v^T + v w^T) / 2."""
    return (
        w[0] * v[0],
        w[1] * v[1],
        w[2] * v[2],
        0.5 * (w[0] * v[1] + w[1] * v[0]),
        0.5 * (w[0] * v[2] + w[2] * v[0]),
        0.5 * (w[1] * v[2] + w[2] * v[1]),
    )


@part
def write_regressor(out, k, ww, l, a):
    """The 6x10 regressor of a body from its motion in its frame: rows [force, moment], columns phi.

    f = m a + alpha x h + omega x (omega x h) and n = I alpha + omega x (I omega) + h x a, with h = m c, written as a
    matrix times phi. ``a`` is the acceleration of the frame's origin minus gravity, ``ww`` the products of omega; the
    matrix is linear in all three, so the same function writes its derivatives.
    """
    xx, yy, zz, xy, xz, yz = ww
    l0, l1, l2 = l
    a0, a1, a2 = a
    out[k, 0, 0], out[k, 1, 0], out[k, 2, 0] = a0, a1, a2
    out[k, 0, 1], out[k, 0, 2], out[k, 0, 3] = -(yy + zz), xy - l2, xz + l1
    out[k, 1, 1], out[k, 1, 2], out[k, 1, 3] = xy + l2, -(xx + zz), yz - l0
    out[k, 2, 1], out[k, 2, 2], out[k, 2, 3] = xz - l1, yz + l0, -(xx + yy)
    out[k, 3, 0], out[k, 4, 0], out[k, 5, 0] = 0.0, 0.0, 0.0
    out[k, 3, 1], out[k, 3, 2], out[k, 3, 3] = 0.0, a2, -a1
    out[k, 4, 1], out[k, 4, 2], out[k, 4, 3] = -a2, 0.0, a0
    out[k, 5, 1], out[k, 5, 2], out[k, 5, 3] = a1, -a0, 0.0
    for i in range(3):
        for j in range(4, 10):
            out[k, i, j] = 0.0
    out[k, 3, 4], out[k, 3, 5], out[k, 3, 6] = l0, l1 - xz, l2 + xy
    out[k, 3, 7], out[k, 3, 8], out[k, 3, 9] = -yz, yy - zz, yz
    out[k, 4, 4], out[k, 4, 5], out[k, 4, 6] = xz, l0 + yz, zz - xx
    out[k, 4, 7], out[k, 4, 8], out[k, 4, 9] = l1, l2 - xy, -xz
    out[k, 5, 4], out[k, 5, 5], out[k, 5, 6] = -xy, xx - yy, l0 - yz
    out[k, 5, 7], out[k, 5, 8], out[k, 5, 9] = xy, l1 + xz, l2


@part
def motion_slopes(y, w):
    """How <y, A>, for a (6, 10) matrix y, changes with the motion that A is made of: by omega, alpha and a, (3,) each.

    `write_regressor` read backwards: every entry of y goes to the quantities that stand in that place of A.
    """
    a = (y[0, 0] + y[4, 3] - y[5, 2], y[1, 0] - y[3, 3] + y[5, 1], y[2, 0] + y[3, 2] - y[4, 1])
    g = (
        y[2, 2] - y[1, 3] + y[3, 4] + y[4, 5] + y[5, 6],
        y[0, 3] - y[2, 1] + y[3, 5] + y[4, 7] + y[5, 8],
        y[1, 1] - y[0, 2] + y[3, 6] + y[4, 8] + y[5, 9],
    )
    xx = y[5, 5] - y[1, 2] - y[2, 3] - y[4, 6]
    yy = y[3, 8] - y[0, 1] - y[2, 3] - y[5, 5]
    zz = y[4, 6] - y[0, 1] - y[1, 2] - y[3, 8]
    xy = y[0, 2] + y[1, 1] + y[3, 6] - y[4, 8] - y[5, 4] + y[5, 7]
    xz = y[0, 3] + y[2, 1] - y[3, 5] + y[4, 4] - y[4, 9] + y[5, 8]
    yz = y[1, 3] + y[2, 2] - y[3, 7] + y[3, 9] + y[4, 5] - y[5, 6]
    by_omega = (
        2.0 * w[0] * xx + w[1] * xy + w[2] * xz,
        2.0 * w[1] * yy + w[0] * xy + w[2] * yz,
        2.0 * w[2] * zz + w[0] * xz + w[1] * yz,
    )
    return by_omega, g, a


@part
def point_acceleration(w, v, a):
    """Acceleration of the frame's origin from the spatial one: a + omega x v."""
    wv = cross(w[0], w[1], w[2], v[0], v[1], v[2])
    return a[0] + wv[0], a[1] + wv[1], a[2] + wv[2]

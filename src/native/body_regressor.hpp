// The regressor of one body from its motion, forwards and backwards.
#pragma once

#include "screws.hpp"

namespace IPARAM_PATH {

// The symmetric products of two vectors: (w v^T + v w^T) / 2.
template <class T> [[gnu::always_inline]] inline Symmetric<T> products(const Vector<T>& w, const Vector<T>& v)
{
    return {w.x * v.x, 0.5 * (w.x * v.y + w.y * v.x), 0.5 * (w.x * v.z + w.z * v.x), w.y * v.y,
        0.5 * (w.y * v.z + w.z * v.y), w.z * v.z};
}

// What a body's regressor is made of, and linear in: the products of omega, alpha, and the acceleration a of the
// frame's origin minus gravity.
struct Ingredients {
    Symmetric<Lanes> ww;
    Vector<Lanes> l, a;
};

[[gnu::always_inline]] inline Ingredients ingredients(const BodyMotion& m) { return {products(m.w, m.w), m.l, m.a}; }

// The same from the twist and the spatial acceleration: a + omega x v is that of the point.
[[gnu::always_inline]] inline Ingredients ingredients(const Twist& v, const Twist& a)
{
    return {products(v.w, v.w), a.w, a.v + cross(v.w, v.v)};
}

// The 6x10 regressor of a body in its frame: rows [force, moment], columns phi.
//
// f = m a + alpha x h + omega x (omega x h) and n = I alpha + omega x (I omega) + h x a, with h = m c, written as a
// matrix times phi. It is linear in its ingredients, so the same function makes its derivatives.
struct Regressor {
    Lanes rows[6][10];
};

[[gnu::always_inline]] inline Regressor regressor(const Ingredients& made_of)
{
    const auto& [xx, xy, xz, yy, yz, zz] = made_of.ww;
    const Vector<Lanes>&l = made_of.l, &a = made_of.a;
    const Lanes o = all(0.0);
    return {{
        {a.x, -(yy + zz), xy - l.z, xz + l.y, o, o, o, o, o, o},
        {a.y, xy + l.z, -(xx + zz), yz - l.x, o, o, o, o, o, o},
        {a.z, xz - l.y, yz + l.x, -(xx + yy), o, o, o, o, o, o},
        {o, o, a.z, -a.y, l.x, l.y - xz, l.z + xy, -yz, yy - zz, yz},
        {o, -a.z, o, a.x, xz, l.x + yz, zz - xx, l.y, l.z - xy, -xz},
        {o, a.y, -a.x, o, -xy, xx - yy, l.x - yz, xy, l.y + xz, l.z},
    }};
}

// Row of the joint that gives the body the twist when it moves at unit speed: the twist times the regressor.
[[gnu::always_inline]] inline void torque_row(const Twist& twist, const Ingredients& made_of, Lanes (&row)[10])
{
    const auto& [xx, xy, xz, yy, yz, zz] = made_of.ww;
    const Vector<Lanes>&l = made_of.l, &a = made_of.a, &t = twist.w, &v = twist.v;
    row[0] = v.x * a.x + v.y * a.y + v.z * a.z;
    row[1] = v.y * (xy + l.z) + v.z * (xz - l.y) - v.x * (yy + zz) + t.z * a.y - t.y * a.z;
    row[2] = v.x * (xy - l.z) + v.z * (yz + l.x) - v.y * (xx + zz) + t.x * a.z - t.z * a.x;
    row[3] = v.x * (xz + l.y) + v.y * (yz - l.x) - v.z * (xx + yy) + t.y * a.x - t.x * a.y;
    row[4] = t.x * l.x + t.y * xz - t.z * xy;
    row[5] = t.x * (l.y - xz) + t.y * (l.x + yz) + t.z * (xx - yy);
    row[6] = t.x * (l.z + xy) + t.y * (zz - xx) + t.z * (l.x - yz);
    row[7] = t.y * l.y - t.x * yz + t.z * xy;
    row[8] = t.x * (yy - zz) + t.y * (l.z - xy) + t.z * (l.y + xz);
    row[9] = t.x * yz - t.y * xz + t.z * l.z;
}

// How the ingredients change when the twist v changes by dv, and the spatial acceleration by da.
[[gnu::always_inline]] inline Ingredients change(const Twist& v, const Twist& dv, const Twist& da)
{
    const Symmetric<Lanes> half = products(v.w, dv.w);
    return {{2.0 * half.xx, 2.0 * half.xy, 2.0 * half.xz, 2.0 * half.yy, 2.0 * half.yz, 2.0 * half.zz}, da.w,
        da.v + cross(dv.w, v.v) + cross(v.w, dv.v)};
}

// How <y, A>, for a matrix y, changes with the motion that the regressor A is made of.
struct Slopes {
    Vector<Lanes> w, l, a;
};

// `regressor` read backwards: every entry of y goes to the quantities that stand in that place of A.
[[gnu::always_inline]] inline Slopes slopes(const Regressor& matrix, const Vector<Lanes>& w)
{
    const auto& y = matrix.rows;
    const Lanes xx = y[5][5] - y[1][2] - y[2][3] - y[4][6];
    const Lanes yy = y[3][8] - y[0][1] - y[2][3] - y[5][5];
    const Lanes zz = y[4][6] - y[0][1] - y[1][2] - y[3][8];
    const Lanes xy = y[0][2] + y[1][1] + y[3][6] - y[4][8] - y[5][4] + y[5][7];
    const Lanes xz = y[0][3] + y[2][1] - y[3][5] + y[4][4] - y[4][9] + y[5][8];
    const Lanes yz = y[1][3] + y[2][2] - y[3][7] + y[3][9] + y[4][5] - y[5][6];
    return {
        {2.0 * w.x * xx + w.y * xy + w.z * xz, 2.0 * w.y * yy + w.x * xy + w.z * yz,
            2.0 * w.z * zz + w.x * xz + w.y * yz},
        {y[2][2] - y[1][3] + y[3][4] + y[4][5] + y[5][6], y[0][3] - y[2][1] + y[3][5] + y[4][7] + y[5][8],
            y[1][1] - y[0][2] + y[3][6] + y[4][8] + y[5][9]},
        {y[0][0] + y[4][3] - y[5][2], y[1][0] - y[3][3] + y[5][1], y[2][0] + y[3][2] - y[4][1]},
    };
}

} // namespace IPARAM_PATH

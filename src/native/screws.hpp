// Twists and screws in base axes about the base's origin, where bodies simply add up.
//
// There the screw S_i of a joint is the same for every body behind it, and V_i, A_i are the twist and acceleration of
// body i (A with the base's -g). Seen from a body, turning joint k changes its motion by very little (Singh, Russell &
// Wensing 2022): with P_k = V_k x S_k and D_k = A_(k-1) x S_k + V_(k-1) x P_k,
//     by q_k:   dV = P_k,  dA = D_k - V x P_k,
//     by dq_k:  dV = S_k,  dA = 2 P_k - V x S_k,
//     by ddq_k: dV = 0,    dA = S_k,
// for every body behind joint k, V being that body's twist.
#pragma once

#include "frames.hpp"

namespace IPARAM_PATH {

struct Twist {
    Vector<Lanes> w, v;
};

[[gnu::always_inline]] inline Twist operator+(const Twist& a, const Twist& b) { return {a.w + b.w, a.v + b.v}; }

template <class T> [[gnu::always_inline]] inline Twist operator*(const T& a, const Twist& b)
{
    return {a * b.w, a * b.v};
}

// ad_x y
[[gnu::always_inline]] inline Twist bracket(const Twist& x, const Twist& y)
{
    return {cross(x.w, y.w), cross(x.w, y.v) + cross(x.v, y.w)};
}

// S, P and D of a joint, and V and A of the body behind it.
struct Screw {
    Twist s, p, d, v, a;
};

[[gnu::always_inline]] inline Screw base_screw(const double* gravity)
{
    const Twist none = {zero(), zero()};
    return {none, none, none, none, {zero(), {all(-gravity[0]), all(-gravity[1]), all(-gravity[2])}}};
}

// The screw of the joint about, or along, z of the frame behind it.
[[gnu::always_inline]] inline Screw advance(
    const Screw& before, const Body& body, const Frame& frame, Lanes dq, Lanes ddq)
{
    const Vector<Lanes> z = column_z(frame.r);
    Screw screw;
    screw.s = body.prismatic != 0.0 ? Twist{zero(), z} : Twist{z, cross(frame.p, z)};
    screw.p = bracket(before.v, screw.s);
    screw.d = bracket(before.a, screw.s) + bracket(before.v, screw.p);
    screw.v = before.v + dq * screw.s;
    screw.a = before.a + ddq * screw.s + dq * screw.p;
    return screw;
}

// A twist of the base's axes and origin in those of a frame.
[[gnu::always_inline]] inline Twist seen_from(const Frame& frame, const Twist& twist)
{
    return {turn_back(frame.r, twist.w), turn_back(frame.r, twist.v + cross(twist.w, frame.p))};
}

// Several bodies as one: mass, first moment and inertia.
struct CompositeBody {
    double mass;
    Vector<Lanes> first;
    Symmetric<Lanes> inertia;
};

// Mass, first moment and inertia of a body, given in a frame (R, p), in the axes and about the origin that R and p are
// in.
template <class T>
[[gnu::always_inline]] inline CompositeBody moved(const T& body, const Matrix<Lanes>& r, const Vector<Lanes>& p)
{
    const Vector<Lanes> h = r * body.first;
    // Columns of I R^T, then rows of R times them.
    const Vector<Lanes> x = body.inertia * r.x, y = body.inertia * r.y, z = body.inertia * r.z;
    // Shifting the point by -p: with g = 2 h + m p, I grows by the symmetric part of (p.g) E - p g^T.
    const Vector<Lanes> shift = body.mass * p, g = 2.0 * h + shift;
    const Lanes xx = p.x * g.x, yy = p.y * g.y, zz = p.z * g.z;
    return {body.mass, h + shift,
        {dot(r.x, x) + yy + zz, dot(r.x, y) - 0.5 * (p.x * g.y + p.y * g.x),
            dot(r.x, z) - 0.5 * (p.x * g.z + p.z * g.x), dot(r.y, y) + xx + zz,
            dot(r.y, z) - 0.5 * (p.y * g.z + p.z * g.y), dot(r.z, z) + xx + yy}};
}

template <class T> [[gnu::always_inline]] inline void operator+=(CompositeBody& a, const T& b)
{
    const auto& i = a.inertia;
    const auto& j = b.inertia;
    a = {a.mass + b.mass, a.first + b.first,
        {i.xx + j.xx, i.xy + j.xy, i.xz + j.xz, i.yy + j.yy, i.yz + j.yz, i.zz + j.zz}};
}

// The spatial inertia times a twist.
[[gnu::always_inline]] inline Wrench operator*(const CompositeBody& body, const Twist& twist)
{
    return {body.mass * twist.v + cross(twist.w, body.first), body.inertia * twist.w + cross(body.first, twist.v)};
}

// Power of a wrench on a twist.
[[gnu::always_inline]] inline Lanes power(const Twist& twist, const Wrench& wrench)
{
    return dot(twist.w, wrench.moment) + dot(twist.v, wrench.force);
}

} // namespace IPARAM_PATH

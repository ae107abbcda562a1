// A serial chain and how its bodies move. Joints turn about, or slide along, z of the body behind them.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "vector.hpp"

namespace IPARAM_PATH {

struct Pose {
    Matrix<double> r;
    Vector<double> p;
};

// phi, about the origin of the frame it is given in.
struct Inertial {
    double mass;
    Vector<double> first; // moment: mass times centre
    Symmetric<double> inertia;
};

// What `Chain.packed` of iparam/robot/chain.py holds, in that order.
struct Body {
    Pose origin; // in the frame of the body before, at q = 0
    double prismatic;
    Inertial phi;
    double armature;
    Matrix<double> link_turn; // x_body = R x_link
    Inertial link_phi;
};

struct Chain {
    Pose tool; // in the frame of the last body
    Body bodies[];
};

// A number of joints that the compiler knows.
template <int N> struct Joints {
    constexpr operator long long() const { return N; }
};

// Call `of_joints` with n: for 1 to 8 joints as `Joints`, so that loops over them have a known end and what a recursion
// keeps of each joint has a known place.
template <class Function> [[gnu::always_inline]] inline void for_joints(long long n, const Function& of_joints)
{
    switch (n) {
    case 1:
        return of_joints(Joints<1>());
    case 2:
        return of_joints(Joints<2>());
    case 3:
        return of_joints(Joints<3>());
    case 4:
        return of_joints(Joints<4>());
    case 5:
        return of_joints(Joints<5>());
    case 6:
        return of_joints(Joints<6>());
    case 7:
        return of_joints(Joints<7>());
    case 8:
        return of_joints(Joints<8>());
    default:
        return of_joints(n);
    }
}

// Numbers a joint, or a pair of joints, of which chains of usual length keep theirs on the stack.
template <class T, long long FEW = 8> class PerJoint {
    T few[FEW];
    void* memory = nullptr;
    T* rows = few;

public:
    explicit PerJoint(long long count)
    {
        if (count > FEW) {
            memory = malloc(count * sizeof(T) + alignof(T));
            if (!memory)
                abort();
            rows = reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory) + alignof(T) - 1) & -alignof(T));
        }
    }
    ~PerJoint() { free(memory); }
    PerJoint(const PerJoint&) = delete;
    PerJoint& operator=(const PerJoint&) = delete;
    T& operator[](long long i) { return rows[i]; }
};

// The same of a number that the compiler knows.
template <class T, int COUNT> class Known {
    T rows[COUNT];

public:
    T& operator[](long long i) { return rows[i]; }
};

template <class T> PerJoint<T> per_joint(long long n) { return PerJoint<T>(n); }
template <class T, int N> Known<T, N> per_joint(Joints<N>) { return {}; }

// A row a joint, of a number a joint.
template <class T> PerJoint<T, 64> per_pair(long long n) { return PerJoint<T, 64>(n * n); }
template <class T, int N> Known<T, N * N> per_pair(Joints<N>) { return {}; }

// R Rz(q)
[[gnu::always_inline]] inline Matrix<Lanes> turned_about_z(const Matrix<double>& r, const SinCos& q)
{
    return {{r.x.x * q.cos + r.x.y * q.sin, r.x.y * q.cos - r.x.x * q.sin, all(r.x.z)},
        {r.y.x * q.cos + r.y.y * q.sin, r.y.y * q.cos - r.y.x * q.sin, all(r.y.z)},
        {r.z.x * q.cos + r.z.y * q.sin, r.z.y * q.cos - r.z.x * q.sin, all(r.z.z)}};
}

[[gnu::always_inline]] inline Matrix<Lanes> turned_about_z(const Matrix<Lanes>& r, const SinCos& q)
{
    return {{r.x.x * q.cos + r.x.y * q.sin, r.x.y * q.cos - r.x.x * q.sin, r.x.z},
        {r.y.x * q.cos + r.y.y * q.sin, r.y.y * q.cos - r.y.x * q.sin, r.y.z},
        {r.z.x * q.cos + r.z.y * q.sin, r.z.y * q.cos - r.z.x * q.sin, r.z.z}};
}

[[gnu::always_inline]] inline Vector<Lanes> spread(const Vector<double>& v) { return {all(v.x), all(v.y), all(v.z)}; }

[[gnu::always_inline]] inline Matrix<Lanes> spread(const Matrix<double>& m)
{
    return {spread(m.x), spread(m.y), spread(m.z)};
}

[[gnu::always_inline]] inline Vector<Lanes> load(const Block& block, const double* rows, long long stride, long long at)
{
    return {block.load(rows, stride, at), block.load(rows, stride, at + 1), block.load(rows, stride, at + 2)};
}

[[gnu::always_inline]] inline void store(
    const Block& block, double* rows, long long stride, long long at, const Vector<Lanes>& v)
{
    const Lanes row[3] = {v.x, v.y, v.z};
    block.store_row<3>(rows, stride, at, row);
}

// A matrix (n, n) of each sample.
[[gnu::always_inline]] inline void store_pairs(const Block& block, double* rows, long long n, const Lanes* entries)
{
    block.store_columns(rows, n * n, 0, entries, n * n);
}

template <int N>
[[gnu::always_inline]] inline void store_pairs(const Block& block, double* rows, Joints<N>, const Lanes* entries)
{
    block.store_row<N * N>(rows, N * N, 0, entries);
}

// One joint as the recursion in the bodies' own frames sees it.
struct Step {
    Matrix<Lanes> r; // x_before = R x_behind
    Vector<Lanes> d; // the origin behind, in the frame before
};

[[gnu::always_inline]] inline Step step_of(const Body& body, Lanes q)
{
    const Vector<Lanes> d = spread(body.origin.p);
    if (body.prismatic != 0.0)
        return {spread(body.origin.r), d + q * column_z(body.origin.r)};
    return {turned_about_z(body.origin.r, sin_cos(q)), d};
}

// omega, alpha and a of a body's frame, in its own axes; a minus gravity.
struct BodyMotion {
    Vector<Lanes> w, l, a;
};

// The base's acceleration -g puts gravity into everything that is carried.
[[gnu::always_inline]] inline BodyMotion at_rest(const double* gravity)
{
    const Lanes zero = all(0.0);
    return {{zero, zero, zero}, {zero, zero, zero}, {all(-gravity[0]), all(-gravity[1]), all(-gravity[2])}};
}

// The motion of a frame that is fixed to the same body, R and d as in `Step`.
template <class T>
[[gnu::always_inline]] inline BodyMotion attach(const BodyMotion& m, const Matrix<T>& r, const Vector<T>& d)
{
    const Vector<Lanes> a = m.a + cross(m.l, d) + cross(m.w, cross(m.w, d));
    return {turn_back(r, m.w), turn_back(r, m.l), turn_back(r, a)};
}

[[gnu::always_inline]] inline BodyMotion advance(
    const BodyMotion& before, const Body& body, const Step& step, Lanes dq, Lanes ddq)
{
    BodyMotion m = attach(before, step.r, step.d);
    const Lanes x = m.w.y * dq, y = m.w.x * dq; // omega x z dq = (x, -y, 0)
    if (body.prismatic != 0.0) {
        m.a = {m.a.x + 2.0 * x, m.a.y - 2.0 * y, m.a.z + ddq};
    } else {
        m.l = {m.l.x + x, m.l.y - y, m.l.z + ddq};
        m.w.z += dq;
    }
    return m;
}

struct Wrench {
    Vector<Lanes> force, moment;
};

// Force and moment, about the frame's origin, that move a body: f = m a + alpha x h + omega x (omega x h) and
// n = I alpha + omega x (I omega) + h x a.
[[gnu::always_inline]] inline Wrench body_wrench(const Inertial& phi, const BodyMotion& m)
{
    const Vector<double>& h = phi.first;
    return {phi.mass * m.a + cross(m.l, h) + cross(m.w, cross(m.w, h)),
        phi.inertia * m.l + cross(m.w, phi.inertia * m.w) + cross(h, m.a)};
}

} // namespace IPARAM_PATH

// Shapes that are fixed to the bodies of a chain, body 0 being the base, and what is common to distances between them.
#pragma once

#include "frames.hpp"

namespace IPARAM_PATH {

// Rows of the tables, as iparam/robot/collision/shapes.py writes them.
struct Capsule {
    double body;
    Vector<double> start, end;
    double radius;
};

struct Box {
    double body;
    Matrix<double> r;
    Vector<double> centre, half;
};

struct Ball {
    double body;
    Vector<double> centre;
    double radius;
};

struct Plane {
    Vector<double> normal; // into the free space
    double offset;
};

struct Pair {
    long long first, second;
};

[[gnu::always_inline]] inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Lanes absolute(Lanes x) { return (Lanes)((Bits)x & 0x7fffffffffffffffll); }
[[gnu::always_inline]] inline Lanes clamp(Lanes x) { return x < 0.0 ? all(0.0) : x > 1.0 ? all(1.0) : x; }

[[gnu::always_inline]] inline Lanes root(Lanes x)
{
    for (int lane = 0; lane < WIDTH; lane++)
        x[lane] = __builtin_sqrt(x[lane]);
    return x;
}

[[gnu::always_inline]] inline Vector<Lanes> choose(Bits mask, const Vector<Lanes>& a, const Vector<Lanes>& b)
{
    return {mask ? a.x : b.x, mask ? a.y : b.y, mask ? a.z : b.z};
}

// The frames of all bodies, the base's first.
class Bodies {
    const Chain* chain;
    long long n;
    PerJoint<Frame> frames;

public:
    Bodies(const Chain* given, long long joints)
        : chain(given)
        , n(joints)
        , frames(joints + 1)
    {
    }

    [[gnu::always_inline]] void move(const Block& block, const double* q)
    {
        frames[0] = base_frame();
        for (long long i = 0; i < n; i++) {
            frames[i + 1] = frames[i];
            advance(frames[i + 1], chain->bodies[i], block.load(q, n, i));
        }
    }

    Frame& operator[](double body) { return frames[(long long)body]; }

    [[gnu::always_inline]] Vector<Lanes> place(double body, const Vector<double>& point)
    {
        const Frame& frame = (*this)[body];
        return frame.r * point + frame.p;
    }

    // d(normal . point)/dq_i of a point that joint i carries.
    [[gnu::always_inline]] Lanes slope(long long i, const Vector<Lanes>& point, const Vector<Lanes>& normal)
    {
        const Frame& frame = frames[i + 1];
        const Vector<Lanes> z = column_z(frame.r);
        return chain->bodies[i].prismatic != 0.0 ? dot(normal, z) : dot(normal, cross(z, point - frame.p));
    }

    // Write d(normal . (here - there))/dq, here and there being fixed to bodies: by the envelope theorem the gradient
    // of a distance, whose closest points they are.
    [[gnu::always_inline]] void store_gradient(const Block& block, double* gradients, long long pairs, long long pair,
        const Vector<Lanes>& normal, double body, const Vector<Lanes>& here, double other, const Vector<Lanes>& there)
    {
        for (long long i = 0; i < n; i++) {
            Lanes total = all(0.0);
            if (i < body)
                total += slope(i, here, normal);
            if (i < other)
                total -= slope(i, there, normal);
            block.store(gradients, pairs * n, pair * n + i, total);
        }
    }
};

} // namespace IPARAM_PATH

// Joint torques and their derivatives, in base axes about the base's origin; see screws.hpp.
#include "screws.hpp"

using namespace IPARAM_PATH;

namespace {

// What adds up over bodies: m, h and I, the momentum's linear part, the wrench that moves the body, and the spin
// matrix.
//
// A change dV = x of the twist, together with dA = -V x x, changes the body's wrench by
//     moment 2 [S (w x x) - (I w) x x + h x (x x v)], force 2 x x momentum, with S = tr(I)/2 - I,
// which depends on the angular part of x alone; the spin matrix is the 3x3 matrix of that moment.
struct MovingBody {
    CompositeBody body;
    Vector<Lanes> momentum;
    Wrench wrench;
    Matrix<Lanes> spin;
};

[[gnu::always_inline]] inline MovingBody moving(const CompositeBody& body, const Twist& v, const Twist& a)
{
    const Symmetric<Lanes>& i = body.inertia;
    const Vector<Lanes>& h = body.first;
    const Vector<Lanes> iw = i * v.w, wh = cross(v.w, h);
    const Vector<Lanes> b = a.v + cross(v.w, v.v); // of the point at the base's origin
    const Lanes half = 0.5 * (i.xx + i.yy + i.zz), hv = 2.0 * dot(h, v.v);
    // Rows of 2 (S [w]x - [I w]x + h.v - v h^T).
    const Vector<Lanes> sx = {half - i.xx, -i.xy, -i.xz}, sy = {-i.xy, half - i.yy, -i.yz},
                        sz = {-i.xz, -i.yz, half - i.zz};
    Matrix<Lanes> spin = {
        2.0 * (cross(sx, v.w) - v.v.x * h), 2.0 * (cross(sy, v.w) - v.v.y * h), 2.0 * (cross(sz, v.w) - v.v.z * h)};
    spin.x += {hv, 2.0 * iw.z, -2.0 * iw.y};
    spin.y += {-2.0 * iw.z, hv, 2.0 * iw.x};
    spin.z += {2.0 * iw.y, -2.0 * iw.x, hv};
    return {body, body.mass * v.v + wh,
        {body.mass * b + cross(a.w, h) + cross(v.w, wh), i * a.w + cross(v.w, iw) + cross(h, b)}, spin};
}

[[gnu::always_inline]] inline Wrench operator+(const Wrench& a, const Wrench& b)
{
    return {a.force + b.force, a.moment + b.moment};
}

// How the wrench changes with a change x of angular velocity.
[[gnu::always_inline]] inline Wrench spun(const MovingBody& moving, const Vector<Lanes>& x)
{
    return {2.0 * cross(x, moving.momentum), moving.spin * x};
}

} // namespace

// tau (N, n) and its derivatives (N, n, n), [i, k] being that of torque i by joint k.
KERNEL(void, inverse_dynamics_derivatives)(long long samples, long long n, const Chain* chain, const double* gravity,
    const double* q, const double* dq, const double* ddq, const double* tip, double* __restrict tau,
    double* __restrict by_q, double* __restrict by_dq, double* __restrict by_ddq)
{
    PerJoint<Screw> screws(n);
    PerJoint<MovingBody> bodies(n);
    const long long nn = n * n;
    for_blocks(samples, [&](const Block& block) {
        Frame frame = base_frame();
        Screw screw = base_screw(gravity);
        for (long long i = 0; i < n; i++) {
            const Body& body = chain->bodies[i];
            advance(frame, body, block.load(q, n, i));
            screw = screws[i] = advance(screw, body, frame, block.load(dq, n, i), block.load(ddq, n, i));
            bodies[i] = moving(moved(body.phi, frame.r, frame.p), screw.v, screw.a);
        }
        if (tip) { // It goes with the tool: a load of the last body that no motion changes.
            attach(frame, chain->tool);
            const Vector<Lanes> force = frame.r * load(block, tip, 6, 3);
            const Wrench load_of_tip = {force, frame.r * load(block, tip, 6, 0) + cross(frame.p, force)};
            bodies[n - 1].wrench = bodies[n - 1].wrench + load_of_tip;
        }
        for (long long j = n - 1; j >= 0; j--) {
            MovingBody& behind = bodies[j]; // all bodies behind joint j as one
            if (j < n - 1) {
                const MovingBody& next = bodies[j + 1];
                behind.body += next.body;
                behind.momentum += next.momentum;
                behind.wrench = behind.wrench + next.wrench;
                behind.spin.x += next.spin.x;
                behind.spin.y += next.spin.y;
                behind.spin.z += next.spin.z;
            }
            const Screw& own = screws[j];
            const double armature = chain->bodies[j].armature;
            block.store(tau, n, j, power(own.s, behind.wrench) + armature * block.load(ddq, n, j));
            // Column j: what joint j changes in the wrench of the bodies behind it, felt by the joints up to j.
            const Wrench carried = {cross(own.s.w, behind.wrench.force),
                cross(own.s.w, behind.wrench.moment) + cross(own.s.v, behind.wrench.force)};
            const Wrench of_ddq = behind.body * own.s;
            const Wrench of_q = behind.body * own.d + spun(behind, own.p.w) + carried;
            const Wrench of_dq = behind.body * (2.0 * own.p) + spun(behind, own.s.w);
            // Row j: the transposed spin matrix times the screw, for what the joints before j change behind it.
            const Vector<Lanes> back = turn_back(behind.spin, own.s.w) + 2.0 * cross(behind.momentum, own.s.v);
            for (long long i = 0; i <= j; i++) {
                const Screw& other = screws[i];
                const Lanes mass = power(other.s, of_ddq) + (i == j ? armature : 0.0);
                block.store(by_q, nn, i * n + j, power(other.s, of_q));
                block.store(by_dq, nn, i * n + j, power(other.s, of_dq));
                block.store(by_ddq, nn, i * n + j, mass);
                if (i < j) {
                    block.store(by_q, nn, j * n + i, power(other.d, of_ddq) + dot(back, other.p.w));
                    block.store(by_dq, nn, j * n + i, 2.0 * power(other.p, of_ddq) + dot(back, other.s.w));
                    block.store(by_ddq, nn, j * n + i, mass);
                }
            }
        }
    });
}

// The Jacobian of the tool and its derivative by time.
#include "frames.hpp"

using namespace IPARAM_PATH;

namespace {

// Axis of a joint and a point on it, with their derivatives by time; in the axes of the base.
struct Axis {
    Vector<Lanes> z, dz, p, v;
};

} // namespace

// J (N, 6, n), rows [omega, v] of the tool's origin, and dJ/dt; in the axes of the tool or of the base.
KERNEL(void, jacobian)(long long samples, long long joints, const Chain* chain, long long in_tool, const double* q,
    const double* dq, double* __restrict jac, double* __restrict djac)
{
    for_joints(joints, [&](auto n) {
        const double no_gravity[3] = {0.0, 0.0, 0.0};
        auto axes = per_joint<Axis>(n);
        for_blocks(samples, [&](const Block& block) {
            Frame frame = base_frame();
            FrameMotion motion = base_at_rest(no_gravity);
            for (long long i = 0; i < n; i++) {
                advance(frame, motion, chain->bodies[i], block.load(q, n, i), block.load(dq, n, i), all(0.0));
                // The axis turns with the body behind the joint: its own motion about the axis does not matter.
                const Vector<Lanes> z = column_z(frame.r);
                axes[i] = {z, cross(motion.w, z), frame.p, motion.v};
            }
            motion = carry(motion, attach(frame, chain->tool));
            for (long long i = 0; i < n; i++) {
                const Axis& axis = axes[i];
                Vector<Lanes> w = axis.z, dw = axis.dz, v, dv;
                if (chain->bodies[i].prismatic != 0.0) {
                    v = w, dv = dw;
                    w = dw = zero();
                } else {
                    const Vector<Lanes> d = frame.p - axis.p;
                    v = cross(axis.z, d);
                    dv = cross(axis.dz, d) + cross(axis.z, motion.v - axis.v);
                }
                if (in_tool) {
                    dw = turn_back(frame.r, dw - cross(motion.w, w));
                    dv = turn_back(frame.r, dv - cross(motion.w, v));
                    w = turn_back(frame.r, w);
                    v = turn_back(frame.r, v);
                }
                const Lanes column[6] = {w.x, w.y, w.z, v.x, v.y, v.z},
                            change[6] = {dw.x, dw.y, dw.z, dv.x, dv.y, dv.z};
                for (int row = 0; row < 6; row++) {
                    block.store(jac, 6 * n, row * n + i, column[row]);
                    block.store(djac, 6 * n, row * n + i, change[row]);
                }
            }
        });
    });
}

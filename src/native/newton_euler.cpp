// The recursion of Newton and Euler in two halves, with the motion of every link and the wrench through every joint.
#include "frames.hpp"

using namespace IPARAM_PATH;

// Pose (N, n, 4, 4), twist and spatial acceleration (N, n, 6) [omega, v] of every link, in its own frame.
KERNEL(void, forward_pass)(long long samples, long long n, const Chain* chain, const double* gravity, const double* q,
    const double* dq, const double* ddq, double* __restrict poses, double* __restrict twists,
    double* __restrict accelerations)
{
    for_blocks(samples, [&](const Block& block) {
        Frame frame = base_frame();
        FrameMotion motion = base_at_rest(gravity);
        for (long long i = 0; i < n; i++) {
            const Body& body = chain->bodies[i];
            advance(frame, motion, body, block.load(q, n, i), block.load(dq, n, i), block.load(ddq, n, i));
            const Frame link = {frame.r * body.link_turn, frame.p};
            store_pose(block, poses, 16 * n, 16 * i, link);
            store(block, twists, 6 * n, 6 * i, turn_back(link.r, motion.w));
            store(block, twists, 6 * n, 6 * i + 3, turn_back(link.r, motion.v));
            // The spatial acceleration is the derivative of the twist's components, not of the point's velocity.
            store(block, accelerations, 6 * n, 6 * i, turn_back(link.r, motion.l));
            store(block, accelerations, 6 * n, 6 * i + 3, turn_back(link.r, motion.a - cross(motion.w, motion.v)));
        }
    });
}

namespace {

[[gnu::always_inline]] inline Frame load_pose(
    const Block& block, const double* rows, long long stride, long long column)
{
    const Block& b = block;
    const long long s = stride, c = column;
    return {{load(b, rows, s, c), load(b, rows, s, c + 4), load(b, rows, s, c + 8)},
        {b.load(rows, s, c + 3), b.load(rows, s, c + 7), b.load(rows, s, c + 11)}};
}

// A wrench given in a frame, about its origin, in base axes about the base's origin.
[[gnu::always_inline]] inline Wrench to_base(const Frame& frame, const Wrench& own)
{
    const Vector<Lanes> force = frame.r * own.force;
    return {force, frame.r * own.moment + cross(frame.p, force)};
}

} // namespace

// Wrench (N, n, 6) [moment, force] on every link through its joint, in its own frame, and joint torques (N, n) without
// those of rotors. tip (N, 6) is what the tool, at tip_pose (N, 4, 4), exerts; null: nothing.
KERNEL(void, backward_pass)(long long samples, long long n, const Chain* chain, const double* tip_pose,
    const double* poses, const double* twists, const double* accelerations, const double* tip,
    double* __restrict wrenches, double* __restrict tau)
{
    for_blocks(samples, [&](const Block& block) {
        Wrench sum = {zero(), zero()};
        if (tip)
            sum = to_base(load_pose(block, tip_pose, 16, 0), {load(block, tip, 6, 3), load(block, tip, 6, 0)});
        for (long long i = n - 1; i >= 0; i--) {
            const Body& body = chain->bodies[i];
            const Frame link = load_pose(block, poses, 16 * n, 16 * i);
            const Vector<Lanes> w = load(block, twists, 6 * n, 6 * i), v = load(block, twists, 6 * n, 6 * i + 3);
            const Vector<Lanes> l = load(block, accelerations, 6 * n, 6 * i);
            const Vector<Lanes> a = load(block, accelerations, 6 * n, 6 * i + 3) + cross(w, v);
            const Wrench own = to_base(link, body_wrench(body.link_phi, {w, l, a}));
            sum = {sum.force + own.force, sum.moment + own.moment};
            const Vector<Lanes> force = turn_back(link.r, sum.force);
            const Vector<Lanes> moment = turn_back(link.r, sum.moment - cross(link.p, sum.force));
            // The joint's axis in the link's frame.
            const Vector<double> z = body.link_turn.z;
            block.store(tau, n, i, body.prismatic != 0.0 ? dot(z, force) : dot(z, moment));
            store(block, wrenches, 6 * n, 6 * i, moment);
            store(block, wrenches, 6 * n, 6 * i + 3, force);
        }
    });
}

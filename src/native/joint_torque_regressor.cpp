// The joint-torque regressor of the arm itself: its torques are Y times the inertial parameters of its bodies.
#include "body_regressor.hpp"
#include "streaming.hpp"

using namespace IPARAM_PATH;

// Y (N, n, 10 n): columns phi of each body in its link's frame, from the base.
KERNEL(void, joint_torque_regressor)(long long samples, long long joints, const Chain* chain, const double* gravity,
    const double* q, const double* dq, const double* ddq, double* __restrict out)
{
    for_joints(joints, [&](auto n) {
        auto screws = per_joint<Twist>(n);
        const long long size = 10 * n * n;
        const bool streamed = samples * size * (long long)sizeof(double) > BEYOND_CACHES;
        PerJoint<Lanes, 640> matrices(streamed ? size : 0); // of a block
        double* const nearby = reinterpret_cast<double*>(&matrices[0]);
        for_blocks(samples, [&](const Block& block) {
            const Block target = {0, block.count};
            double* __restrict const rows = streamed ? nearby : out + block.first * size;
            Frame frame = base_frame();
            FrameMotion motion = base_at_rest(gravity);
            for (long long b = 0; b < n; b++) {
                const Body& body = chain->bodies[b];
                advance(frame, motion, body, block.load(q, n, b), block.load(dq, n, b), block.load(ddq, n, b));
                const Vector<Lanes> z = column_z(frame.r);
                screws[b] = body.prismatic != 0.0 ? Twist{zero(), z} : Twist{z, cross(frame.p, z)};
                const Frame link = {frame.r * body.link_turn, frame.p};
                const Ingredients own = ingredients(
                    BodyMotion{turn_back(link.r, motion.w), turn_back(link.r, motion.l), turn_back(link.r, motion.a)});
                Lanes row[10];
                for (long long i = 0; i <= b; i++) {
                    torque_row(seen_from(link, screws[i]), own, row);
                    target.store_row<10>(rows, size, (i * n + b) * 10, row);
                }
                for (Lanes& entry : row)
                    entry = all(0.0);
                for (long long i = b + 1; i < n; i++) // a body does not load the joints behind it
                    target.store_row<10>(rows, size, (i * n + b) * 10, row);
            }
            if (streamed)
                stream(out + block.first * size, nearby, block.count * size);
        });
        if (streamed)
            end_of_stream();
    });
}

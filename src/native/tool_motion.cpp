// Pose and motion of the tool.
#include "frames.hpp"

using namespace IPARAM_PATH;

// Pose (N, 4, 4) and, in tool axes, v, omega, a and alpha (N, 3) of the tool frame.
KERNEL(void, tool_motion)(long long samples, long long joints, const Chain* chain, const double* q, const double* dq,
    const double* ddq, double* __restrict pose, double* __restrict v, double* __restrict w, double* __restrict a,
    double* __restrict l)
{
    for_joints(joints, [&](auto n) {
        const double no_gravity[3] = {0.0, 0.0, 0.0};
        for_blocks(samples, [&](const Block& block) {
            Frame frame = base_frame();
            FrameMotion motion = base_at_rest(no_gravity);
            for (long long i = 0; i < n; i++)
                advance(
                    frame, motion, chain->bodies[i], block.load(q, n, i), block.load(dq, n, i), block.load(ddq, n, i));
            motion = carry(motion, attach(frame, chain->tool));
            store_pose(block, pose, 16, 0, frame);
            store(block, v, 3, 0, turn_back(frame.r, motion.v));
            store(block, w, 3, 0, turn_back(frame.r, motion.w));
            store(block, a, 3, 0, turn_back(frame.r, motion.a));
            store(block, l, 3, 0, turn_back(frame.r, motion.l));
        });
    });
}

// Poses of frames that are fixed to bodies.
#include "frames.hpp"

using namespace IPARAM_PATH;

// Poses (N, F, 4, 4) of F frames: the body of each, 0 being the base, and its pose on that body.
KERNEL(void, frame_poses)(long long samples, long long n, const Chain* chain, long long frames, const long long* bodies,
    const Pose* offsets, const double* q, double* __restrict poses)
{
    for_blocks(samples, [&](const Block& block) {
        Frame frame = base_frame();
        for (long long i = 0; i <= n; i++) {
            if (i > 0)
                advance(frame, chain->bodies[i - 1], block.load(q, n, i - 1));
            for (long long f = 0; f < frames; f++) {
                if (bodies[f] == i) {
                    Frame fixed = frame;
                    attach(fixed, offsets[f]);
                    store_pose(block, poses, 16 * frames, 16 * f, fixed);
                }
            }
        }
    });
}

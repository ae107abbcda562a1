// The wrench regressor of a payload: what a sensor at the tool reads is A phi.
#include "body_regressor.hpp"

using namespace IPARAM_PATH;

// A (N, 6, 10) of a payload on the tool: [force, torque] in tool axes about the tool's origin.
KERNEL(void, wrench_regressor)(long long samples, long long joints, const Chain* chain, const double* gravity,
    const double* q, const double* dq, const double* ddq, double* __restrict out)
{
    for_joints(joints, [&](auto n) {
        for_blocks(samples, [&](const Block& block) {
            BodyMotion motion = at_rest(gravity);
            for (long long i = 0; i < n; i++) {
                const Body& body = chain->bodies[i];
                const Step step = step_of(body, block.load(q, n, i));
                motion = advance(motion, body, step, block.load(dq, n, i), block.load(ddq, n, i));
            }
            motion = attach(motion, chain->tool.r, chain->tool.p);
            block.store_row<60>(out, 60, 0, regressor(ingredients(motion)).rows[0]);
        });
    });
}

// A (N, 6, 10) of a body from omega, alpha and a - g (N, 3) of its frame, in its axes.
KERNEL(void, body_regressor)(
    long long samples, const double* w, const double* l, const double* a, double* __restrict out)
{
    for_blocks(samples, [&](const Block& block) {
        const BodyMotion motion = {load(block, w, 3, 0), load(block, l, 3, 0), load(block, a, 3, 0)};
        block.store_row<60>(out, 60, 0, regressor(ingredients(motion)).rows[0]);
    });
}

// Joint torques of a motion: the recursion of Newton and Euler, each body in its own frame.
#include "chain.hpp"

using namespace IPARAM_PATH;

// tau (N, n) from q, dq, ddq (N, n), the tool exerting tip (N, 6) [moment, force] on the environment; null: nothing.
KERNEL(void, inverse_dynamics)(long long samples, long long joints, const Chain* chain, const double* gravity,
    const double* q, const double* dq, const double* ddq, const double* tip, double* __restrict tau)
{
    for_joints(joints, [&](auto n) {
        auto steps = per_joint<Step>(n);
        auto wrenches = per_joint<Wrench>(n);
        for_blocks(samples, [&](const Block& block) {
            BodyMotion motion = at_rest(gravity);
            for (long long i = 0; i < n; i++) {
                const Body& body = chain->bodies[i];
                steps[i] = step_of(body, block.load(q, n, i));
                motion = advance(motion, body, steps[i], block.load(dq, n, i), block.load(ddq, n, i));
                wrenches[i] = body_wrench(body.phi, motion);
            }
            Wrench carried = {};
            if (tip) {
                carried.force = chain->tool.r * load(block, tip, 6, 3);
                carried.moment = chain->tool.r * load(block, tip, 6, 0) + cross(chain->tool.p, carried.force);
            }
            for (long long i = n - 1; i >= 0; i--) {
                const Body& body = chain->bodies[i];
                const Vector<Lanes> force = wrenches[i].force + carried.force,
                                    moment = wrenches[i].moment + carried.moment;
                const Lanes effort = body.prismatic != 0.0 ? force.z : moment.z;
                block.store(tau, n, i, effort + body.armature * block.load(ddq, n, i));
                carried.force = steps[i].r * force;
                carried.moment = steps[i].r * moment + cross(steps[i].d, carried.force);
            }
        });
    });
}

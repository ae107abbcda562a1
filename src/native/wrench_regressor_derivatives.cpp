// The wrench regressor of a payload and its derivatives.
#include "tool_twist.hpp"

using namespace IPARAM_PATH;

// A (N, 6, 10) and its derivatives (N, n, 6, 10) by each joint's q, dq and ddq.
KERNEL(void, wrench_regressor_derivatives)(long long samples, long long n, const Chain* chain, const double* gravity,
    const double* q, const double* dq, const double* ddq, double* __restrict out, double* __restrict by_q,
    double* __restrict by_dq, double* __restrict by_ddq)
{
    PerJoint<JointState> joints(n);
    PerJoint<ToolColumn> columns(n);
    for_blocks(samples, [&](const Block& block) {
        for (long long i = 0; i < n; i++)
            joints[i] = {block.load(q, n, i), block.load(dq, n, i), block.load(ddq, n, i)};
        const auto [v, a] = tool_twist(n, *chain, gravity, joints, columns);
        block.store_row<60>(out, 60, 0, regressor(ingredients(v, a)).rows[0]);
        for (long long i = 0; i < n; i++) {
            const auto& [j, dj, v_by_q, a_by_q] = columns[i];
            const Twist none = {zero(), zero()};
            const Ingredients changes[3] = {change(v, v_by_q, a_by_q), change(v, j, dj + v_by_q), change(v, none, j)};
            double* outputs[3] = {by_q, by_dq, by_ddq};
            for (int order = 0; order < 3; order++)
                block.store_row<60>(outputs[order], 60 * n, 60 * i, regressor(changes[order]).rows[0]);
        }
    });
}

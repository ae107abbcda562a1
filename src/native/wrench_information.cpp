// Second-order information about the payload's Gram matrix W = sum_k A_k^T S A_k along a motion.
#include "tool_twist.hpp"

using namespace IPARAM_PATH;

namespace {

// The columns of a row of a regressor that can be other than zero.
constexpr int first_column(int row) { return row < 3 ? 0 : 1; }
constexpr int end_column(int row) { return row < 3 ? 4 : 10; }

// Y = A W with S, for the rows of a regressor that can be other than zero.
[[gnu::always_inline]] inline Regressor weighted(
    const Regressor& matrix, const double* row_weights, const double (*weights)[10])
{
    Regressor product;
    for (int r = 0; r < 6; r++) {
        for (int c = 0; c < 10; c++) {
            Lanes sum = all(0.0);
            for (int d = first_column(r); d < end_column(r); d++)
                sum += matrix.rows[r][d] * weights[d][c];
            product.rows[r][c] = 2.0 * row_weights[r] * sum;
        }
    }
    return product;
}

[[gnu::always_inline]] inline Lanes along(const Twist& a, const Twist& slope)
{
    return dot(a.w, slope.w) + dot(a.v, slope.v);
}

} // namespace

// What each sample's q, dq and ddq change in D A_k^T S A_k D, S of the row weights and D of the column scales: (N, 3,
// n, 10, 10).
KERNEL(void, wrench_gram_changes)(long long samples, long long n, const Chain* chain, const double* gravity,
    const double* row_weights, const double* scales, const double* q, const double* dq, const double* ddq,
    double* __restrict changes)
{
    PerJoint<JointState> joints(n);
    PerJoint<ToolColumn> columns(n);
    for_blocks(samples, [&](const Block& block) {
        for (long long i = 0; i < n; i++)
            joints[i] = {block.load(q, n, i), block.load(dq, n, i), block.load(ddq, n, i)};
        const auto [v, a] = tool_twist(n, *chain, gravity, joints, columns);
        const Regressor matrix = regressor(ingredients(v, a));
        for (long long i = 0; i < n; i++) {
            const auto& [j, dj, v_by_q, a_by_q] = columns[i];
            const Twist none = {zero(), zero()};
            const Ingredients made_of[3] = {change(v, v_by_q, a_by_q), change(v, j, dj + v_by_q), change(v, none, j)};
            for (int order = 0; order < 3; order++) {
                const Regressor slope = regressor(made_of[order]);
                Lanes made[10][10] = {};
                for (int r = 0; r < 6; r++)
                    for (int c = first_column(r); c < end_column(r); c++)
                        for (int d = c; d < end_column(r); d++)
                            made[c][d] += row_weights[r]
                                * (matrix.rows[r][c] * slope.rows[r][d] + slope.rows[r][c] * matrix.rows[r][d]);
                for (int c = 0; c < 10; c++)
                    for (int d = c; d < 10; d++)
                        made[d][c] = made[c][d] = scales[c] * scales[d] * made[c][d];
                block.store_columns(changes, 300 * n, (order * n + i) * 100, made[0], 100);
            }
        }
    });
}

// Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by [q, dq, ddq] of <weights, A_k^T S A_k> for every sample; weights (10,
// 10) are symmetric. The gradient is exact; the Hessian is its forward difference, good to `step`, which is enough for
// Newton steps.
KERNEL(void, wrench_curvature)(long long samples, long long n, const Chain* chain, const double* gravity,
    const double* row_weights, const double (*weights)[10], const double* q, const double* dq, const double* ddq,
    double step, double* __restrict gradient, double* __restrict hessian)
{
    PerJoint<ToolColumn> columns(n);
    // The chain of A's construction is walked backwards: from A to the products of omega, alpha and a, from there to
    // the twist and its derivative, and from those, by their known derivatives, to the joints.
    const auto slope = [&](PerJoint<JointState>& joints, Lanes* found) __attribute__((noinline)) {
        const auto [v, a] = tool_twist(n, *chain, gravity, joints, columns);
        const Slopes by = slopes(weighted(regressor(ingredients(v, a)), row_weights, weights), v.w);
        const Twist by_twist = {by.w + cross(v.v, by.a), cross(by.a, v.w)}, by_accel = {by.l, by.a};
        for (long long i = 0; i < n; i++) {
            const auto& [j, dj, v_by_q, a_by_q] = columns[i];
            found[i] = along(v_by_q, by_twist) + along(a_by_q, by_accel);
            found[n + i] = along(j, by_twist) + along(dj + v_by_q, by_accel);
            found[2 * n + i] = along(j, by_accel);
        }
    };
    curvature(samples, n, q, dq, ddq, step, gradient, hessian, slope);
}

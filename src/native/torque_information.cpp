// Second-order information about the Gram matrix W = sum_k Y_k^T S Y_k of the arm's own base parameters.
//
// Y holds the independent columns of the joint-torque regressor, sorted, and first[i] is the first of them that belongs
// to body i or one behind it: joint i feels no other.
#include "body_regressor.hpp"
#include "curvature.hpp"

using namespace IPARAM_PATH;

KERNEL(void, joint_torque_regressor_derivatives)(long long samples, long long n, const Chain* chain,
    const double* gravity, const double* q, const double* dq, const double* ddq, double* __restrict out,
    double* __restrict changes);

// W (r, r), and what each sample's q, dq and ddq change in it: (N, 3, n, r, r). Work has room for Y and its derivatives
// of `block` samples, n * 10 n * (1 + 3 n) each, and for rows and slopes, 2 n r.
KERNEL(void, torque_gram_products)(long long samples, long long n, const Chain* chain, const double* gravity,
    long long size, const long long* independent, const long long* first, const double* row_weights,
    const double* scales, const double* q, const double* dq, const double* ddq, double* __restrict gram,
    double* __restrict change, long long block, double* __restrict work)
{
    const long long matrix_size = 10 * n * n, changes_size = 3 * n * matrix_size;
    double* matrices = work;
    double* changes = work + block * matrix_size;
    double* rows = changes + block * changes_size;
    double* slopes = rows + n * size;
    memset(gram, 0, size * size * sizeof(double));
    memset(change, 0, samples * 3 * n * size * size * sizeof(double));
    for (long long k = 0; k < samples; k++) {
        const long long in_block = k % block;
        if (in_block == 0) {
            const long long count = samples - k < block ? samples - k : block;
            IPARAM_JOIN(joint_torque_regressor_derivatives, IPARAM_PATH)
            (count, n, chain, gravity, q + k * n, dq + k * n, ddq + k * n, matrices, changes);
        }
        const double* matrix = matrices + in_block * matrix_size;
        for (long long i = 0; i < n; i++) {
            double* row = rows + i * size;
            for (long long c = first[i]; c < size; c++)
                row[c] = matrix[i * 10 * n + independent[c]] * scales[c];
            for (long long c = first[i]; c < size; c++)
                for (long long d = c; d < size; d++)
                    gram[c * size + d] += row_weights[i] * row[c] * row[d];
        }
        for (long long order_and_joint = 0; order_and_joint < 3 * n; order_and_joint++) {
            double* made = change + (k * 3 * n + order_and_joint) * size * size;
            const double* by = changes + in_block * changes_size + order_and_joint * matrix_size;
            for (long long i = 0; i < n; i++) {
                const double* row = rows + i * size;
                double* slope = slopes + i * size;
                for (long long c = first[i]; c < size; c++)
                    slope[c] = by[i * 10 * n + independent[c]] * scales[c];
                for (long long c = first[i]; c < size; c++) {
                    const double y = row_weights[i] * row[c], s = row_weights[i] * slope[c];
                    for (long long d = c; d < size; d++)
                        made[c * size + d] += y * slope[d] + s * row[d];
                }
            }
            for (long long c = 0; c < size; c++)
                for (long long d = 0; d < c; d++)
                    made[c * size + d] = made[d * size + c];
        }
    }
    for (long long c = 0; c < size; c++)
        for (long long d = 0; d < c; d++)
            gram[c * size + d] = gram[d * size + c];
}

namespace {

// S, P and D of a joint as a link behind it sees them.
struct SeenJoint {
    Twist s, p, d;
};

// A link's own motion, and its regressor.
struct SeenLink {
    Twist v;
    Regressor matrix;
};

} // namespace

// Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by [q, dq, ddq] of <weights, Y_k^T S Y_k> for every sample; weights (r,
// r) are symmetric. The gradient is exact; the Hessian is its forward difference, good to `step`.
KERNEL(void, torque_curvature)(long long samples, long long n, const Chain* chain, const double* gravity,
    long long size, const long long* independent, const long long* first, const double* row_weights,
    const double* weights, const double* q, const double* dq, const double* ddq, double step,
    double* __restrict gradient, double* __restrict hessian)
{
    PerJoint<Screw> screws(n);
    PerJoint<SeenJoint, 64> seen(n * n); // joint j from link b at b n + j
    PerJoint<SeenLink> links(n);
    PerJoint<Lanes, 64> row(size);
    PerJoint<Lanes, 8 * 64> weighted(n * size);
    const auto slope = [&](PerJoint<JointState>& joints, Lanes* found) __attribute__((noinline)) {
        Frame frame = base_frame();
        Screw screw = base_screw(gravity);
        for (long long b = 0; b < n; b++) {
            const Body& body = chain->bodies[b];
            advance(frame, body, joints[b].q);
            screw = screws[b] = advance(screw, body, frame, joints[b].dq, joints[b].ddq);
            const Frame link = {frame.r * body.link_turn, frame.p};
            for (long long j = 0; j <= b; j++)
                seen[b * n + j] = {
                    seen_from(link, screws[j].s), seen_from(link, screws[j].p), seen_from(link, screws[j].d)};
            const Twist v = seen_from(link, screw.v);
            links[b] = {v, regressor(ingredients(v, seen_from(link, screw.a)))};
        }
        for (long long i = 0; i < n; i++) {
            for (long long c = first[i]; c < size; c++) {
                const long long b = independent[c] / 10, parameter = independent[c] % 10;
                const Twist& s = seen[b * n + i].s;
                const auto& a = links[b].matrix.rows;
                row[c] = a[0][parameter] * s.v.x + a[1][parameter] * s.v.y + a[2][parameter] * s.v.z
                    + a[3][parameter] * s.w.x + a[4][parameter] * s.w.y + a[5][parameter] * s.w.z;
            }
            for (long long c = first[i]; c < size; c++) {
                Lanes sum = all(0.0);
                for (long long d = first[i]; d < size; d++)
                    sum += weights[c * size + d] * row[d];
                weighted[i * size + c] = 2.0 * row_weights[i] * sum;
            }
        }
        for (long long i = 0; i < 3 * n; i++)
            found[i] = all(0.0);
        for (long long b = 0; b < n; b++) {
            const Twist& v = links[b].v;
            Regressor adjoint = {};
            Wrench felt = {zero(), zero()}; // how the screws of the joints so far feel to turn
            for (long long i = 0; i <= b; i++) {
                const Twist& s = seen[b * n + i].s;
                found[i] += power(s, felt);
                Wrench own = {zero(), zero()};
                for (long long c = first[b]; c < first[b + 1]; c++) {
                    const long long parameter = independent[c] - 10 * b;
                    const Lanes z = weighted[i * size + c];
                    const auto& a = links[b].matrix.rows;
                    own.force += Vector<Lanes>{a[0][parameter] * z, a[1][parameter] * z, a[2][parameter] * z};
                    own.moment += Vector<Lanes>{a[3][parameter] * z, a[4][parameter] * z, a[5][parameter] * z};
                    adjoint.rows[0][parameter] += s.v.x * z;
                    adjoint.rows[1][parameter] += s.v.y * z;
                    adjoint.rows[2][parameter] += s.v.z * z;
                    adjoint.rows[3][parameter] += s.w.x * z;
                    adjoint.rows[4][parameter] += s.w.y * z;
                    adjoint.rows[5][parameter] += s.w.z * z;
                }
                felt.moment += cross(own.moment, s.w) + cross(own.force, s.v);
                felt.force += cross(own.force, s.w);
            }
            // What <y, A> is in terms of the motion: by a change x of the twist's angular part that comes with a change
            // -V x x of the acceleration; such a change of the linear part does nothing.
            const Slopes by = IPARAM_PATH::slopes(adjoint, v.w);
            const Vector<Lanes> turned = by.w + 2.0 * cross(v.v, by.a) + cross(v.w, by.l);
            for (long long j = 0; j <= b; j++) {
                const auto& [s, p, d] = seen[b * n + j];
                found[j] += dot(turned, p.w) + dot(by.l, d.w) + dot(by.a, d.v);
                found[n + j] += dot(turned, s.w) + 2.0 * (dot(by.l, p.w) + dot(by.a, p.v));
                found[2 * n + j] += dot(by.l, s.w) + dot(by.a, s.v);
            }
        }
    };
    curvature(samples, n, q, dq, ddq, step, gradient, hessian, slope);
}

// The joint-torque regressor and its derivatives; see screws.hpp.
#include "body_regressor.hpp"

using namespace IPARAM_PATH;

// Y (N, n, 10 n) and its derivatives (N, 3, n, n, 10 n) by each joint's q, dq and ddq.
KERNEL(void, joint_torque_regressor_derivatives)(long long samples, long long n, const Chain* chain,
    const double* gravity, const double* q, const double* dq, const double* ddq, double* __restrict out,
    double* __restrict changes)
{
    PerJoint<Screw> screws(n), local(n); // those of the joints, and as one link sees them
    const long long size = 10 * n * n;
    for_blocks(samples, [&](const Block& block) {
        Frame frame = base_frame();
        Screw screw = base_screw(gravity);
        for (long long b = 0; b < n; b++) {
            const Body& body = chain->bodies[b];
            advance(frame, body, block.load(q, n, b));
            screw = screws[b] = advance(screw, body, frame, block.load(dq, n, b), block.load(ddq, n, b));
            const Frame link = {frame.r * body.link_turn, frame.p};
            const Twist v = seen_from(link, screw.v), a = seen_from(link, screw.a);
            const Ingredients own = ingredients(v, a);
            for (long long i = 0; i <= b; i++) {
                local[i].s = seen_from(link, screws[i].s);
                local[i].p = seen_from(link, screws[i].p);
                local[i].d = seen_from(link, screws[i].d);
            }
            Lanes row[10];
            for (long long i = 0; i < n; i++) {
                const long long column = (i * n + b) * 10;
                if (i <= b) {
                    torque_row(local[i].s, own, row);
                    block.store_row<10>(out, size, column, row);
                }
                for (long long j = 0; j < n; j++) {
                    if (i > b || j > b) {
                        for (Lanes& entry : row)
                            entry = all(0.0);
                        if (j == 0)
                            block.store_row<10>(out, size, column, row);
                        for (int order = 0; order < 3; order++)
                            block.store_row<10>(changes, 3 * n * size, (order * n + j) * size + column, row);
                        continue;
                    }
                    const auto& [s, p, d, unused_v, unused_a] = local[j];
                    const Twist none = {zero(), zero()};
                    torque_row(local[i].s, change(v, p, d + (-1.0) * bracket(v, p)), row);
                    if (i < j) { // the screw of joint i turns, for the body, with the joints behind i
                        Lanes turning[10];
                        torque_row(bracket(local[i].s, s), own, turning);
                        for (int c = 0; c < 10; c++)
                            row[c] += turning[c];
                    }
                    block.store_row<10>(changes, 3 * n * size, j * size + column, row);
                    torque_row(local[i].s, change(v, s, 2.0 * p + (-1.0) * bracket(v, s)), row);
                    block.store_row<10>(changes, 3 * n * size, (n + j) * size + column, row);
                    torque_row(local[i].s, change(v, none, s), row);
                    block.store_row<10>(changes, 3 * n * size, (2 * n + j) * size + column, row);
                }
            }
        }
    });
}

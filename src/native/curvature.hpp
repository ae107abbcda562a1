// A Hessian from exact gradients.
#pragma once

#include "chain.hpp"

namespace IPARAM_PATH {

// State (q, dq, ddq) of one joint in a block.
struct JointState {
    Lanes q, dq, ddq;

    Lanes& operator[](long long order) { return order == 0 ? q : order == 1 ? dq : ddq; }
};

// Gradient (N, 3 n) and Hessian (N, 3 n, 3 n) by [q, dq, ddq], from `slope(joints, found)`, which gives the gradient (3
// n) for the states of a block. The Hessian is the symmetric part of its forward difference with `step`.
template <class Slope>
[[gnu::always_inline]] inline void curvature(long long samples, long long n, const double* q, const double* dq,
    const double* ddq, double step, double* __restrict gradient, double* __restrict hessian, const Slope& slope)
{
    const long long size = 3 * n;
    PerJoint<JointState> joints(n);
    PerJoint<Lanes, 24> here(size), ahead(size);
    PerJoint<Lanes, 24 * 24> change(size * size);
    for_blocks(samples, [&](const Block& block) {
        for (long long i = 0; i < n; i++)
            joints[i] = {block.load(q, n, i), block.load(dq, n, i), block.load(ddq, n, i)};
        slope(joints, &here[0]);
        block.store_columns(gradient, size, 0, &here[0], size);
        for (long long j = 0; j < size; j++) {
            Lanes& moved = joints[j % n][j / n];
            const Lanes before = moved;
            moved = before + step;
            slope(joints, &ahead[0]);
            moved = before;
            for (long long i = 0; i < size; i++)
                change[j * size + i] = (ahead[i] - here[i]) / step;
        }
        for (long long i = 0; i < size; i++)
            for (long long j = 0; j < i; j++)
                change[i * size + j] = change[j * size + i] = 0.5 * (change[i * size + j] + change[j * size + i]);
        block.store_columns(hessian, size * size, 0, &change[0], size * size);
    });
}

} // namespace IPARAM_PATH

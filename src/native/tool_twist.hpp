// Twist and spatial acceleration of the tool, and how they change with each joint.
#pragma once

#include "body_regressor.hpp"
#include "curvature.hpp"

namespace IPARAM_PATH {

// Of one joint, in tool axes. With J_i the tool's Jacobian columns, V_i and A_i the sums over the joints before i (A_i
// with the base's -g):
//     dV/dddq = 0, dV/ddq_i = J_i, dV/dq_i = ad(V_i) J_i,
//     dA/dddq_i = J_i, dA/ddq_i = dJ_i/dt + dV/dq_i, dA/dq_i = ad(A_i) J_i + ad(V_i) dJ_i/dt,
// because a column J_i turns only with the joints behind it: dJ_i/dq_j = ad(J_i) J_j for j > i, else 0.
struct ToolColumn {
    Twist j, dj, v_by_q, a_by_q;
};

struct ToolTwist {
    Twist v, a;
};

// `columns` is filled; gravity is in the acceleration.
[[gnu::always_inline]] inline ToolTwist tool_twist(
    long long n, const Chain& chain, const double* gravity, PerJoint<JointState>& joints, PerJoint<ToolColumn>& columns)
{
    Frame frame = base_frame();
    for (long long i = 0; i < n; i++) {
        advance(frame, chain.bodies[i], joints[i].q);
        columns[i].j = {column_z(frame.r), frame.p}; // the axis and a point on it, for now
    }
    attach(frame, chain.tool);
    Twist after = {zero(), zero()}; // of the tool relative to the body behind joint i
    for (long long i = n - 1; i >= 0; i--) {
        ToolColumn& column = columns[i];
        const auto [z, p] = column.j;
        if (chain.bodies[i].prismatic != 0.0)
            column.j = {zero(), turn_back(frame.r, z)};
        else
            column.j = {turn_back(frame.r, z), turn_back(frame.r, cross(z, frame.p - p))};
        column.dj = bracket(column.j, after);
        after = after + joints[i].dq * column.j;
    }
    const Vector<Lanes> base = {all(-gravity[0]), all(-gravity[1]), all(-gravity[2])};
    ToolTwist before = {{zero(), zero()}, {zero(), turn_back(frame.r, base)}};
    for (long long i = 0; i < n; i++) {
        ToolColumn& column = columns[i];
        column.v_by_q = bracket(before.v, column.j);
        column.a_by_q = bracket(before.a, column.j) + bracket(before.v, column.dj);
        before.a = before.a + joints[i].ddq * column.j + joints[i].dq * column.dj;
        before.v = before.v + joints[i].dq * column.j;
    }
    return before;
}

} // namespace IPARAM_PATH

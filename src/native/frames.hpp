// The recursion in the axes of the base: the pose and the motion of one body's frame after the other.
#pragma once

#include "chain.hpp"

namespace IPARAM_PATH {

struct Frame {
    Matrix<Lanes> r;
    Vector<Lanes> p;
};

// omega, v, alpha and a of a frame's origin, in the axes of the base.
struct FrameMotion {
    Vector<Lanes> w, v, l, a;
};

[[gnu::always_inline]] inline Vector<Lanes> zero() { return {all(0.0), all(0.0), all(0.0)}; }

[[gnu::always_inline]] inline Frame base_frame()
{
    return {{{all(1.0), all(0.0), all(0.0)}, {all(0.0), all(1.0), all(0.0)}, {all(0.0), all(0.0), all(1.0)}}, zero()};
}

[[gnu::always_inline]] inline FrameMotion base_at_rest(const double* gravity)
{
    return {zero(), zero(), zero(), {all(-gravity[0]), all(-gravity[1]), all(-gravity[2])}};
}

// Move the frame across a joint; what comes back is by how much its origin moved.
[[gnu::always_inline]] inline Vector<Lanes> advance(Frame& frame, const Body& body, Lanes q)
{
    Vector<Lanes> d = frame.r * body.origin.p;
    frame.r = frame.r * body.origin.r;
    if (body.prismatic != 0.0)
        d = d + q * column_z(frame.r);
    else
        frame.r = turned_about_z(frame.r, sin_cos(q));
    frame.p += d;
    return d;
}

// The motion of the point at d from the origin, on the same body.
[[gnu::always_inline]] inline FrameMotion carry(const FrameMotion& m, const Vector<Lanes>& d)
{
    const Vector<Lanes> turned = cross(m.w, d);
    return {m.w, m.v + turned, m.l, m.a + cross(m.l, d) + cross(m.w, turned)};
}

// Move frame and motion across a joint.
[[gnu::always_inline]] inline void advance(
    Frame& frame, FrameMotion& motion, const Body& body, Lanes q, Lanes dq, Lanes ddq)
{
    const FrameMotion before = carry(motion, advance(frame, body, q));
    const Vector<Lanes> z = column_z(frame.r), speed = dq * z, turned = cross(before.w, speed);
    if (body.prismatic != 0.0)
        motion = {before.w, before.v + speed, before.l, before.a + 2.0 * turned + ddq * z};
    else
        motion = {before.w + speed, before.v, before.l + turned + ddq * z, before.a};
}

// Move to a frame that is fixed to the same body.
[[gnu::always_inline]] inline Vector<Lanes> attach(Frame& frame, const Pose& pose)
{
    const Vector<Lanes> d = frame.r * pose.p;
    frame = {frame.r * pose.r, frame.p + d};
    return d;
}

// A pose (4, 4) at `column` of each row.
[[gnu::always_inline]] inline void store_pose(
    const Block& block, double* rows, long long stride, long long column, const Frame& frame)
{
    const Vector<Lanes> r[3] = {frame.r.x, frame.r.y, frame.r.z};
    const Lanes p[3] = {frame.p.x, frame.p.y, frame.p.z};
    Lanes pose[16];
    for (int i = 0; i < 3; i++) {
        pose[4 * i] = r[i].x;
        pose[4 * i + 1] = r[i].y;
        pose[4 * i + 2] = r[i].z;
        pose[4 * i + 3] = p[i];
        pose[12 + i] = all(0.0);
    }
    pose[15] = all(1.0);
    block.store_row<16>(rows, stride, column, pose);
}

} // namespace IPARAM_PATH

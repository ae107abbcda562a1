"""Distances between capsules, boxes, points and planes, with their exact gradients by the joint positions.

Gradients are left out where the array for them has no columns.
"""

from __future__ import annotations

import math

from iparam.robot.kernels.compilation import compiled, part
from iparam.robot.kernels.steps import advance, at_rest, cross, read_vector, turn
from iparam.robot.kernels.workspace import empty


@part
def body_frames(origins, prismatic, q, k, poses, axes):
    """Poses (n + 1, 12) of the base and the n bodies, and the joint axes (n, 6) [direction, point], in base axes."""
    state = at_rest(0.0, 0.0, 0.0)
    for body in range(q.shape[1] + 1):
        if body > 0:
            state, z = advance(state, origins, prismatic, body - 1, q[k, body - 1], 0.0, 0.0)
            for j in range(3):
                axes[body - 1, j], axes[body - 1, 3 + j] = z[j], state[1][j]
        for j in range(9):
            poses[body, j] = state[0][j]
        for j in range(3):
            poses[body, 9 + j] = state[1][j]


@part
def place(poses, body, table, row, start):
    """The point at columns start..start+2 of a shape, given in its body's frame, in base axes."""
    r = (
        poses[body, 0],
        poses[body, 1],
        poses[body, 2],
        poses[body, 3],
        poses[body, 4],
        poses[body, 5],
        poses[body, 6],
        poses[body, 7],
        poses[body, 8],
    )
    x, y, z = turn(r, table[row, start], table[row, start + 1], table[row, start + 2])
    return x + poses[body, 9], y + poses[body, 10], z + poses[body, 11]


@part
def add_point_gradient(prismatic, axes, body, point, normal, sign, gradient):
    """Add sign * d(normal . point)/dq for a point fixed on a body; normal and point in base axes."""
    for i in range(body):
        z = read_vector(axes, i, 0)
        if prismatic[i]:
            gradient[i] += sign * (normal[0] * z[0] + normal[1] * z[1] + normal[2] * z[2])
        else:
            v = cross(z[0], z[1], z[2], point[0] - axes[i, 3], point[1] - axes[i, 4], point[2] - axes[i, 5])
            gradient[i] += sign * (normal[0] * v[0] + normal[1] * v[1] + normal[2] * v[2])


@part
def clamp(x):
    return min(max(x, 0.0), 1.0)


@part
def closest_on_segments(p, q, r, s):
    """Parameters in [0, 1] of the closest points of the segments pq and rs."""
    d1 = (q[0] - p[0], q[1] - p[1], q[2] - p[2])
    d2 = (s[0] - r[0], s[1] - r[1], s[2] - r[2])
    w = (p[0] - r[0], p[1] - r[1], p[2] - r[2])
    a = d1[0] * d1[0] + d1[1] * d1[1] + d1[2] * d1[2]
    e = d2[0] * d2[0] + d2[1] * d2[1] + d2[2] * d2[2]
    c = d1[0] * w[0] + d1[1] * w[1] + d1[2] * w[2]
    f = d2[0] * w[0] + d2[1] * w[1] + d2[2] * w[2]
    tiny = 1e-18
    if a <= tiny and e <= tiny:
        return 0.0, 0.0
    if a <= tiny:
        return 0.0, clamp(f / e)
    if e <= tiny:
        return clamp(-c / a), 0.0
    b = d1[0] * d2[0] + d1[1] * d2[1] + d1[2] * d2[2]
    determinant = a * e - b * b
    u = clamp((b * f - c * e) / determinant) if determinant > 1e-12 * a * e else 0.5
    v = (b * u + f) / e
    if v < 0.0:
        return clamp(-c / a), 0.0
    if v > 1.0:
        return clamp((b - c) / a), 1.0
    return u, v


@compiled
def pair_distances(origins, prismatic, shapes, pairs, q, distances, gradients):
    """Distance of each pair of capsules minus their radii (N, P), and its gradient by q (N, P, n).

    A shape is [body, start (3), end (3), radius], the points in its body's frame; body 0 is the base, so fixed things
    are shapes too. Where the axes of two capsules touch, the gradient is taken along z.
    """
    n = q.shape[1]
    poses, axes = empty((n + 1, 12)), empty((n, 6))
    for k in range(q.shape[0]):
        body_frames(origins, prismatic, q, k, poses, axes)
        for m in range(pairs.shape[0]):
            first, second = pairs[m, 0], pairs[m, 1]
            body1, body2 = int(shapes[first, 0]), int(shapes[second, 0])
            p, s = place(poses, body1, shapes, first, 1), place(poses, body1, shapes, first, 4)
            r, t = place(poses, body2, shapes, second, 1), place(poses, body2, shapes, second, 4)
            u, v = closest_on_segments(p, s, r, t)
            here = (p[0] + u * (s[0] - p[0]), p[1] + u * (s[1] - p[1]), p[2] + u * (s[2] - p[2]))
            there = (r[0] + v * (t[0] - r[0]), r[1] + v * (t[1] - r[1]), r[2] + v * (t[2] - r[2]))
            d = (here[0] - there[0], here[1] - there[1], here[2] - there[2])
            distance = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
            normal = (d[0] / distance, d[1] / distance, d[2] / distance) if distance > 1e-12 else (0.0, 0.0, 1.0)
            distances[k, m] = distance - shapes[first, 7] - shapes[second, 7]
            if not gradients.shape[2]:
                continue
            for i in range(n):
                gradients[k, m, i] = 0.0
            add_point_gradient(prismatic, axes, body1, here, normal, 1.0, gradients[k, m])
            add_point_gradient(prismatic, axes, body2, there, normal, -1.0, gradients[k, m])


@compiled
def plane_distances(origins, prismatic, points, planes, pairs, q, distances, gradients):
    """Height of points (first of a pair) over planes (N, P) and its gradient by q (N, P, n).

    A point is [body, position (3), radius], a plane [normal (3), offset]; the height is n.p - offset - radius.
    """
    n = q.shape[1]
    poses, axes = empty((n + 1, 12)), empty((n, 6))
    for k in range(q.shape[0]):
        body_frames(origins, prismatic, q, k, poses, axes)
        for m in range(pairs.shape[0]):
            point, plane = pairs[m, 0], pairs[m, 1]
            body = int(points[point, 0])
            p = place(poses, body, points, point, 1)
            normal = read_vector(planes, plane, 0)
            height = normal[0] * p[0] + normal[1] * p[1] + normal[2] * p[2]
            distances[k, m] = height - planes[plane, 3] - points[point, 4]
            if not gradients.shape[2]:
                continue
            for i in range(n):
                gradients[k, m, i] = 0.0
            add_point_gradient(prismatic, axes, body, p, normal, 1.0, gradients[k, m])


@part
def box_gap(x, half):
    """Signed distance of a point (in box axes) to a box, and the outward direction from its closest surface point."""
    outside, deepest, axis = 0.0, -1e300, 0
    n = (0.0, 0.0, 0.0)
    d = (abs(x[0]) - half[0], abs(x[1]) - half[1], abs(x[2]) - half[2])
    for i in range(3):
        if d[i] > 0.0:
            outside += d[i] * d[i]
        if d[i] > deepest:
            deepest, axis = d[i], i
    sx, sy, sz = math.copysign(1.0, x[0]), math.copysign(1.0, x[1]), math.copysign(1.0, x[2])
    if outside > 0.0:
        gap = math.sqrt(outside)
        n = (sx * max(d[0], 0.0) / gap, sy * max(d[1], 0.0) / gap, sz * max(d[2], 0.0) / gap)
        return gap, n
    if axis == 0:
        n = (sx, 0.0, 0.0)
    elif axis == 1:
        n = (0.0, sy, 0.0)
    else:
        n = (0.0, 0.0, sz)
    return deepest, n


@part
def axis_in_base(poses, body, boxes, b, column):
    """An axis of a box in base axes."""
    x, y, z = boxes[b, 1 + column], boxes[b, 4 + column], boxes[b, 7 + column]
    return (
        poses[body, 0] * x + poses[body, 1] * y + poses[body, 2] * z,
        poses[body, 3] * x + poses[body, 4] * y + poses[body, 5] * z,
        poses[body, 6] * x + poses[body, 7] * y + poses[body, 8] * z,
    )


@part
def in_box(p, o, x, y, z):
    """A point in the axes of a box about its centre."""
    d = (p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return (
        d[0] * x[0] + d[1] * x[1] + d[2] * x[2],
        d[0] * y[0] + d[1] * y[1] + d[2] * y[2],
        d[0] * z[0] + d[1] * z[1] + d[2] * z[2],
    )


@part
def between(p, e, s):
    return p[0] + s * (e[0] - p[0]), p[1] + s * (e[1] - p[1]), p[2] + s * (e[2] - p[2])


@compiled
def box_distances(origins, prismatic, capsules, boxes, pairs, q, distances, gradients):
    """Distance of capsules (first of a pair) from boxes minus the radius (N, P), with gradients (N, P, n).

    The signed distance of a point to a box is convex, so along the segment it has one least value, found by golden
    section. By the envelope theorem the gradient is that of the closest points held fixed on their bodies.
    """
    n = q.shape[1]
    golden = 0.6180339887498949
    poses, axes = empty((n + 1, 12)), empty((n, 6))
    for k in range(q.shape[0]):
        body_frames(origins, prismatic, q, k, poses, axes)
        for m in range(pairs.shape[0]):
            c, b = pairs[m, 0], pairs[m, 1]
            body1, body2 = int(capsules[c, 0]), int(boxes[b, 0])
            p, e = place(poses, body1, capsules, c, 1), place(poses, body1, capsules, c, 4)
            o = place(poses, body2, boxes, b, 10)
            x = axis_in_base(poses, body2, boxes, b, 0)
            y = axis_in_base(poses, body2, boxes, b, 1)
            z = axis_in_base(poses, body2, boxes, b, 2)
            half = (boxes[b, 13], boxes[b, 14], boxes[b, 15])
            start, end = in_box(p, o, x, y, z), in_box(e, o, x, y, z)
            low, high = 0.0, 1.0
            u, v = 1.0 - golden, golden
            gap_u, _ = box_gap(between(start, end, u), half)
            gap_v, _ = box_gap(between(start, end, v), half)
            for _ in range(40):  # 0.618^40 of the segment's length is a few nanometres
                if gap_u <= gap_v:
                    high, v, gap_v = v, u, gap_u
                    u = high - golden * (high - low)
                    gap_u, _ = box_gap(between(start, end, u), half)
                else:
                    low, u, gap_u = u, v, gap_v
                    v = low + golden * (high - low)
                    gap_v, _ = box_gap(between(start, end, v), half)
            s = 0.5 * (low + high)
            gap, local = box_gap(between(start, end, s), half)
            gap0, local0 = box_gap(start, half)
            gap1, local1 = box_gap(end, half)
            if gap0 <= gap:
                s, gap, local = 0.0, gap0, local0
            if gap1 < gap:
                s, gap, local = 1.0, gap1, local1
            here = between(p, e, s)
            normal = (
                local[0] * x[0] + local[1] * y[0] + local[2] * z[0],
                local[0] * x[1] + local[1] * y[1] + local[2] * z[1],
                local[0] * x[2] + local[1] * y[2] + local[2] * z[2],
            )
            there = (here[0] - gap * normal[0], here[1] - gap * normal[1], here[2] - gap * normal[2])
            distances[k, m] = gap - capsules[c, 7]
            if not gradients.shape[2]:
                continue
            for i in range(n):
                gradients[k, m, i] = 0.0
            add_point_gradient(prismatic, axes, body1, here, normal, 1.0, gradients[k, m])
            add_point_gradient(prismatic, axes, body2, there, normal, -1.0, gradients[k, m])


@part
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@part
def extreme(o, x, y, z, half, n, sign):
    """The corner of a box that is farthest along sign * n; the middle of the face or edge where several are."""
    u, v, w = sign * dot(x, n), sign * dot(y, n), sign * dot(z, n)
    a = half[0] * (1.0 if u > 1e-12 else -1.0 if u < -1e-12 else 0.0)
    b = half[1] * (1.0 if v > 1e-12 else -1.0 if v < -1e-12 else 0.0)
    c = half[2] * (1.0 if w > 1e-12 else -1.0 if w < -1e-12 else 0.0)
    return (
        o[0] + a * x[0] + b * y[0] + c * z[0],
        o[1] + a * x[1] + b * y[1] + c * z[1],
        o[2] + a * x[2] + b * y[2] + c * z[2],
    )


@part
def separation(t, n, x1, y1, z1, half1, x2, y2, z2, half2):
    """Gap of two boxes, whose centres are t apart, along a unit vector either way."""
    first = half1[0] * abs(dot(x1, n)) + half1[1] * abs(dot(y1, n)) + half1[2] * abs(dot(z1, n))
    second = half2[0] * abs(dot(x2, n)) + half2[1] * abs(dot(y2, n)) + half2[2] * abs(dot(z2, n))
    return abs(dot(t, n)) - first - second


@compiled
def box_box_distances(origins, prismatic, boxes, pairs, q, distances, gradients):
    """Distance of two boxes (N, P) and its gradient by q (N, P, n).

    It is the largest gap along the normals of their faces and the common normals of their edges: positive exactly if
    they are apart, minus the depth if they are not, and where a corner is next to an edge or a corner less than the
    distance, by a factor of at most the root of 3.
    """
    n = q.shape[1]
    poses, axes = empty((n + 1, 12)), empty((n, 6))
    for k in range(q.shape[0]):
        body_frames(origins, prismatic, q, k, poses, axes)
        for m in range(pairs.shape[0]):
            a, b = pairs[m, 0], pairs[m, 1]
            body1, body2 = int(boxes[a, 0]), int(boxes[b, 0])
            o1, o2 = place(poses, body1, boxes, a, 10), place(poses, body2, boxes, b, 10)
            half1 = (boxes[a, 13], boxes[a, 14], boxes[a, 15])
            half2 = (boxes[b, 13], boxes[b, 14], boxes[b, 15])
            x1 = axis_in_base(poses, body1, boxes, a, 0)
            y1 = axis_in_base(poses, body1, boxes, a, 1)
            z1 = axis_in_base(poses, body1, boxes, a, 2)
            x2 = axis_in_base(poses, body2, boxes, b, 0)
            y2 = axis_in_base(poses, body2, boxes, b, 1)
            z2 = axis_in_base(poses, body2, boxes, b, 2)
            t = (o2[0] - o1[0], o2[1] - o1[1], o2[2] - o1[2])
            gap, best, edge1, edge2, kind = -1e300, (0.0, 0.0, 1.0), x1, x2, 0
            for i in range(3):
                d = x1 if i == 0 else y1 if i == 1 else z1
                s = separation(t, d, x1, y1, z1, half1, x2, y2, z2, half2)
                if s > gap:
                    gap, best, kind = s, d, 0
                e = x2 if i == 0 else y2 if i == 1 else z2
                s = separation(t, e, x1, y1, z1, half1, x2, y2, z2, half2)
                if s > gap:
                    gap, best, kind = s, e, 1
            for i in range(3):
                d = x1 if i == 0 else y1 if i == 1 else z1
                for j in range(3):
                    e = x2 if j == 0 else y2 if j == 1 else z2
                    c = cross(d[0], d[1], d[2], e[0], e[1], e[2])
                    length = math.sqrt(dot(c, c))
                    if length < 1e-6:  # parallel edges: the faces have the same normals
                        continue
                    c = (c[0] / length, c[1] / length, c[2] / length)
                    s = separation(t, c, x1, y1, z1, half1, x2, y2, z2, half2)
                    if s > gap + 1e-12:
                        gap, best, edge1, edge2, kind = s, c, d, e, 2
            distances[k, m] = gap
            if not gradients.shape[2]:
                continue
            sign = 1.0 if dot(t, best) >= 0.0 else -1.0
            normal = (sign * best[0], sign * best[1], sign * best[2])  # from the first box to the second
            here = extreme(o1, x1, y1, z1, half1, normal, 1.0)
            there = extreme(o2, x2, y2, z2, half2, normal, -1.0)
            if kind == 0:  # what moves is the second box's corner over the first one's face
                here = (there[0] - gap * normal[0], there[1] - gap * normal[1], there[2] - gap * normal[2])
            elif kind == 1:
                there = (here[0] + gap * normal[0], here[1] + gap * normal[1], here[2] + gap * normal[2])
            else:  # the closest points of the two edges' lines
                w = (here[0] - there[0], here[1] - there[1], here[2] - there[2])
                mixed = dot(edge1, edge2)
                scale = 1.0 - mixed * mixed
                u = (mixed * dot(edge2, w) - dot(edge1, w)) / scale
                v = (dot(edge2, w) - mixed * dot(edge1, w)) / scale
                here = (here[0] + u * edge1[0], here[1] + u * edge1[1], here[2] + u * edge1[2])
                there = (there[0] + v * edge2[0], there[1] + v * edge2[1], there[2] + v * edge2[2])
            for i in range(n):
                gradients[k, m, i] = 0.0
            add_point_gradient(prismatic, axes, body1, here, normal, -1.0, gradients[k, m])
            add_point_gradient(prismatic, axes, body2, there, normal, 1.0, gradients[k, m])

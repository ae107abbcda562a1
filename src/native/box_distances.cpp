// How far capsules are from boxes. The signed distance of a point to a box is convex, so along a segment it has one
// least value, where its slope changes sign: found by bisection, to the last digit.
#include "shapes.hpp"

using namespace IPARAM_PATH;

namespace {

constexpr int BISECTIONS = 53; // as many as a number has digits

// By how much a point, in the axes of a box, is beyond each pair of its faces.
[[gnu::always_inline]] inline Vector<Lanes> beyond(const Vector<Lanes>& x, const Vector<double>& half)
{
    return {absolute(x.x) - half.x, absolute(x.y) - half.y, absolute(x.z) - half.z};
}

[[gnu::always_inline]] inline Vector<Lanes> positive(const Vector<Lanes>& x)
{
    return {larger(x.x, all(0.0)), larger(x.y, all(0.0)), larger(x.z, all(0.0))};
}

[[gnu::always_inline]] inline Lanes largest(const Vector<Lanes>& x) { return larger(larger(x.x, x.y), x.z); }

struct Gap {
    Lanes distance;
    Vector<Lanes> normal; // from the closest point of the surface, in the axes of the box
};

[[gnu::always_inline]] inline Gap gap_of(const Vector<Lanes>& x, const Vector<double>& half)
{
    const Vector<Lanes> d = beyond(x, half), out = positive(d);
    const Lanes one = all(1.0), none = all(0.0), deepest = largest(d), outside = root(dot(out, out));
    const Bits in_x = d.x == deepest, in_y = (d.y == deepest) & ~in_x;
    const Vector<Lanes> axis = {in_x ? one : none, in_y ? one : none, in_x | in_y ? none : one};
    const Bits is_outside = outside > 0.0;
    const Vector<Lanes> n = choose(is_outside, (1.0 / outside) * out, axis);
    const long long sign = 1ll << 63;
    const Vector<Lanes> normal = {(Lanes)((Bits)n.x | ((Bits)x.x & sign)), (Lanes)((Bits)n.y | ((Bits)x.y & sign)),
        (Lanes)((Bits)n.z | ((Bits)x.z & sign))};
    return {is_outside ? outside : deepest, normal};
}

[[gnu::always_inline]] inline Vector<Lanes> at_place(const Vector<Lanes>& start, const Vector<Lanes>& d, Lanes s)
{
    return start + s * d;
}

// Between which places of a segment, 0 to 1, it is closest to a box.
[[gnu::always_inline]] inline LanePair closest(
    const Vector<Lanes>& start, const Vector<Lanes>& d, const Vector<double>& half)
{
    Lanes low = all(0.0), high = all(1.0);
    for (int bisection = 0; bisection < BISECTIONS; bisection++) {
        const Lanes s = 0.5 * (low + high);
        const Vector<Lanes> x = at_place(start, d, s), far = beyond(x, half), out = positive(far);
        // Of |x|, |y| and |z| along the segment.
        const Vector<Lanes> rise = {x.x < 0.0 ? -d.x : d.x, x.y < 0.0 ? -d.y : d.y, x.z < 0.0 ? -d.z : d.z};
        const Lanes deepest = largest(far);
        const Lanes inside = far.x == deepest ? rise.x : far.y == deepest ? rise.y : rise.z;
        const Bits past = (deepest > 0.0 ? dot(out, rise) : inside) >= 0.0;
        high = past ? s : high;
        low = past ? low : s;
    }
    return {low, high};
}

// The normal of the least gap along a segment. Inside the box it lies, as a rule, where another face becomes the
// nearest one: the distance falls towards it by one normal and rises behind it by the other, and changes with the pose
// as if by the mean of both along which the segment does not come closer.
[[gnu::always_inline]] inline Vector<Lanes> level_normal(
    const Vector<Lanes>& before, const Vector<Lanes>& behind, const Vector<Lanes>& d)
{
    const Lanes falling = -dot(before, d), rising = dot(behind, d);
    const Bits ridge = (falling > 0.0) & (rising > 0.0);
    const Lanes share = ridge ? falling / (falling + rising) : all(1.0);
    return (1.0 - share) * before + share * behind;
}

} // namespace

// distances (N, P) of a capsule and a box each, and gradients as in capsule_distances.
KERNEL(void, box_distances)(long long samples, long long n, const Chain* chain, long long pairs, const Pair* pair,
    const Capsule* capsules, const Box* boxes, const double* q, double* __restrict distances,
    double* __restrict gradients)
{
    Bodies bodies(chain, n);
    for_blocks(samples, [&](const Block& block) {
        bodies.move(block, q);
        for (long long m = 0; m < pairs; m++) {
            const Capsule& capsule = capsules[pair[m].first];
            const Box& box = boxes[pair[m].second];
            const Matrix<Lanes> axes = bodies[box.body].r * box.r;
            const Vector<Lanes> centre = bodies.place(box.body, box.centre);
            const Vector<Lanes> p = bodies.place(capsule.body, capsule.start),
                                e = bodies.place(capsule.body, capsule.end);
            const Vector<Lanes> start = turn_back(axes, p - centre), end = turn_back(axes, e - centre), d = end - start;
            const LanePair around = closest(start, d, box.half);
            Lanes s = 0.5 * (around.low + around.high);
            Gap gap = gap_of(at_place(start, d, s), box.half);
            const Gap low = gap_of(at_place(start, d, around.low), box.half),
                      high = gap_of(at_place(start, d, around.high), box.half);
            gap.normal = level_normal(low.normal, high.normal, d);
            const Gap at_start = gap_of(start, box.half), at_end = gap_of(end, box.half);
            const Bits first = at_start.distance <= gap.distance;
            s = first ? all(0.0) : s;
            gap = {first ? at_start.distance : gap.distance, choose(first, at_start.normal, gap.normal)};
            const Bits last = at_end.distance < gap.distance;
            s = last ? all(1.0) : s;
            gap = {last ? at_end.distance : gap.distance, choose(last, at_end.normal, gap.normal)};
            block.store(distances, pairs, m, gap.distance - capsule.radius);
            if (!gradients)
                continue;
            const Vector<Lanes> normal = axes * gap.normal, here = p + s * (e - p),
                                there = here - gap.distance * normal;
            bodies.store_gradient(block, gradients, pairs, m, normal, capsule.body, here, box.body, there);
        }
    });
}

// How far capsules are apart.
#include "shapes.hpp"

using namespace IPARAM_PATH;

namespace {

constexpr double POINT = 1e-18; // square of a segment's length that counts as 0
constexpr double PARALLEL = 1e-12; // square of the sine of the angle between segments that counts as 0

struct Places {
    Lanes u, v; // 0 to 1 along each of two segments
};

// Of the closest points of two segments from p along d, of squared length a, and from r along t, of squared length e.
[[gnu::always_inline]] inline Places closest(
    const Vector<Lanes>& p, const Vector<Lanes>& d, double a, const Vector<Lanes>& r, const Vector<Lanes>& t, double e)
{
    const Vector<Lanes> w = p - r;
    const Lanes c = dot(d, w), f = dot(t, w);
    if (a <= POINT && e <= POINT)
        return {all(0.0), all(0.0)};
    if (a <= POINT)
        return {all(0.0), clamp(f / e)};
    if (e <= POINT)
        return {clamp(-c / a), all(0.0)};
    const Lanes b = dot(d, t), determinant = a * e - b * b;
    const Lanes u = determinant > PARALLEL * a * e ? clamp((b * f - c * e) / determinant) : all(0.5);
    const Lanes v = (b * u + f) / e;
    return {v < 0.0 ? clamp(-c / a) : v > 1.0 ? clamp((b - c) / a) : u, clamp(v)};
}

} // namespace

// distances (N, P) and, where gradients are wanted, (N, P, n) of them by the joints; else null. Where the axes of two
// capsules touch, the gradient is taken along z.
KERNEL(void, capsule_distances)(long long samples, long long n, const Chain* chain, long long pairs, const Pair* pair,
    const Capsule* capsules, const double* q, double* __restrict distances, double* __restrict gradients)
{
    Bodies bodies(chain, n);
    for_blocks(samples, [&](const Block& block) {
        bodies.move(block, q);
        for (long long m = 0; m < pairs; m++) {
            const Capsule &first = capsules[pair[m].first], &second = capsules[pair[m].second];
            const Vector<double> own = first.end - first.start, other = second.end - second.start;
            const Vector<Lanes> p = bodies.place(first.body, first.start), d = bodies[first.body].r * own;
            const Vector<Lanes> r = bodies.place(second.body, second.start), t = bodies[second.body].r * other;
            const Places at = closest(p, d, dot(own, own), r, t, dot(other, other));
            const Vector<Lanes> here = p + at.u * d, there = r + at.v * t, gap = here - there;
            const Lanes distance = root(dot(gap, gap));
            block.store(distances, pairs, m, distance - first.radius - second.radius);
            if (!gradients)
                continue;
            const Vector<Lanes> z = {all(0.0), all(0.0), all(1.0)};
            const Vector<Lanes> normal = choose(distance > 1e-12, (1.0 / distance) * gap, z);
            bodies.store_gradient(block, gradients, pairs, m, normal, first.body, here, second.body, there);
        }
    });
}

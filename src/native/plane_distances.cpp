// How high balls are over planes.
#include "shapes.hpp"

using namespace IPARAM_PATH;

// distances (N, P), n . p - offset - radius for each pair of a ball and a plane, and gradients as in capsule_distances.
KERNEL(void, plane_distances)(long long samples, long long n, const Chain* chain, long long pairs, const Pair* pair,
    const Ball* balls, const Plane* planes, const double* q, double* __restrict distances, double* __restrict gradients)
{
    Bodies bodies(chain, n);
    for_blocks(samples, [&](const Block& block) {
        bodies.move(block, q);
        for (long long m = 0; m < pairs; m++) {
            const Ball& ball = balls[pair[m].first];
            const Plane& plane = planes[pair[m].second];
            const Vector<Lanes> p = bodies.place(ball.body, ball.centre);
            block.store(distances, pairs, m, dot(plane.normal, p) - plane.offset - ball.radius);
            if (gradients)
                bodies.store_gradient(block, gradients, pairs, m, spread(plane.normal), ball.body, p, 0.0, p);
        }
    });
}

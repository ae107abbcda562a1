// The mass matrix: composite bodies about the base's origin, where they simply add up.
#include "screws.hpp"

using namespace IPARAM_PATH;

// M (N, n, n), rotor inertias on its diagonal included.
KERNEL(void, mass_matrix)(long long samples, long long n, const Chain* chain, const double* q, double* __restrict matrix)
{
    PerJoint<Twist> screws(n);
    PerJoint<CompositeBody> bodies(n);
    for_blocks(samples, [&](const Block& block) {
        Frame frame = base_frame();
        for (long long i = 0; i < n; i++) {
            const Body& body = chain->bodies[i];
            advance(frame, body, block.load(q, n, i));
            const Vector<Lanes> z = column_z(frame.r);
            screws[i] = body.prismatic != 0.0 ? Twist{zero(), z} : Twist{z, cross(frame.p, z)};
            bodies[i] = about_base(body.phi, frame);
        }
        for (long long i = n - 1; i >= 0; i--) {
            const Wrench wrench = bodies[i] * screws[i];
            for (long long j = 0; j <= i; j++) {
                const Lanes effort = power(screws[j], wrench) + (j == i ? chain->bodies[i].armature : 0.0);
                block.store(matrix, n * n, i * n + j, effort);
                block.store(matrix, n * n, j * n + i, effort);
            }
            if (i > 0)
                bodies[i - 1] += bodies[i];
        }
    });
}

// The mass matrix: of each joint, the bodies behind it as one, and the wrench that its unit acceleration needs.
#include "screws.hpp"

using namespace IPARAM_PATH;

// M (N, n, n), rotor inertias on its diagonal included.
KERNEL(void, mass_matrix)(
    long long samples, long long joints, const Chain* chain, const double* q, double* __restrict matrix)
{
    for_joints(joints, [&](auto n) {
        auto steps = per_joint<Step>(n);
        auto entries = per_pair<Lanes>(n);
        for_blocks(samples, [&](const Block& block) {
            for (long long i = 0; i < n; i++)
                steps[i] = step_of(chain->bodies[i], block.load(q, n, i));
            CompositeBody behind = {0.0, zero(), {}}; // all bodies behind joint i, in the frame of body i
            for (long long i = n - 1; i >= 0; i--) {
                const Body& body = chain->bodies[i];
                behind += body.phi;
                const Vector<Lanes>& h = behind.first;
                const Symmetric<Lanes>& inertia = behind.inertia;
                Wrench wrench = {{-h.y, h.x, all(0.0)}, {inertia.xz, inertia.yz, inertia.zz}};
                if (body.prismatic != 0.0)
                    wrench = {{all(0.0), all(0.0), all(behind.mass)}, {h.y, -h.x, all(0.0)}};
                entries[i * n + i] = (body.prismatic != 0.0 ? wrench.force.z : wrench.moment.z) + body.armature;
                for (long long j = i - 1; j >= 0; j--) { // the joints before bear it, each about its own axis
                    const Vector<Lanes> force = steps[j + 1].r * wrench.force;
                    wrench = {force, steps[j + 1].r * wrench.moment + cross(steps[j + 1].d, force)};
                    entries[i * n + j] = entries[j * n + i] =
                        chain->bodies[j].prismatic != 0.0 ? force.z : wrench.moment.z;
                }
                behind = moved(behind, steps[i].r, steps[i].d);
            }
            store_pairs(block, matrix, n, &entries[0]);
        });
    });
}

// How far boxes are apart: the largest gap along the normals of their faces and the common normals of their edges. It
// is positive exactly if they are apart, minus the depth if they are not, and where a corner is next to an edge or a
// corner less than the distance, by a factor of at most the root of 3.
#include "shapes.hpp"

using namespace IPARAM_PATH;

namespace {

constexpr double FLAT = 1e-12; // cosine of an axis and a normal that counts as 0
constexpr double PARALLEL = 1e-6; // sine of the angle between edges that counts as 0: the faces have the same normals
constexpr double BETTER = 1e-12; // by which the normal of two edges has to be better than one of a face [m]

struct PlacedBox {
    Vector<Lanes> centre, axis[3];
    double half[3];

    [[gnu::always_inline]] PlacedBox(Bodies& bodies, const Box& box)
        : centre(bodies.place(box.body, box.centre))
        , half{box.half.x, box.half.y, box.half.z}
    {
        const Matrix<Lanes> m = bodies[box.body].r * box.r;
        axis[0] = {m.x.x, m.y.x, m.z.x};
        axis[1] = {m.x.y, m.y.y, m.z.y};
        axis[2] = {m.x.z, m.y.z, m.z.z};
    }

    // How far it reaches from its centre along a unit vector.
    [[gnu::always_inline]] Lanes reach(const Vector<Lanes>& n) const
    {
        return half[0] * absolute(dot(axis[0], n)) + half[1] * absolute(dot(axis[1], n))
            + half[2] * absolute(dot(axis[2], n));
    }

    // The corner that is farthest along n; the middle of the face or edge where several are.
    [[gnu::always_inline]] Vector<Lanes> extreme(const Vector<Lanes>& n) const
    {
        Vector<Lanes> corner = centre;
        for (int i = 0; i < 3; i++) {
            const Lanes along = dot(axis[i], n), none = all(0.0);
            corner += (along > FLAT ? none + half[i] : along < -FLAT ? none - half[i] : none) * axis[i];
        }
        return corner;
    }
};

// The best direction so far, and whose face or which edges it belongs to.
struct Separation {
    Lanes gap = all(-1e300);
    Vector<Lanes> normal = {all(0.0), all(0.0), all(1.0)}, edge1, edge2;
    Bits first_face = {}, edges = {};
};

[[gnu::always_inline]] inline Separation separate(const PlacedBox& a, const PlacedBox& b, const Vector<Lanes>& t)
{
    Separation best;
    best.edge1 = a.axis[0];
    best.edge2 = b.axis[0];
    for (int i = 0; i < 3; i++) {
        for (int side = 0; side < 2; side++) {
            const Vector<Lanes>& n = side ? b.axis[i] : a.axis[i];
            const Lanes gap = absolute(dot(t, n)) - a.reach(n) - b.reach(n);
            const Bits better = gap > best.gap;
            best.gap = better ? gap : best.gap;
            best.normal = choose(better, n, best.normal);
            best.first_face = side ? best.first_face & ~better : best.first_face | better;
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const Vector<Lanes> c = cross(a.axis[i], b.axis[j]);
            const Lanes length = root(dot(c, c));
            const Vector<Lanes> n = (1.0 / length) * c;
            const Lanes gap = absolute(dot(t, n)) - a.reach(n) - b.reach(n);
            const Bits better = (length >= PARALLEL) & (gap > best.gap + BETTER);
            best.gap = better ? gap : best.gap;
            best.normal = choose(better, n, best.normal);
            best.edge1 = choose(better, a.axis[i], best.edge1);
            best.edge2 = choose(better, b.axis[j], best.edge2);
            best.edges |= better;
        }
    }
    return best;
}

} // namespace

// distances (N, P) of two boxes each, and gradients as in capsule_distances.
KERNEL(void, box_box_distances)(long long samples, long long n, const Chain* chain, long long pairs, const Pair* pair,
    const Box* boxes, const double* q, double* __restrict distances, double* __restrict gradients)
{
    Bodies bodies(chain, n);
    for_blocks(samples, [&](const Block& block) {
        bodies.move(block, q);
        for (long long m = 0; m < pairs; m++) {
            const Box &first = boxes[pair[m].first], &second = boxes[pair[m].second];
            const PlacedBox a(bodies, first), b(bodies, second);
            const Vector<Lanes> t = b.centre - a.centre;
            const Separation best = separate(a, b, t);
            block.store(distances, pairs, m, best.gap);
            if (!gradients)
                continue;
            const Lanes sign = dot(t, best.normal) >= 0.0 ? all(1.0) : all(-1.0);
            const Vector<Lanes> normal = sign * best.normal; // from the first box to the second
            const Vector<Lanes> corner1 = a.extreme(normal), corner2 = b.extreme(-1.0 * normal);
            // The closest points of the two edges' lines; of a face, the one that the other box's corner is over.
            const Vector<Lanes> w = corner1 - corner2;
            const Lanes mixed = dot(best.edge1, best.edge2), along1 = dot(best.edge1, w), along2 = dot(best.edge2, w);
            const Lanes scale = 1.0 - mixed * mixed;
            const Vector<Lanes> line1 = corner1 + ((mixed * along2 - along1) / scale) * best.edge1;
            const Vector<Lanes> line2 = corner2 + ((along2 - mixed * along1) / scale) * best.edge2;
            const Vector<Lanes> here =
                choose(best.edges, line1, choose(best.first_face, corner2 - best.gap * normal, corner1));
            const Vector<Lanes> there =
                choose(best.edges, line2, choose(best.first_face, corner2, corner1 + best.gap * normal));
            bodies.store_gradient(block, gradients, pairs, m, normal, second.body, there, first.body, here);
        }
    });
}

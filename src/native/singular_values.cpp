// A singular value decomposition that takes in rows as they come, without its left vectors (Brand 2002).
#include "triangle.hpp"

using namespace IPARAM_PATH;

namespace {

constexpr int SWEEPS = 30; // of Jacobi's rotations; two or three are enough
constexpr double ORTHOGONAL = 1e-15; // cosine of two columns that counts as 0
constexpr double CONVERGED = 1e-8; // cosine below which one more sweep leaves nothing: convergence is quadratic
constexpr double NOTHING = 1e-32; // square of a column, relative to the largest, that counts as 0

inline double dot(const double* a, const double* b, long long stride)
{
    Lanes total = {};
    for (long long k = 0; k < stride; k += WIDTH)
        total += load(a + k) * load(b + k);
    return sum(total);
}

inline void rotate(double* a, double* b, long long stride, double cosine, double sine)
{
    for (long long k = 0; k < stride; k += WIDTH) {
        const Lanes x = load(a + k), z = load(b + k);
        store(a + k, cosine * x - sine * z);
        store(b + k, sine * x + cosine * z);
    }
}

// Rotate pairs of rows of w (p, stride) until all are orthogonal, and those of v along with them.
inline void rotate_to_orthogonal(double* w, double* v, long long p, long long stride, double* squares)
{
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double greatest = 0.0;
        for (long long i = 0; i < p; i++) {
            squares[i] = dot(w + i * stride, w + i * stride, stride);
            greatest = squares[i] > greatest ? squares[i] : greatest;
        }
        bool turned = false;
        for (long long i = 0; i < p - 1; i++) {
            for (long long j = i + 1; j < p; j++) {
                const double a = squares[i], d = squares[j], c = dot(w + i * stride, w + j * stride, stride);
                const double lengths = __builtin_sqrt(a * d);
                if ((a < d ? a : d) <= NOTHING * greatest || __builtin_fabs(c) <= ORTHOGONAL * lengths)
                    continue;
                turned = turned || __builtin_fabs(c) > CONVERGED * lengths;
                const double zeta = (d - a) / (2.0 * c);
                double t = 1.0 / (__builtin_fabs(zeta) + __builtin_sqrt(1.0 + zeta * zeta));
                if (zeta < 0.0)
                    t = -t;
                const double cosine = 1.0 / __builtin_sqrt(1.0 + t * t), sine = cosine * t;
                squares[i] = a - t * c;
                squares[j] = d + t * c;
                rotate(w + i * stride, w + j * stride, stride, cosine, sine);
                rotate(v + i * stride, v + j * stride, stride, cosine, sine);
            }
        }
        if (!turned)
            break;
    }
}

} // namespace

// Update singular values (p), descending, and right singular vectors (p, p), columns, for appended rows (b, p). In the
// coordinates of the vectors the matrix is [diag(values); rows V]; reflections make it triangular, and one-sided
// rotations diagonal.
KERNEL(void, append_rows)(long long b, long long p, const double* rows, double* values, double* vectors)
{
    const long long height = whole_lanes(b), stride = whole_lanes(p);
    Numbers turned(p * height), triangle(p * p), both(2 * p * stride), squares(p);
    for (long long k = 0; k < b; k++) {
        for (long long j = 0; j < p; j++) {
            double total = 0.0;
            for (long long i = 0; i < p; i++)
                total += rows[k * p + i] * vectors[i * p + j];
            turned[j * height + k] = total;
        }
    }
    for (long long i = 0; i < p; i++)
        triangle[i * p + i] = values[i];
    fold_columns(triangle, p, turned, height);
    double *w = both, *v = both + p * stride; // rows of these are what the formulas call columns
    for (long long i = 0; i < p; i++) {
        for (long long j = 0; j < p; j++) {
            w[i * stride + j] = triangle[j * p + i];
            v[i * stride + j] = vectors[j * p + i];
        }
    }
    rotate_to_orthogonal(w, v, p, stride, squares);
    for (long long i = 0; i < p; i++)
        squares[i] = dot(w + i * stride, w + i * stride, stride);
    for (long long i = 0; i < p; i++) {
        long long largest = 0;
        for (long long k = 1; k < p; k++)
            if (squares[k] > squares[largest])
                largest = k;
        values[i] = __builtin_sqrt(squares[largest]);
        squares[largest] = -1.0;
        for (long long j = 0; j < p; j++)
            vectors[j * p + i] = v[largest * stride + j];
    }
}

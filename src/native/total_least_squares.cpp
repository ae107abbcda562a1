// Total least squares from the triangle of [exact columns, A, y], of which the exact ones have no errors.
#include "triangle.hpp"

using namespace IPARAM_PATH;

namespace {

constexpr int STEPS = 500; // of the power iteration, at most
constexpr double SMALLEST_PIVOT = 1e-15; // relative to the largest: exact data leave the last one at 0

// The triangular factor of diag(values) vectors'.
inline void write_triangle(const double* values, const double* vectors, long long size, double* r)
{
    const long long stride = whole_lanes(size);
    Numbers columns(size * stride);
    for (long long j = 0; j < size; j++) {
        for (long long i = 0; i < size; i++) {
            columns[j * stride + i] = values[i] * vectors[j * size + i];
            r[j * size + i] = 0.0;
        }
    }
    fold_columns(r, size, columns, stride);
}

// out = m x, m (size, size)
inline void multiply(const double* m, long long size, const double* x, double* out)
{
    for (long long i = 0; i < size; i++) {
        out[i] = 0.0;
        for (long long j = 0; j < size; j++)
            out[i] += m[i * size + j] * x[j];
    }
}

inline double dot(const double* a, const double* b, long long size)
{
    double total = 0.0;
    for (long long i = 0; i < size; i++)
        total += a[i] * b[i];
    return total;
}

inline double solve(const double* r, long long size, long long exact, const double* noise, double* out)
{
    const long long m = size - exact, p = size - 1;
    double largest = 0.0;
    for (long long i = exact; i < size; i++)
        largest = __builtin_fmax(largest, __builtin_fabs(r[i * size + i]));
    if (largest == 0.0)
        return -1.0;
    Numbers t(m * m), x(m), v(m), pulled(m);
    for (long long i = 0; i < m; i++) {
        for (long long j = i; j < m; j++)
            t[i * m + j] = r[(exact + i) * size + exact + j];
        if (__builtin_fabs(t[i * m + i]) < SMALLEST_PIVOT * largest)
            t[i * m + i] = SMALLEST_PIVOT * largest; // any tiny number gives the same direction
    }
    x[m - 1] = 1.0;
    double ratio = -1.0;
    for (int step = 0; step < STEPS; step++) {
        back_substitute(t, m, m, x, 1, v);
        multiply(noise, m, v, pulled);
        const double along = dot(v, pulled, m);
        if (!(along > 0.0))
            return -1.0;
        for (long long i = 0; i < m; i++) { // T' pulled' = pulled, in its place
            double total = pulled[i];
            for (long long j = 0; j < i; j++)
                total -= t[j * m + i] * pulled[j];
            pulled[i] = total / t[i * m + i];
        }
        const double norm = __builtin_sqrt(dot(pulled, pulled, m));
        const double sign = pulled[m - 1] * x[m - 1] >= 0.0 ? 1.0 : -1.0;
        double change = 0.0;
        for (long long i = 0; i < m; i++) {
            const double following = sign * pulled[i] / norm;
            change = __builtin_fmax(change, __builtin_fabs(following - x[i]));
            x[i] = following;
        }
        ratio = 1.0 / along;
        if (change < 1e-15 && step > 0)
            break;
    }
    back_substitute(t, m, m, x, 1, v);
    if (v[m - 1] == 0.0)
        return -1.0;
    for (long long i = 0; i < m - 1; i++)
        out[exact + i] = -v[i] / v[m - 1];
    for (long long i = exact - 1; i >= 0; i--) {
        double total = r[i * size + p];
        for (long long j = i + 1; j < p; j++)
            total -= r[i * size + j] * out[j];
        if (r[i * size + i] == 0.0)
            return -1.0;
        out[i] = total / r[i * size + i];
    }
    return ratio;
}

} // namespace

// Solve the problem of the triangle r (size, size), y its last column, whose first `exact` columns have no errors;
// noise (m, m), m = size - exact, is the Gram matrix of the errors of the others. Of the trailing block T the direction
// v with the least ratio v' T' T v / v' noise v is sought: x = T v is the dominant eigenvector of T^-T noise T^-1,
// found by power iteration, whose eigenvalues lie far apart wherever the data determine anything. Given singular values
// (size) and right singular vectors (size, size), r is written from them first. The least ratio; negative if there is
// no solution, or if r was written and does not determine one. Output: out (size - 1).
KERNEL(double, solve_total)(long long size, long long exact, const double* values, const double* vectors,
    const double* noise, double* r, double* out)
{
    if (values) {
        write_triangle(values, vectors, size, r);
        if (!is_determined(r, size - 1))
            return -1.0;
    }
    const double ratio = solve(r, size, exact, noise, out);
    for (long long i = 0; i < size - 1; i++)
        if (!__builtin_isfinite(out[i]))
            return -1.0;
    return ratio;
}

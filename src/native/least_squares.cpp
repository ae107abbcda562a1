// Least squares of any number of rows in the memory of one triangle.
#include "triangle.hpp"

using namespace IPARAM_PATH;

namespace {

constexpr long long CHUNK = 256; // rows that are folded in at once: long loops, and yet they stay in the cache

} // namespace

// Fold rows (b, p) into the triangular factor r (p, p): r' r becomes r' r + rows' rows.
KERNEL(void, fold_rows)(long long b, long long p, const double* rows, double* r)
{
    const long long most = whole_lanes(b < CHUNK ? b : CHUNK);
    Numbers columns(p * most);
    for (long long start = 0; start < b; start += CHUNK) {
        const long long count = b - start < CHUNK ? b - start : CHUNK, stride = whole_lanes(count);
        for (long long j = 0; j < p; j++) {
            double* column = columns + j * stride;
            for (long long k = 0; k < count; k++)
                column[k] = rows[(start + k) * p + j];
            for (long long k = count; k < stride; k++)
                column[k] = 0.0;
        }
        fold_columns(r, p, columns, stride);
    }
}

// Solve a triangle r (p + 1, p + 1) of [A, y] for its p unknowns; 0 if it does not determine them.
KERNEL(long long, solve_triangle)(long long p, const double* r, double* solution)
{
    return is_determined(r, p) && back_substitute(r, p + 1, p, r + p, p + 1, solution);
}

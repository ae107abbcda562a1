// Upper triangular factors r (p, p): r' r is the Gram matrix of all rows that were folded in.
#pragma once

#include "workspace.hpp"

namespace IPARAM_PATH {

constexpr double UNDERFLOW_SQUARE = 1e-280; // sum of squares whose inverse is no longer a number
constexpr double DETERMINED =
    1e-10; // part of a column, relative, that those before it must leave for it to count as determined

// Reflect C columns `other`, `stride` numbers apart, with `own`; `head` has their entries in the triangle.
template <int C>
[[gnu::always_inline]] inline void reflect(
    const double* own, double* other, long long stride, double* head, double pivot, double scale)
{
    Lanes sums[C] = {};
    for (long long k = 0; k < stride; k += WIDTH) {
        const Lanes x = load(own + k);
        for (int c = 0; c < C; c++)
            sums[c] += x * load(other + c * stride + k);
    }
    double inner[C];
    for (int c = 0; c < C; c++) {
        inner[c] = (head[c] * pivot + sum(sums[c])) * scale;
        head[c] += inner[c] * pivot;
    }
    for (long long k = 0; k < stride; k += WIDTH) {
        const Lanes x = load(own + k);
        for (int c = 0; c < C; c++)
            store(other + c * stride + k, load(other + c * stride + k) + inner[c] * x);
    }
}

// Fold in rows, given by their columns (p, stride), a multiple of WIDTH: Householder's reflections turn them into r.
// Both change.
inline void fold_columns(double* r, long long p, double* columns, long long stride)
{
    for (long long i = 0; i < p; i++) {
        const double* own = columns + i * stride;
        Lanes squares = {};
        for (long long k = 0; k < stride; k += WIDTH)
            squares += load(own + k) * load(own + k);
        const double below = sum(squares);
        if (below < UNDERFLOW_SQUARE)
            continue;
        double* row = r + i * p;
        double norm = __builtin_sqrt(row[i] * row[i] + below);
        if (row[i] > 0.0)
            norm = -norm;
        const double pivot = row[i] - norm, scale = 1.0 / (norm * pivot);
        row[i] = norm;
        long long j = i + 1;
        for (; j + 4 <= p; j += 4)
            reflect<4>(own, columns + j * stride, stride, row + j, pivot, scale);
        for (; j < p; j++)
            reflect<1>(own, columns + j * stride, stride, row + j, pivot, scale);
    }
}

// x = inverse of r times right; false if r is singular.
inline bool back_substitute(
    const double* r, long long stride, long long p, const double* right, long long step, double* x)
{
    for (long long i = p - 1; i >= 0; i--) {
        double total = right[i * step];
        for (long long j = i + 1; j < p; j++)
            total -= r[i * stride + j] * x[j];
        if (r[i * stride + i] == 0.0)
            return false;
        x[i] = total / r[i * stride + i];
    }
    return true;
}

// Whether a triangle (p + 1, p + 1) of [A, y] determines its p unknowns.
inline bool is_determined(const double* r, long long p)
{
    for (long long j = 0; j < p; j++) {
        double square = 0.0;
        for (long long i = 0; i <= j; i++)
            square += r[i * (p + 1) + j] * r[i * (p + 1) + j];
        const double own = r[j * (p + 1) + j];
        if (!(own * own > DETERMINED * DETERMINED * square)) // NaN fails too
            return false;
    }
    return true;
}

} // namespace IPARAM_PATH

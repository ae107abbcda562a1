// Cholesky's factor L L' of a symmetric positive definite matrix.
#pragma once

#include "kernel.hpp"

namespace IPARAM_PATH {

// Write L over the lower triangle of a (n, n), and L^-1 right over right (n, columns).
inline void factor_and_reduce(double* a, long long n, double* right, long long columns)
{
    for (long long i = 0; i < n; i++) {
        double* row = right + i * columns;
        for (long long j = 0; j <= i; j++) {
            double total = a[i * n + j];
            for (long long k = 0; k < j; k++)
                total -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? __builtin_sqrt(total) : total / a[j * n + j];
        }
        for (long long k = 0; k < i; k++)
            for (long long c = 0; c < columns; c++)
                row[c] -= a[i * n + k] * right[k * columns + c];
        for (long long c = 0; c < columns; c++)
            row[c] /= a[i * n + i];
    }
}

// Write L'^-1 right over right (n, columns).
inline void back_substitute(const double* l, long long n, double* right, long long columns)
{
    for (long long i = n - 1; i >= 0; i--) {
        double* row = right + i * columns;
        for (long long k = i + 1; k < n; k++)
            for (long long c = 0; c < columns; c++)
                row[c] -= l[k * n + i] * right[k * columns + c];
        for (long long c = 0; c < columns; c++)
            row[c] /= l[i * n + i];
    }
}

} // namespace IPARAM_PATH

// A filter of second order.
#include "kernel.hpp"

// Filter values (N, C) into found (N, C), of both of which all before the first are 0. factors (2, 3) are those of
// values and of found, of which the first is 1.
KERNEL(void, recursive_filter)(
    long long samples, long long columns, const double* factors, const double* values, double* found)
{
    const double a0 = factors[0], a1 = factors[1], a2 = factors[2], b1 = factors[4], b2 = factors[5];
    for (long long n = 0; n < samples; n++) {
        const double* x = values + n * columns;
        double* y = found + n * columns;
        for (long long c = 0; c < columns; c++)
            y[c] = a0 * x[c];
        if (n > 0)
            for (long long c = 0; c < columns; c++)
                y[c] += a1 * x[c - columns] - b1 * y[c - columns];
        if (n > 1)
            for (long long c = 0; c < columns; c++)
                y[c] += a2 * x[c - 2 * columns] - b2 * y[c - 2 * columns];
    }
}

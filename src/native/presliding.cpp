// The spring of friction that motion takes along (Dahl 1968).
#include "kernel.hpp"

// Go on with state (T, n), whose first row is given: s <- side + (s - side) decay, where a step went to a side (T - 1,
// n), -1 or 1, and 0 where it went nowhere; decay (T - 1, n) is what it leaves of the tension.
KERNEL(void, presliding)(long long samples, long long n, const double* side, const double* decay, double* state)
{
    for (long long k = 1; k < samples; k++, side += n, decay += n, state += n)
        for (long long i = 0; i < n; i++)
            state[n + i] = side[i] + (state[i] - side[i]) * decay[i];
}

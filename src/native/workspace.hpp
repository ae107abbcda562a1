// Numbers that a kernel works with and forgets: few on its stack, more from memory.
#pragma once

#include <stdlib.h>

#include "lanes.hpp"

namespace IPARAM_PATH {

// Lanes at any address of a number.
typedef double NearLanes __attribute__((vector_size(WIDTH * sizeof(double)), aligned(8), may_alias));

[[gnu::always_inline]] inline Lanes load(const double* at) { return *reinterpret_cast<const NearLanes*>(at); }
[[gnu::always_inline]] inline void store(double* at, Lanes x) { *reinterpret_cast<NearLanes*>(at) = x; }

[[gnu::always_inline]] inline double sum(Lanes x)
{
    double total = 0.0;
    for (int lane = 0; lane < WIDTH; lane++)
        total += x[lane];
    return total;
}

// The next multiple of WIDTH.
inline long long whole_lanes(long long count) { return (count + WIDTH - 1) / WIDTH * WIDTH; }

class Numbers {
    static constexpr long long FEW = 1200;
    double few[FEW];
    double* memory = nullptr;

public:
    // All 0.
    explicit Numbers(long long count)
    {
        if (count > FEW) {
            memory = static_cast<double*>(calloc(count, sizeof(double)));
            if (!memory)
                abort();
        } else {
            for (long long i = 0; i < count; i++)
                few[i] = 0.0;
        }
    }
    ~Numbers() { free(memory); }
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;
    operator double*() { return memory ? memory : few; }
};

} // namespace IPARAM_PATH

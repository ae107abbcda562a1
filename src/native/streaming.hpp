// Results that no cache holds are written past the caches: then the memory is not read before it is written.
#pragma once

#include <stdint.h>

#include "workspace.hpp"

namespace IPARAM_PATH {

// Size of a result from which on it is written past the caches [bytes]: about what the last cache has for one core.
constexpr long long BEYOND_CACHES = 8 << 20;

// x to memory, at a multiple of its size, past the caches; where there is no such instruction, through them.
[[gnu::always_inline]] inline void stream(double* at, Lanes x)
{
#if defined(__clang__)
    __builtin_nontemporal_store(x, reinterpret_cast<Lanes*>(at));
#elif defined(__AVX__)
    __asm__("vmovntpd %1, %0" : "=m"(*reinterpret_cast<Lanes*>(at)) : "v"(x));
#elif defined(__SSE2__)
    __asm__("movntpd %1, %0" : "=m"(*reinterpret_cast<Lanes*>(at)) : "x"(x));
#else
    store(at, x);
#endif
}

// Copy `count` numbers past the caches.
[[gnu::always_inline]] inline void stream(double* to, const double* from, long long count)
{
    long long i = 0;
    for (; i < count && reinterpret_cast<uintptr_t>(to + i) % sizeof(Lanes); i++)
        to[i] = from[i];
    for (; i + WIDTH <= count; i += WIDTH)
        stream(to + i, load(from + i));
    for (; i < count; i++)
        to[i] = from[i];
}

// What was streamed before is seen by other threads not later than what is stored after.
inline void end_of_stream()
{
#if defined(__x86_64__)
    __asm__ volatile("sfence" ::: "memory");
#endif
}

} // namespace IPARAM_PATH

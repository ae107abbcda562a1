// What this processor can do. Compiled for every processor, unlike the kernels.
#include "kernel.hpp"

extern "C" IPARAM_EXPORT int supports_baseline() { return 1; }

#if defined(__x86_64__)

namespace {

struct Registers {
    unsigned a, b, c, d;
};

Registers cpuid(unsigned leaf)
{
    Registers r;
    __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(0u));
    return r;
}

// The kinds of registers that the operating system keeps for each program.
unsigned kept_registers()
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0u));
    return low;
}

bool all_of(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

constexpr unsigned bit(int position) { return 1u << position; }

} // namespace

// x86-64-v3: AVX, AVX2, FMA, F16C, MOVBE, BMI1, BMI2, LZCNT.
extern "C" IPARAM_EXPORT int supports_avx2()
{
    if (cpuid(0).a < 7 || cpuid(0x80000000u).a < 0x80000001u)
        return 0;
    const unsigned basic = bit(12) | bit(22) | bit(27) | bit(28) | bit(29), more = bit(3) | bit(5) | bit(8);
    return all_of(cpuid(1).c, basic) && all_of(kept_registers(), 0x6) && all_of(cpuid(7).b, more)
        && all_of(cpuid(0x80000001u).c, bit(5));
}

// x86-64-v4: AVX-512 F, DQ, CD, BW and VL besides.
extern "C" IPARAM_EXPORT int supports_avx512()
{
    const unsigned more = bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
    return supports_avx2() && all_of(kept_registers(), 0xe6) && all_of(cpuid(7).b, more);
}

#endif

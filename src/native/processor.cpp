// What this processor can do. Compiled for every processor, unlike the kernels.
#include "kernel.hpp"

extern "C" IPARAM_EXPORT int supports_baseline() { return 1; }

#if defined(__x86_64__)
extern "C" IPARAM_EXPORT int supports_avx2()
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

extern "C" IPARAM_EXPORT int supports_avx512()
{
    return supports_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
        && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd");
}
#endif

// How a kernel is seen from outside. Every source is compiled once for each path (baseline, avx2, avx512), with the
// path's name in IPARAM_PATH: KERNEL(void, mass_matrix) is the C function mass_matrix_avx2, and all that is not a
// kernel lives in the namespace IPARAM_PATH, so that the linker never takes one path's code for another's.
#pragma once

#if defined(_WIN32)
#define IPARAM_EXPORT __declspec(dllexport)
#else
#define IPARAM_EXPORT __attribute__((visibility("default")))
#endif

#define IPARAM_JOIN_(name, path) name##_##path
#define IPARAM_JOIN(name, path) IPARAM_JOIN_(name, path)
#define KERNEL(type, name) extern "C" IPARAM_EXPORT type IPARAM_JOIN(name, IPARAM_PATH)

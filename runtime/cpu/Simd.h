/// Hot loops are compiled for several processor levels and chosen at load; everything else is baseline.
#ifndef PAR_CPU_SIMD_H
#define PAR_CPU_SIMD_H

// Sanitizers start after the resolvers that choose the clone have run, so instrumented builds have one
// version.
#ifdef PAR_SANITIZE
#define PAR_CLONES
#else
#define PAR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#endif

#endif

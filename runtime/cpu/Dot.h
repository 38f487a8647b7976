/// Sums of products of two vectors, of any length, without losing digits.
#ifndef PAR_CPU_DOT_H
#define PAR_CPU_DOT_H

#include "cpu/Pool.h"

namespace par::cpu {

/// Σ a[i * strideA] * b[i * strideB], i < count. A chain of f32 additions as long as an embedding has
/// elements would stop growing (gradient norms are such sums), so blocks are summed in f32 and their sums in
/// f64. Independent of the number of threads.
double dot(Pool *pool, int64_t count, const float *a, int64_t strideA, const float *b, int64_t strideB);

} // namespace par::cpu
#endif

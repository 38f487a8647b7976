/// Products of f32 and of bf16 matrices from packed blocks, dealt out among the threads of a rank.
#ifndef PAR_CPU_BLOCKEDPRODUCT_H
#define PAR_CPU_BLOCKEDPRODUCT_H

#include "cpu/Pool.h"
#include "par/runtime.h"

namespace par::cpu {

/// Multiplications that are worth a thread.
constexpr int64_t worthAThread = 64 * 64 * 64;

/// A product of bf16 matrices, otherwise as par_product; ld and strides in elements. Sums are f32. If
/// `rounded` is given, rounded = bf16(bf16(C) + bf16(roundedBeta * roundedAddend)) is computed too, and C is
/// room for the sums.
struct Bf16Product {
  int32_t transpose_a, transpose_b;
  int64_t m, n, k;
  const uint16_t *a;
  int64_t lda;
  const uint16_t *b;
  int64_t ldb;
  float beta;
  const float *addend;
  float *c;
  int64_t ldc;
  float roundedBeta;
  const uint16_t *roundedAddend; ///< laid out as rounded, maybe rounded itself; not read with roundedBeta 0
  uint16_t *rounded;             ///< or null
  int64_t roundedStride;
};

/// C = A B + beta D for each, one after the other: a later one may add to what an earlier one computed. On
/// the pool's threads; null: on the calling one.
///
/// Blocking after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008). What
/// lies along the shorter side of C is packed once, for all threads, a block at a time; along the longer side
/// strips are dealt out to whoever is free, as threads of a shared machine are not equally fast.
///
/// An element's sum depends on k alone, not on m, n or its place, nor on threads or timing: rows and columns
/// may be sharded in any way, to the same bits.
void multiplyBlocked(Pool *pool, const par_product *products, int64_t count);
void multiplyBlocked(Pool *pool, const Bf16Product *products, int64_t count);

/// Takes the memory that products need on the calling thread (cpu/ThreadMemory.h).
void prepareProducts();

} // namespace par::cpu
#endif

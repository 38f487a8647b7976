/// Products of f32 matrices from packed blocks, dealt out among the threads of a rank.
#ifndef PAR_CPU_BLOCKEDPRODUCT_H
#define PAR_CPU_BLOCKEDPRODUCT_H

#include "cpu/Pool.h"
#include "par/runtime.h"

namespace par::cpu {

/// Multiplications that are worth a thread.
constexpr int64_t worthAThread = 64 * 64 * 64;

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

} // namespace par::cpu
#endif

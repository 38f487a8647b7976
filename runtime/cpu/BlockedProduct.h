/// A product of matrices from packed blocks, for shapes at which the library's own product is slow.
#ifndef PAR_CPU_BLOCKEDPRODUCT_H
#define PAR_CPU_BLOCKEDPRODUCT_H

#include <cstdint>

namespace par::cpu {

/// C[m, n] = addend + A[m, k] B[k, n]; ld = elements between rows in memory.
struct MatrixProduct {
  bool transposeA; ///< a holds A^T
  int64_t m, n, k;
  const float *a;
  int64_t lda;
  const float *b;
  int64_t ldb;
  const float *addend; ///< laid out as c, and may be c; null: 0
  float *c;
  int64_t ldc;
};

/// Whether `multiplyBlocked` is the faster one. Asked of a whole product, not of a thread's part, so that
/// results do not depend on the number of threads.
///
/// The library computes small products from the operands where they lie, without copies. Where rows are then
/// whole pages apart, they fall on the same sets of the caches.
bool suitsBlocks(bool transposeA, bool transposeB, int64_t m, int64_t n, int64_t lda, int64_t ldb);

/// On the calling thread. An element's sum depends on k alone, not on m, n or its place: rows and columns may
/// be dealt out among threads in any way, to the same bits. Blocking after Goto and van de Geijn, "Anatomy of
/// High-Performance Matrix Multiplication" (2008).
void multiplyBlocked(const MatrixProduct &product);

} // namespace par::cpu
#endif

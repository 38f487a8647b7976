//===- EinsumGemm.h - contractions that are matrix products -----------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_EINSUMGEMM_H
#define PAR_DIALECT_PAR_IR_EINSUMGEMM_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// A contraction as a (batched) row-major GEMM: C[i] = op(A[i]) · op(B[i]) for i < batch, as par_gemm in
/// runtime/include/par/runtime.h takes it. Sizes, strides and leading dimensions in elements.
struct GemmShape {
  /// The product is computed with operand 1 as A and operand 0 as B.
  bool swapped = false;
  bool transposeA = false, transposeB = false;
  int64_t m = 1, n = 1, k = 1, batch = 1;
  int64_t lda = 1, ldb = 1, ldc = 1;
  int64_t strideA = 0, strideB = 0, strideC = 0;

  /// Whether a matrix of the result begins before the one before it has ended: the batch is no outermost
  /// dimension of it.
  bool interleavesC() const { return batch > 1 && strideC < ldc * (m - 1) + n; }
};

/// The GEMM that computes an einsum of two contiguous row-major operands, if there is one: letters common to
/// both operands and the result (batch), those of A and C (rows), B and C (columns) and A and B (contracted)
/// each collapse to one strided dimension. None for products without a contraction, for plain sums of
/// products and for element types that the runtime does not multiply.
std::optional<GemmShape> matchGemm(EinsumOp op);

/// What is added to a value that nothing else uses.
struct Addition {
  arith::AddFOp add;
  Value other;          ///< what the value is added to
  arith::MulFOp scaled; ///< `other` where it is `begin` times a broadcast scalar, for nobody else; else null
  Value begin, scale;   ///< `other` is scale · begin; without `scaled` it is begin
};
std::optional<Addition> findAddition(Value value);

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_EINSUMGEMM_H

//===- Epilogue.h - what a product's call computes beside the product --------------------------*- C++
//-*-===//
#ifndef PAR_DIALECT_RANK_IR_EPILOGUE_H
#define PAR_DIALECT_RANK_IR_EPILOGUE_H

#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par::rank {

/// What becomes of a product, as a library computes it in the product's own call. The meaning is that of the
/// ops: f32 up to one rounding at the end.
struct ProductEpilogue {
  Epilogue kind = Epilogue::None;
  Value result;                 ///< what is C
  Value vector;                 ///< the bias, or the sums
  Value aux;                    ///< what GELU is of: made here, or read by its gradient
  SmallVector<Operation *> ops; ///< beside the product
};

/// The epilogue of a product whose ops serve nothing else, in a function on tensors as in the region of a
/// rank.gemm. The same for every target: whether it has epilogues is asked before.
std::optional<ProductEpilogue> matchEpilogue(EinsumOp product);

/// Of `value`, as large as the product's result: the tensor of n elements that each row of it is, seen
/// through a conversion to f32; null for anything else.
Value findBias(Value value, const GemmShape &gemm, SmallVectorImpl<Operation *> &ops);

/// GELU's input lies in rows that cuBLASLt takes if they are of whole 8 elements.
bool mayHaveAux(const GemmShape &gemm);

/// The kernel that computes the epilogue of a product behind the product alone, whose result, rounded to C's
/// type, it finds in C: on the buffers of `gemm`, whose scratch but for the first is its own, and part of no
/// block. What is written over C is read at the same place before. Null where there is no epilogue.
OwningOpRef<KernelOp> separateEpilogue(GemmOp gemm);

} // namespace mlir::par::rank

#endif // PAR_DIALECT_RANK_IR_EPILOGUE_H

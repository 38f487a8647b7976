//===- AttentionCall.h - sizes of an attention and where its tensors are ------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONCALL_H
#define PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONCALL_H

#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// Rows in a buffer of a rank.attention, by the buffer's number among ins, outs and scratch.
struct BufferRows {
  int64_t operand = -1, offset = 0, stride = 0; ///< elements
};

/// A par.attention or par.attention_backward. Numbers are those of operands, as in BufferRows; -1: there is
/// none.
struct AttentionCall {
  bool isBackward;
  Type type; ///< f32 or bf16
  int64_t batch, qRows, kRows, kvHeads, group;
  int64_t headDim, valueDim; ///< elements of a query and a key, and of a value
  double scale;
  double cap; ///< 0: none
  bool causal;
  int64_t window;    ///< 0: none
  bool diagonal;     ///< positions are row numbers, but for what is added to all of them
  bool rowsPerEntry; ///< tables of rows are [batch, rows], else [rows]
  double dropout;    ///< 0: none
  SmallVector<int64_t> strides;

  BufferRows q, k, v, out;
  BufferRows dout, dq, dk, dv; ///< of a backward pass
  int64_t qPositions, kPositions, qDocuments = -1, kDocuments = -1, lse, delta = -1;
  int64_t sinks = -1;                                  ///< of a forward pass
  Type sinkType;                                       ///< f32 or bf16
  int64_t key = -1, site = -1, row = -1, offsets = -1; ///< of dropout

  int64_t countQueryHeads() const { return kvHeads * group; }
  bool hasDocuments() const { return qDocuments >= 0; }
  /// Whether scores are capped by the hardware's tangent, off by 2^-11 of itself: in bf16, where products are
  /// too few to hide two functions more.
  bool hasRoughCap() const { return cap > 0 && type.isBF16() && headDim + valueDim < 256; }
};

/// Error where operands are no inputs or outputs of the op, or integers no i32.
FailureOr<AttentionCall> readAttention(rank::AttentionOp work);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_ATTENTION_ATTENTIONCALL_H

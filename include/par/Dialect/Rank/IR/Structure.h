//===- Structure.h - what a library call computes, told from a region -------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_RANK_IR_STRUCTURE_H
#define PAR_DIALECT_RANK_IR_STRUCTURE_H

#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par::rank {

/// `products` of a rank.gemm with this body, in the order in which sums are added up; none if the body does
/// anything else, which a library call would leave out.
ArrayAttr describeProducts(Block &body);

/// `structure` of a rank.attention with this body; null without a par.attention or par.attention_backward of
/// one type, f32 or bf16, or where its rows lie in no input or output.
AttentionAttr describeAttention(Block &body);

} // namespace mlir::par::rank

#endif // PAR_DIALECT_RANK_IR_STRUCTURE_H

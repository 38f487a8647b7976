//===- Structure.h - what a library call computes, told from a region -------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_RANK_IR_STRUCTURE_H
#define PAR_DIALECT_RANK_IR_STRUCTURE_H

#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par::rank {

/// `products` of a rank.gemm with this body, in the order in which sums are added up; none if the body does
/// anything else, which a library call would leave out.
ArrayAttr describeProducts(Block &body);

/// The places of those operands and results of a library's op that may be rows of joint tensors.
struct LibraryRows {
  SmallVector<RowsAttr> operands, results;
};
/// None where some are rows of no input or output of the body.
std::optional<LibraryRows> describeRows(par::LibraryOpInterface op, Block &body);

} // namespace mlir::par::rank

#endif // PAR_DIALECT_RANK_IR_STRUCTURE_H

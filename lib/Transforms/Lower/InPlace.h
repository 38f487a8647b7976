//===- InPlace.h - where work may write over what it reads ------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_INPLACE_H
#define PAR_LIB_TRANSFORMS_LOWER_INPLACE_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Ops that run as one kernel or library call, and what they may do to the memory of their operands: the same
/// for ops of a function on tensors and for those in the region of a rank op, so that the lowering and the
/// verification of its result cannot differ.
class WorkOps {
public:
  /// In the order of their block.
  explicit WorkOps(ArrayRef<Operation *> ops) : ops(ops) {}

  bool contains(Operation *op) const { return llvm::is_contained(ops, op); }
  /// All that the ops read of `in` they have read when they write `out`, its result, to the same place. Uses
  /// of `in` elsewhere are the caller's matter.
  bool mayShare(Value in, Value out) const;
  /// What the matrix products that `out` is the sum of are added to; null for other work.
  Value findSum(Value out) const;
  bool isProductSum() const;

private:
  bool writesBeforeItReads() const;
  bool readsInPlace(OpOperand &use, Value out) const;
  bool staysInPlace(OpOperand &use) const;

  ArrayRef<Operation *> ops;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_INPLACE_H

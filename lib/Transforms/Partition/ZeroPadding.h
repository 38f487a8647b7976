//===- ZeroPadding.h - which padding is known to be zero --------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_ZEROPADDING_H
#define PAR_LIB_TRANSFORMS_PARTITION_ZEROPADDING_H

#include "PaddedSizes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::par {

/// For every value and dimension whether its padding is known to be zero. Everything starts as zero and
/// becomes unknown until nothing changes, so that functions that call each other agree.
class ZeroPadding {
public:
  ZeroPadding(ModuleOp module, const PaddedSizes &sizes) : module(module), symbols(module), sizes(sizes) {}

  void solve();
  bool isZero(Value value, unsigned dim) const { return !unknown.contains({value, dim}); }
  /// Padding exists in this dimension.
  bool isPadded(Value value, unsigned dim) const { return sizes.isPadded(value, dim); }

private:
  bool visit(Operation *op);
  bool visitRule(Operation *op, RuleAttr rule);
  bool visitCall(CallOp call);
  /// What is unknown of `from` is so of `to`, which is the same value.
  bool copyUnknown(Value from, Value to);
  bool markUnknown(Value value, unsigned dim);
  bool givesZero(Operation *op, RuleAttr rule, int64_t factor) const;
  bool isNeverNamed(Operation *op, OpResult result, unsigned dim) const;
  void seedArguments();

  ModuleOp module;
  SymbolTable symbols;
  const PaddedSizes &sizes;
  llvm::MapVector<BlockArgument, Value>
      handedOver; ///< what chunk functions take of each other, as it is made
  llvm::DenseSet<std::pair<Value, unsigned>> unknown;
};

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_ZEROPADDING_H

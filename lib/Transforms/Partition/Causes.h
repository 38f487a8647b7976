//===- Causes.h - why a collective exists -----------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_CAUSES_H
#define PAR_LIB_TRANSFORMS_PARTITION_CAUSES_H

#include "par/Dialect/Par/IR/Par.h"
#include <map>

namespace mlir::par {

/// Why values are partial sums, remembered across the functions of a module: what a call gives is explained
/// by the callee's ops, what an accumulator holds by the ops that add to it.
class SumCauses {
public:
  /// "einsum "bsm,em->bse" sums over tp <- annotation of @h.mlp.c_proj.weight".
  std::string describe(Value value, ArrayRef<StringAttr> axes) const;
  /// Called when the function's values have their final shardings; callees and writers of variables first.
  void remember(func::FuncOp function);

private:
  struct Cause {
    std::string ops;     ///< the ops that sum; empty: nothing is known
    std::string origins; ///< " <- annotation of …", may be empty
    bool direct = true;  ///< the value itself is the op's result
  };
  Cause find(Value value, ArrayRef<StringAttr> axes) const;
  /// What is known of the callee's result or the variable behind a source.
  Cause lookup(Value source) const;

  std::map<std::pair<std::string, unsigned>, Cause> results; ///< by function and result
  std::map<std::string, Cause> variables;
};

/// "cross_entropy has operands split over tp <- …": of collectives that an op's own way to be partitioned
/// needs.
std::string describeLocal(Operation *op);
/// "operand 1 of rms_norm needs {} instead of {tp} in dimension 2 <- annotation of …".
std::string describeOperand(Operation *user, unsigned operand, ShardingAttr from, ShardingAttr to);
/// "result 0 of einsum … is wanted as <…>".
std::string describeResult(OpResult result, ShardingAttr to);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_CAUSES_H

//===- ShardingProblem.h - what may be chosen where a graph is split along one axis -----------*- C++ -*-===//
#ifndef PAR_SHARDINGSEARCH_SHARDINGPROBLEM_H
#define PAR_SHARDINGSEARCH_SHARDINGPROBLEM_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// How a tensor lies along the axis that is searched: split along the dimension of that number, whole on each
/// rank, or as the sum of what the ranks hold.
using Layout = int64_t;
constexpr Layout kWhole = -1, kPartial = -2;

/// Values, and the variables they are read from, that lie alike: what calls hand on is one with what callees
/// take. This is what propagation makes of them.
struct TensorGroup {
  SmallVector<Layout> layouts; ///< those that may be chosen
  SmallVector<VariableOp> parameters;
  /// Takes the layout that its ops compute; others (parameters, inputs) lie as it is written on them.
  bool isOpen = true;
};

/// A tensor of one function.
struct TensorValue {
  unsigned group;
  RankedTensorType type;
  double weight;         ///< how often a step computes it
  bool isActive = false; ///< has a gradient
  /// Calls or the caller read it: what they give to its gradient is complete, and comes first.
  bool isHandedOn = false;
};

/// An operand or result of an op.
struct Access {
  unsigned value;
  bool isResult;
  /// By alternative of the op. Of an operand what it is read as, and its gradient comes out as; of a result
  /// what it comes out as, and its gradient is read as. Partial of an operand is its gradient alone: the op
  /// reads it whole.
  SmallVector<Layout> layouts;
};

/// An op, and the factors by which it may be split.
struct OpChoice {
  Operation *op;
  double weight;
  SmallVector<int64_t> factors; ///< the alternatives; the first is -1, not split
  SmallVector<double> flops, bytes;
  /// Values that ranks exchange within the op to complete what they compute, by alternative.
  SmallVector<double> exchanged;
  double passes; ///< forward and backward: how often it is computed
  SmallVector<Access> accesses;
};

/// Equal functions are one, with the weight of all their calls.
struct ShardingProblem {
  StringRef mesh; ///< its name
  StringAttr axis;
  int64_t ranks; ///< along the axis
  std::vector<TensorGroup> groups;
  std::vector<TensorValue> values;
  std::vector<OpChoice> ops;
};

/// Of the training functions of a forward graph. Dimensions are known by the factors of ops alone; what no
/// parameter's dimension leads to (the batch) is not split. Fails after an error at an op that has no rule.
FailureOr<ShardingProblem> describeProblem(ModuleOp module, StringAttr axis);

} // namespace mlir::par

#endif // PAR_SHARDINGSEARCH_SHARDINGPROBLEM_H

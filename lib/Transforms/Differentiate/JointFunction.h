//===- JointFunction.h - a function's forward and backward ops in one block -------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_DIFFERENTIATE_JOINTFUNCTION_H
#define PAR_LIB_TRANSFORMS_DIFFERENTIATE_JOINTFUNCTION_H

#include "Activity.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::par {

/// What an argument or a result of a derived function is. Arguments of derived functions stand in the order
/// of the kinds.
struct Slot {
  enum Kind {
    Argument,       ///< argument `index` of the forward function
    Result,         ///< result `index` of the forward function, which the caller has anyway
    Residual,       ///< saved value `index`
    WeightResidual, ///< value `index` that the input part hands to the weight part
    Cotangent,      ///< of result `index` (as an argument) or of argument `index` (as a result)
    Scale,          ///< the gradients' seed; 1 + i: the weight of the loss that is result i
    Beta,           ///< factor of the accumulators' previous values; 1: of those that are shared
    Accumulator,    ///< of argument `index`
  };
  Kind kind;
  unsigned index = 0;

  bool operator==(const Slot &other) const { return kind == other.kind && index == other.index; }
  bool operator<(const Slot &other) const {
    return std::tie(kind, index) < std::tie(other.kind, other.index);
  }
};

/// A backward function and what its arguments and results are; `function` is null where nothing is to be
/// done.
struct DerivedFunction {
  func::FuncOp function;
  SmallVector<Slot> inputs, outputs;
};

/// What a caller must know of a differentiated layer.
struct Derivative {
  func::FuncOp forward; ///< returns the results, then the residuals
  unsigned numResults = 0;
  DerivedFunction backward, backwardInput, backwardWeight;
};

using Derivatives = llvm::StringMap<Derivative>;

/// A scratch function: clones of the forward ops (calls replaced by calls of `.forward`), backward ops behind
/// them, and arguments for cotangents, seed, beta and accumulators behind those of the forward function.
/// Erased with this object.
class JointFunction {
public:
  /// Accumulators have elements of `gradientType`.
  JointFunction(const FunctionInfo &info, Type gradientType) : info(info), gradientType(gradientType) {}
  JointFunction(JointFunction &&) = delete;
  ~JointFunction();

  /// `split` decides whether callees' backward functions are called whole or in two parts.
  LogicalResult build(const Activity &activity, const Derivatives &callees, bool split);

  Block &getBody() { return scratch.getBody().front(); }
  /// Values that the forward function returns.
  OperandRange getResults() { return getBody().getTerminator()->getOperands(); }
  /// Backward ops in order.
  SmallVector<Operation *> getBackwardOps();
  bool isOriginalArgument(Value value) const;

  const FunctionInfo &info;
  const Type gradientType;
  func::FuncOp scratch;
  llvm::SetVector<Operation *> forwardOps;
  DenseSet<Value> calleeResiduals; ///< results of calls in the forward part that are saved whatever is chosen
  DenseMap<Value, Slot> addedArguments;
  SmallVector<std::pair<Slot, Value>> outputs; ///< cotangents of arguments, then accumulators, by argument
  DenseSet<Operation *> weightOps;             ///< backward ops of the weight part (only with `split`)
};

/// `sharding` of a value as its cotangent takes it: the dimensions alone; null for null.
ShardingAttr getDimensionSharding(ShardingAttr sharding);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_DIFFERENTIATE_JOINTFUNCTION_H

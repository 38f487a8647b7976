//===- ChainRule.h - derivatives as numbers ------------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_CHAINRULE_H
#define PAR_LIB_JUDGE_CHAINRULE_H

#include "OpNumbers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <memory>

namespace mlir::par {

/// The judge's own reverse mode: derivatives of ops are what their `differentiate` builds, cotangents are
/// summed in the field, and a call is differentiated as what it calls.
class ChainRule {
public:
  ChainRule(ModuleOp module, OpNumbers &numbers) : symbols(module), numbers(numbers) {}

  /// A call of a function, with the numbers of all its values.
  struct Frame {
    func::FuncOp function;
    llvm::DenseMap<Value, Number> values;
    llvm::DenseSet<Value> varied; ///< those that depend on an argument that is differentiated for
    std::map<Operation *, std::unique_ptr<Frame>> calls;
    SmallVector<Number> results;
  };
  using Cotangents = SmallVector<std::optional<Number>>;

  /// Runs a function. `varied`: arguments that it is differentiated for. Null after an error.
  std::unique_ptr<Frame> run(func::FuncOp function, ArrayRef<Number> arguments, ArrayRef<bool> varied);
  /// Gives the cotangents of the arguments, from those of the results; none where nothing flows back.
  FailureOr<Cotangents> pullBack(Frame &frame, const Cotangents &results);

private:
  /// Ops that compute an op's derivative, for one choice of results that something flows back to.
  struct Derivative {
    Block block;                   ///< its arguments are the cotangents of these results
    SmallVector<Value> ofOperands; ///< null: zero
    ~Derivative() { block.dropAllReferences(); }
  };

  FailureOr<Derivative *> build(Operation *op, ArrayRef<bool> flowing, ArrayRef<bool> needed);
  FailureOr<Cotangents> derive(Frame &frame, Operation *op, const Cotangents &results);

  SymbolTable symbols;
  OpNumbers &numbers;
  std::map<std::tuple<Operation *, std::vector<bool>, std::vector<bool>>, std::unique_ptr<Derivative>>
      derivatives;
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_CHAINRULE_H

//===- FunctionTimes.h - how long functions run on one rank -----------------------------------*- C++ -*-===//
#ifndef PAR_COST_FUNCTIONTIMES_H
#define PAR_COST_FUNCTIONTIMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Cost/OpCost.h"

namespace mlir::par {

/// Modelled seconds, by the cost of ops; of each function once.
class FunctionTimes {
public:
  FunctionTimes(ModuleOp module, const DeviceRates &rates) : module(module), rates(rates) {}

  /// Does not count the sums over ranks that make the loss of a function, which is not partitioned yet: a
  /// step has one for all micro-batches.
  void leaveOutLossSums(func::FuncOp forward);

  /// Of an op, with what it calls; one with a region takes the arithmetic within and its own operands' and
  /// results' bytes.
  double measure(Operation *op);
  double measure(func::FuncOp function);

private:
  void leaveOutSums(Value value);

  ModuleOp module;
  const DeviceRates &rates;
  llvm::DenseMap<Operation *, double> known; ///< seconds of functions
  llvm::DenseSet<Operation *> oncePerStep;   ///< whose sums are not counted
};

} // namespace mlir::par

#endif // PAR_COST_FUNCTIONTIMES_H

//===- UnitCosts.cpp - what the units of a pipeline's cuts take -----------------------------------------===//
#include "par/Cost/FunctionTimes.h"
#include "par/Dialect/Par/IR/Sizes.h"
#include "par/Target/Target.h"
#include "par/Transforms/Cut/Units.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class UnitMeter {
public:
  UnitMeter(ModuleOp module, func::FuncOp forward, const DeviceRates &rates)
      : module(module), times(module, rates) {
    times.leaveOutLossSums(forward);
  }

  UnitCost measure(ArrayRef<Operation *> unit) {
    UnitCost cost;
    DenseSet<Value> parameters;
    for (Operation *op : unit) {
      // The backward pass has two products for each of forward (Narayanan et al., 2104.04473, appendix), and
      // what else it does is as much more.
      cost.seconds += 3 * times.measure(op);
      cost.savedBytes += countSaved(op);
      for (Value operand : op->getOperands())
        if (getVariable(operand) && parameters.insert(operand).second)
          cost.parameterBytes += getLocalBytes(operand);
    }
    return cost;
  }

private:
  int64_t countSaved(Operation *op) {
    if (auto call = dyn_cast<CallOp>(op))
      if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()))
        return countSaved(callee);
    int64_t bytes = 0;
    if (!isCheapToRecompute(op) && getOpClass(op) != OpClass::Annotation)
      for (Value result : op->getResults())
        bytes += getLocalBytes(result);
    return bytes;
  }

  int64_t countSaved(func::FuncOp function) {
    auto [known, isNew] = saved.try_emplace(function, 0);
    if (!isNew)
      return known->second;
    int64_t bytes = 0;
    for (Operation &op : function.front().without_terminator())
      bytes += countSaved(&op);
    return saved[function] = bytes;
  }

  ModuleOp module;
  FunctionTimes times;
  llvm::DenseMap<Operation *, int64_t> saved; ///< bytes by function
};
} // namespace

std::vector<UnitCost> par::measureUnits(ModuleOp module, func::FuncOp forward, const Units &units) {
  UnitMeter meter(module, forward, getTarget(module)->rates);
  std::vector<UnitCost> costs;
  for (size_t unit = 0; unit < units.size(); ++unit)
    costs.push_back(meter.measure(units[unit]));
  return costs;
}

FailureOr<std::vector<UnitCost>> par::measureUnits(ModuleOp module) {
  SmallVector<func::FuncOp> forward = ChunkFunctions(module).getAll(Phase::Forward);
  if (forward.size() != 1 || !getTarget(module))
    return failure();
  return measureUnits(module, forward[0], Units(forward[0], collectReproducible(forward[0])));
}

//===- ModelFlops.cpp - how much a model computes -------------------------------------------------------===//
#include "par/Cost/ModelFlops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Places.h"
#include "par/Support/NamePatterns.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Adds up products and what libraries compute: forward, and back what trained parameters ask for.
class FlopCounter {
public:
  FlopCounter(ModuleOp module, llvm::ArrayRef<std::string> frozen) : symbols(module) {
    if (llvm::Expected<NamePatterns> parsed = NamePatterns::parse(frozen))
      patterns = std::move(*parsed);
    else // par-freeze-parameters refuses them
      llvm::consumeError(parsed.takeError());
  }

  double count(func::FuncOp function) {
    SmallVector<bool> trained;
    for (BlockArgument argument : function.getArguments())
      trained.push_back(dependsOnTrained(function, argument));
    return count(function, trained);
  }

private:
  double count(func::FuncOp function, ArrayRef<bool> trained);
  bool dependsOnTrained(func::FuncOp function, BlockArgument argument);

  SymbolTable symbols;
  NamePatterns patterns;
};
} // namespace

/// What comes from another chunk is taken to.
bool FlopCounter::dependsOnTrained(func::FuncOp function, BlockArgument argument) {
  FlatSymbolRefAttr bind = getVariable(argument);
  if (!bind)
    return getInputName(function, argument.getArgNumber()).empty();
  auto variable = symbols.lookup<VariableOp>(bind.getAttr());
  return variable && variable.isTrained() && !patterns.match(variable.getModelName());
}

/// A product takes as much as forward for each operand with a gradient; a library's op says it itself.
static double countPasses(Operation &op, const llvm::DenseSet<Value> &dependent) {
  int64_t operands = llvm::count_if(op.getOperands(), [&](Value value) { return dependent.contains(value); });
  auto library = dyn_cast<LibraryOpInterface>(op);
  return 1 + (library ? library.countGradientPasses(operands) : static_cast<double>(operands));
}

/// `trained`: whether arguments depend on a trained parameter.
double FlopCounter::count(func::FuncOp function, ArrayRef<bool> trained) {
  llvm::DenseSet<Value> dependent;
  for (auto [flag, argument] : llvm::zip(trained, function.getArguments()))
    if (flag)
      dependent.insert(argument);
  double flops = 0;
  for (Operation &op : function.front()) {
    SmallVector<bool> flags;
    for (Value operand : op.getOperands())
      flags.push_back(dependent.contains(operand));
    if (auto call = dyn_cast<CallOp>(op))
      flops += count(symbols.lookup<func::FuncOp>(call.getCallee()), flags);
    else if (isa<LibraryOpInterface, EinsumOp>(op)) // of causal attention what is seen
      flops += cast<CostOpInterface>(op).getFlops() * countPasses(op, dependent);
    if (llvm::is_contained(flags, true))
      dependent.insert(op.result_begin(), op.result_end());
  }
  return flops;
}

double par::countModelFlops(ModuleOp module, double batch, llvm::ArrayRef<std::string> frozen) {
  FlopCounter counter(module, frozen);
  double flops = 0, rows = 1;
  for (func::FuncOp function : ChunkFunctions(module).getAll(Phase::Forward)) {
    flops += counter.count(function);
    for (BlockArgument argument : function.getArguments())
      if (PlaceAttr place = getPlace(function, argument.getArgNumber());
          place && place.isInput() && place.getInputTime() == InputTime::MicroBatch)
        if (auto type = cast<RankedTensorType>(argument.getType()); type.getRank() > 0)
          rows = static_cast<double>(type.getDimSize(0));
  }
  return flops / rows * batch;
}

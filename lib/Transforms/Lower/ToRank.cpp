//===- ToRank.cpp - the pass par-to-rank ----------------------------------------------------------------===//
#include "ToRank.h"
#include "par/Transforms/Lower/Passes.h"

namespace mlir::par {
#define GEN_PASS_DEF_TORANK
#include "par/Transforms/Lower/Passes.h.inc"
} // namespace mlir::par

using namespace mlir;
using namespace mlir::par;

FunctionsByName par::nameFunctions(ModuleOp module) {
  FunctionsByName byName;
  for (auto function : module.getOps<func::FuncOp>())
    byName[function.getSymName()] = function;
  return byName;
}

ArrayRef<std::optional<unsigned>> OverwrittenArguments::get(func::FuncOp function) {
  auto found = known.find(function);
  return found != known.end() ? found->second : known.emplace(function, find(function)).first->second;
}

SmallVector<std::optional<unsigned>> OverwrittenArguments::find(func::FuncOp function) {
  llvm::DenseMap<StringAttr, unsigned> readers; // variable → argument that reads it
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
    if (FlatSymbolRefAttr read = getVariable(function, argument))
      readers.try_emplace(read.getAttr(), argument);
  SmallVector<std::optional<unsigned>> overwritten(function.getNumResults());
  for (unsigned result = 0; result < function.getNumResults(); ++result) {
    if (std::optional<int64_t> alias = getAlias(function, result)) {
      overwritten[result] = *alias;
      continue;
    }
    if (std::optional<unsigned> argument = received.findArgument(function, result)) {
      overwritten[result] = argument;
      continue;
    }
    FlatSymbolRefAttr written = getResultVariable(function, result);
    if (!written)
      continue;
    if (auto same = readers.find(written.getAttr()); same != readers.end()) {
      overwritten[result] = same->second;
      continue;
    }
    auto variable = symbols.lookup<VariableOp>(written.getAttr());
    if (!variable || !variable.getAlias())
      continue;
    auto shared = readers.find(variable.getAliasAttr().getAttr());
    auto owner = symbols.lookup<VariableOp>(variable.getAliasAttr().getAttr());
    if (shared != readers.end() && owner && isStoredAlike(variable, owner) &&
        function.getArgumentTypes()[shared->second] == function.getResultTypes()[result])
      overwritten[result] = shared->second;
  }
  return overwritten;
}

PinnedValues::PinnedValues(ModuleOp module, const FunctionsByName &functions,
                           OverwrittenArguments &overwritten)
    : functions(functions), overwritten(overwritten), symbols(module) {
  auto isPinned = [&](FlatSymbolRefAttr bind) {
    auto variable = bind ? symbols.lookup<VariableOp>(bind.getAttr()) : VariableOp();
    return variable && variable.getSpace() == MemorySpace::Host;
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    for (BlockArgument argument : function.getArguments())
      if (isPinned(getVariable(function, argument.getArgNumber())))
        values.insert(argument);
    for (unsigned result = 0; result < function.getNumResults(); ++result)
      if (isPinned(getResultVariable(function, result)))
        results.insert({function, result});
  }
  // Callers first: what a call is given is where its caller has it.
  for (auto function : module.getOps<func::FuncOp>())
    if (getPhase(function))
      visit(function);
}

void PinnedValues::visit(func::FuncOp function) {
  if (!function || !visited.insert(function).second)
    return;
  for (Operation &op : function.front().without_terminator()) {
    if (auto call = dyn_cast<CallOp>(op)) {
      visitCall(call);
      continue;
    }
    auto transfer = dyn_cast<TransferOp>(op);
    if (transfer ? transfer.getSpace() == MemorySpace::Host
                 : llvm::any_of(op.getOperands(), [&](Value operand) { return values.contains(operand); }))
      values.insert(op.getResults().begin(), op.getResults().end());
  }
  ArrayRef<std::optional<unsigned>> tied = overwritten.get(function);
  for (auto [result, returned] : llvm::enumerate(function.front().getTerminator()->getOperands())) {
    bool isBound = getResultVariable(function, result) != nullptr;
    if (tied[result] ? values.contains(function.getArgument(*tied[result]))
                     : !isBound && values.contains(returned))
      results.insert({function, result});
  }
}

void PinnedValues::visitCall(CallOp call) {
  func::FuncOp callee = functions.lookup(call.getCallee());
  if (!callee)
    return;
  if (!visited.contains(callee))
    for (auto [operand, argument] : llvm::zip(call.getInputs(), callee.getArguments()))
      if (values.contains(operand))
        values.insert(argument);
  visit(callee);
  for (auto [number, result] : llvm::enumerate(call.getOutputs()))
    if (results.contains({callee, number}))
      values.insert(result);
}

namespace {
struct ToRank : par::impl::ToRankBase<ToRank> {
  using ToRankBase::ToRankBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (microBatches < 1) {
      module.emitError("par-to-rank: micro-batches is ") << int64_t(microBatches) << ", expected at least 1";
      return signalPassFailure();
    }
    FunctionsByName byName = nameFunctions(module);
    OverwrittenArguments overwritten(module);
    PinnedValues pinned(module, byName, overwritten);
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      // Functions that nothing calls are not part of the program.
      if (pinned.isReached(function) && failed(lowerFunction(function, byName, overwritten, pinned)))
        return signalPassFailure();
    if (failed(buildSchedules(module, microBatches, schedule)))
      return signalPassFailure();
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      function.erase();
    auto kernel = StringAttr::get(&getContext(), ParDialect::kKernelAttr);
    module.walk([&](Operation *op) { op->removeAttr(kernel); });
  }
};
} // namespace

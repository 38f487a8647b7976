//===- FoldUnits.cpp - a model with one layer of each kind ----------------------------------------------===//
#include "par/Planner/FoldUnits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Places.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::par;

/// What a call passes on: the operand that is computed before it and of the type of its one result.
static Value findPassedOn(CallOp call) {
  if (call->getNumResults() != 1)
    return nullptr;
  for (Value operand : call->getOperands())
    if (operand.getDefiningOp() && operand.getType() == call->getResult(0).getType())
      return operand;
  return nullptr;
}

static void eraseUnreadVariables(ModuleOp module, func::FuncOp forward) {
  llvm::BitVector unread(forward.getNumArguments());
  for (BlockArgument argument : forward.getArguments())
    if (argument.use_empty() && getVariable(argument)) {
      unread.set(argument.getArgNumber());
      module.lookupSymbol(getVariable(argument).getValue())->erase();
    }
  forward.eraseArguments(unread);
}

/// What a graph has beside the step that is planned, which reads variables of all units.
static void eraseOtherPhases(ModuleOp module) {
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (PhaseAttr phase = getPhase(function); phase && phase.getPhase() != Phase::Forward)
      function.erase();
}

std::vector<int64_t> par::foldUnits(ModuleOp module) {
  std::vector<int64_t> kinds;
  SmallVector<func::FuncOp> forward = ChunkFunctions(module).getAll(Phase::Forward);
  if (forward.size() != 1)
    return kinds;
  llvm::StringMap<int64_t> known; // by callee
  eraseOtherPhases(module);
  int64_t left = 0;
  for (CallOp call : llvm::make_early_inc_range(forward[0].getOps<CallOp>())) {
    auto [kind, isNew] = known.try_emplace(call.getCallee(), left);
    Value passedOn = findPassedOn(call);
    if (isNew || !passedOn) {
      kinds.push_back(left++);
      continue;
    }
    kinds.push_back(kind->second);
    call->getResult(0).replaceAllUsesWith(passedOn);
    call->erase();
  }
  if (kinds.empty())
    kinds.push_back(0);
  eraseUnreadVariables(module, forward[0]);
  return kinds;
}

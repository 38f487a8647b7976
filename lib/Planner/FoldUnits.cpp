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

std::vector<int64_t> par::foldUnits(ModuleOp module) {
  std::vector<int64_t> kinds;
  SmallVector<func::FuncOp> forward = ChunkFunctions(module).getAll(Phase::Forward);
  if (forward.size() != 1)
    return kinds;
  llvm::StringMap<int64_t> known; // by callee
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
  eraseUnreadVariables(module, forward[0]);
  return kinds;
}

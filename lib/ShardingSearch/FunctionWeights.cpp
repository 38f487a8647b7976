//===- FunctionWeights.cpp - functions of a training step, and how often they run -----------------------===//
#include "FunctionWeights.h"
#include "mlir/IR/OperationSupport.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

/// A function that the schedule runs to train, or nobody calls; logits and evaluation follow training.
static bool isRoot(func::FuncOp function) {
  if (PhaseAttr phase = getPhase(function))
    return !isEvaluation(phase.getPhase());
  return !function.isPrivate();
}

FunctionWeights::FunctionWeights(ModuleOp module) : symbols(module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (isRoot(function))
      visit(function);
  std::reverse(functions.begin(), functions.end());
  for (func::FuncOp function : functions) {
    if (isRoot(function))
      weights[function] = 1;
    function.walk(
        [&](CallOp call) { weights[symbols.lookup(call.getCallee())] += weights.lookup(function); });
  }
  SmallVector<func::FuncOp> all = std::move(functions);
  functions.clear();
  for (func::FuncOp function : all) {
    func::FuncOp like = findLike(function);
    likes[function] = like;
    if (like == function)
      functions.push_back(function);
    else
      weights[like] += weights[function];
  }
}

/// Callees first.
void FunctionWeights::visit(func::FuncOp function) {
  if (!function || function.isExternal() || !visited.insert(function).second)
    return;
  function.walk([&](CallOp call) { visit(symbols.lookup<func::FuncOp>(call.getCallee())); });
  functions.push_back(function);
}

/// What reads variables by itself is no layer.
func::FuncOp FunctionWeights::findLike(func::FuncOp function) const {
  auto equals = [&](func::FuncOp other) {
    return other.isPrivate() && other.getFunctionType() == function.getFunctionType() &&
           OperationEquivalence::isRegionEquivalentTo(&other.getBody(), &function.getBody(),
                                                      OperationEquivalence::IgnoreLocations);
  };
  if (function.isPrivate())
    for (func::FuncOp other : functions)
      if (equals(other))
        return other;
  return function;
}

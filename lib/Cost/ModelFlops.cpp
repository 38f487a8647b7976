//===- ModelFlops.cpp - how much a model computes -------------------------------------------------------===//
#include "par/Cost/ModelFlops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/Places.h"

using namespace mlir;
using namespace mlir::par;

static double countFlops(func::FuncOp function, const SymbolTable &symbols) {
  double flops = 0;
  for (Operation &op : function.front()) {
    if (auto call = dyn_cast<CallOp>(op))
      flops += countFlops(symbols.lookup<func::FuncOp>(call.getCallee()), symbols);
    else if (isa<AttentionOp, EinsumOp>(op)) // of causal attention what is seen
      flops += cast<CostOpInterface>(op).getFlops();
  }
  return flops;
}

double par::countModelFlops(ModuleOp module, double batch) {
  SymbolTable symbols(module);
  double flops = 0, rows = 1;
  for (func::FuncOp function : ChunkFunctions(module).getAll(Phase::Forward)) {
    flops += countFlops(function, symbols);
    for (BlockArgument argument : function.getArguments())
      if (getInput(function, argument.getArgNumber()) == InputKind::Tokens)
        rows = static_cast<double>(cast<RankedTensorType>(argument.getType()).getDimSize(0));
  }
  // Two products of backward for each of forward.
  return 3 * flops / rows * batch;
}

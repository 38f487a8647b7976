//===- FunctionOrder.h - callees before callers -----------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_PARTITION_FUNCTIONORDER_H
#define PAR_LIB_TRANSFORMS_PARTITION_FUNCTIONORDER_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// All functions of a module with a body, callees before callers, else in module order (forward, backward,
/// reduce, norm, update: what writes an accumulator comes before what reads it).
inline SmallVector<func::FuncOp> getFunctionsCalleesFirst(ModuleOp module) {
  SymbolTable symbols(module);
  SmallVector<func::FuncOp> order;
  llvm::DenseSet<Operation *> visited;
  std::function<void(func::FuncOp)> visit = [&](func::FuncOp function) {
    if (!function || function.isExternal() || !visited.insert(function).second)
      return;
    function.walk([&](CallOp call) { visit(symbols.lookup<func::FuncOp>(call.getCallee())); });
    order.push_back(function);
  };
  for (auto function : module.getOps<func::FuncOp>())
    visit(function);
  return order;
}

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_PARTITION_FUNCTIONORDER_H

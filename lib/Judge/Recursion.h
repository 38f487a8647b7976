//===- Recursion.h - functions that call themselves --------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_JUDGE_RECURSION_H
#define PAR_LIB_JUDGE_RECURSION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "par/Dialect/Par/IR/CallGraph.h"

namespace mlir::par {

/// Fails after an error if a function calls itself, or calls one that does: calls are followed to their end.
inline LogicalResult refuseRecursion(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseSet<Operation *> finished;
  for (func::FuncOp function : getCalleesFirst(symbols, module)) {
    for (auto call : function.getOps<CallOp>()) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (callee && !callee.isExternal() && !finished.contains(callee))
        return call.emitError("par-prove: @") << callee.getName() << " calls itself";
    }
    finished.insert(function);
  }
  return success();
}

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_RECURSION_H

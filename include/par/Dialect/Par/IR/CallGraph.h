//===- CallGraph.h - who runs whom ------------------------------------------------------------*- C++ -*-===//
#ifndef PAR_DIALECT_PAR_IR_CALLGRAPH_H
#define PAR_DIALECT_PAR_IR_CALLGRAPH_H

#include "par/Dialect/Par/IR/Par.h"

// Of par's functions (func::FuncOp, CallOp) and of a rank's (rank::FuncOp, rank::CallOp).
namespace mlir::par {

/// `roots` and what they run, as far as it has a body: callees before callers, else in the order of roots and
/// calls.
template <typename Call, typename Function>
SmallVector<Function> getCalleesFirst(const SymbolTable &symbols, ArrayRef<Function> roots) {
  SmallVector<Function> order;
  llvm::DenseSet<Operation *> visited;
  auto visit = [&](auto &&again, Function function) -> void {
    if (!function || function.isExternal() || !visited.insert(function).second)
      return;
    for (auto call : function.template getOps<Call>())
      again(again, symbols.lookup<Function>(call.getCallee()));
    order.push_back(function);
  };
  for (Function root : roots)
    visit(visit, root);
  return order;
}

/// All functions of a module with a body, callees before callers, else in module order (forward, backward,
/// reduce, norm, update: what writes an accumulator comes before what reads it).
inline SmallVector<func::FuncOp> getCalleesFirst(const SymbolTable &symbols, ModuleOp module) {
  auto functions = llvm::to_vector(module.getOps<func::FuncOp>());
  return getCalleesFirst<CallOp, func::FuncOp>(symbols, functions);
}

/// How often each function runs if every one of `roots` does once, one that is there twice twice.
template <typename Call, typename Function>
llvm::StringMap<int64_t> countRuns(const SymbolTable &symbols, ArrayRef<Function> roots) {
  llvm::StringMap<int64_t> runs;
  for (Function root : roots)
    ++runs[root.getSymName()];
  SmallVector<Function> calleesFirst = getCalleesFirst<Call>(symbols, roots);
  for (Function caller : llvm::reverse(calleesFirst))
    for (auto call : caller.template getOps<Call>())
      runs[call.getCallee()] += runs.lookup(caller.getSymName()) * static_cast<int64_t>(call.getParts());
  return runs;
}

} // namespace mlir::par

#endif // PAR_DIALECT_PAR_IR_CALLGRAPH_H

//===- FunctionWeights.h - functions of a training step, and how often they run ---------------*- C++ -*-===//
#ifndef PAR_LIB_SHARDINGSEARCH_FUNCTIONWEIGHTS_H
#define PAR_LIB_SHARDINGSEARCH_FUNCTIONWEIGHTS_H

#include "par/Dialect/Par/IR/Par.h"

namespace mlir::par {

/// Functions that compute the same are one.
class FunctionWeights {
public:
  explicit FunctionWeights(ModuleOp module);

  /// One of each, callers first.
  ArrayRef<func::FuncOp> getFunctions() const { return functions; }
  /// The one that stands for a function.
  func::FuncOp getLike(func::FuncOp function) const { return likes.lookup(function); }
  /// Calls of it and of all that are equal, per forward pass.
  double getWeight(func::FuncOp function) const { return weights.lookup(function); }
  const SymbolTable &getSymbols() const { return symbols; }

private:
  void visit(func::FuncOp function);
  func::FuncOp findLike(func::FuncOp function) const;

  SymbolTable symbols;
  SmallVector<func::FuncOp> functions;
  llvm::DenseMap<Operation *, func::FuncOp> likes;
  llvm::DenseMap<Operation *, double> weights;
  llvm::DenseSet<Operation *> visited;
};

} // namespace mlir::par

#endif // PAR_LIB_SHARDINGSEARCH_FUNCTIONWEIGHTS_H

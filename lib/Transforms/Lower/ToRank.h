//===- ToRank.h - functions on tensors become functions on buffers ----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TRANSFORMS_LOWER_TORANK_H
#define PAR_LIB_TRANSFORMS_LOWER_TORANK_H

#include "par/Dialect/Par/IR/Places.h"
#include "ReceivedValues.h"
#include "par/Dialect/Rank/IR/Rank.h"

namespace mlir::par {

/// The argument that each result of a function overwrites: its alias, an argument bound to the same
/// variable, or to the one whose memory the result's variable may share and does, or the one that it is, which
/// a chunk received. Found once per function.
class OverwrittenArguments {
public:
  explicit OverwrittenArguments(ModuleOp module) : symbols(module), received(ChunkFunctions(module)) {}

  /// By result; none where a result has memory of its own.
  ArrayRef<std::optional<unsigned>> get(func::FuncOp function);

private:
  SmallVector<std::optional<unsigned>> find(func::FuncOp function);

  SymbolTable symbols;
  ReceivedValues received;
  std::map<Operation *, SmallVector<std::optional<unsigned>>> known;
};

/// The functions on tensors of a module by name: while both exist, a rank.func bears the name of the function
/// it is made of.
using FunctionsByName = llvm::StringMap<func::FuncOp>;
FunctionsByName nameFunctions(ModuleOp module);

/// Values that lie in pinned host memory: those of variables there, what transfers bring there, and what is
/// computed from such values. All others lie on the device.
class PinnedValues {
public:
  PinnedValues(ModuleOp module, const FunctionsByName &functions, OverwrittenArguments &overwritten);

  /// A function of a phase of a step, or called in one.
  bool isReached(func::FuncOp function) const { return visited.contains(function); }
  bool contains(Value value) const { return values.contains(value); }
  bool containsResult(func::FuncOp function, unsigned result) const {
    return results.contains({function, result});
  }

private:
  void visit(func::FuncOp function);
  void visitCall(CallOp call);

  const FunctionsByName &functions;
  OverwrittenArguments &overwritten;
  SymbolTable symbols;
  llvm::DenseSet<Value> values;
  llvm::DenseSet<std::pair<Operation *, unsigned>> results;
  llvm::DenseSet<Operation *> visited;
};

/// The rank.func of one function; inserted before it.
LogicalResult lowerFunction(func::FuncOp function, const FunctionsByName &functions,
                            OverwrittenArguments &overwritten, const PinnedValues &pinned);

/// `rank.schedule train` from the chunk functions of a module, and `eval` and `logits` where it has functions
/// of those phases. The step is that of one stage of the schedule `name` (par/Schedule/Schedule.h).
LogicalResult buildSchedules(ModuleOp module, int64_t microBatches, StringRef name);

} // namespace mlir::par

#endif // PAR_LIB_TRANSFORMS_LOWER_TORANK_H

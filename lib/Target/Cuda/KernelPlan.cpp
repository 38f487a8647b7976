//===- KernelPlan.cpp - how the threads of a GPU share a kernel -----------------------------------===//
#include "KernelPlan.h"
#include "Plans/KernelSums.h"

using namespace mlir;
using namespace mlir::par;

StringRef par::getName(PlanKind kind) {
  static constexpr llvm::StringLiteral names[] = {"generic",
                                                  "elementwise",
                                                  "gather",
                                                  "flat",
                                                  "tile",
                                                  "row",
                                                  "row-column",
                                                  "long-row",
                                                  "column",
                                                  "total",
                                                  "totals",
                                                  "finish",
                                                  "fill",
                                                  "scatter",
                                                  "attention-forward",
                                                  "attention-queries",
                                                  "attention-keys"};
  return names[static_cast<size_t>(kind)];
}

/// Visits what `values` are made of; `visit` says whether to go on behind an op.
static void visitSources(ValueRange values, function_ref<void(BlockArgument)> visitArgument,
                         function_ref<bool(Operation *)> visit) {
  llvm::SmallDenseSet<Operation *> visited;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value))
      visitArgument(argument);
    else if (Operation *op = value.getDefiningOp(); visited.insert(op).second && visit(op))
      llvm::append_range(work, op->getOperands());
  }
}

bool par::isMadeOf(Value value, ArrayRef<Operation *> ops) {
  bool isFound = false;
  visitSources(
      value, [](BlockArgument) {}, [&](Operation *op) { return !(isFound |= llvm::is_contained(ops, op)); });
  return isFound;
}

SmallVector<int64_t> par::findArguments(ValueRange values, ArrayRef<Operation *> known) {
  std::set<int64_t> numbers;
  visitSources(
      values, [&](BlockArgument argument) { numbers.insert(argument.getArgNumber()); },
      [&](Operation *op) { return !llvm::is_contained(known, op); });
  return {numbers.begin(), numbers.end()};
}

KernelPlan par::planKernel(Block &block) {
  KernelSums kernel(block);
  if (auto scatters = block.getOps<EmbeddingBackwardOp>(); !scatters.empty())
    return planScatter(kernel, *scatters.begin());
  if (!kernel.reason.empty())
    return makeGeneric(kernel.reason);
  if (!kernel.totals.empty())
    return planTotal(kernel);
  return kernel.rows.empty() && kernel.columns.empty() ? planElements(kernel) : planRows(kernel);
}

//===- PlanScatter.cpp - kernels that add rows to those of a table --------------------------------===//
#include "KernelSums.h"

using namespace mlir;
using namespace mlir::par;

KernelPlan par::planScatter(const KernelSums &kernel, EmbeddingBackwardOp op) {
  Value table = op.getResult(), output = kernel.outputs.front(), initial;
  if (auto add = output.getDefiningOp<arith::AddFOp>();
      add && (add.getLhs() == table || add.getRhs() == table))
    initial = add.getLhs() == table ? add.getRhs() : add.getLhs();
  if (kernel.outputs.size() > 1 || (!initial && output != table) || (initial && isMadeOf(initial, {op})))
    return makeGeneric("par.embedding_backward is no result alone");
  if (!getElementTypeOrSelf(table).isF32())
    return makeGeneric("a table of no f32");
  ArrayRef<int64_t> ofRows = getShape(op.getDy());
  KernelReads added(ofRows, ofRows.size() - 1), begun(getShape(table), 1);
  if (!added.collect(op.getDy(), countDims(ofRows.size())) ||
      (initial && !begun.collect(initial, countDims(2))))
    return makeGeneric(added.reason + begun.reason);
  KernelPlan plan;
  plan.kind = PlanKind::Scatter;
  plan.scatter = op;
  plan.initial = initial;
  llvm::append_range(plan.shape, getShape(table));
  plan.rowDims = 1;
  plan.reads = std::move(begun.reads);
  // Rows that are added have the table's columns behind other dimensions.
  auto last = static_cast<int64_t>(ofRows.size()) - 1;
  for (const Read &read : added.reads)
    if (llvm::is_contained(read.symbols, last))
      plan.reads.push_back({read.tensor, {1}});
  findStep(plan, output, plan.shape.back());
  return plan;
}

//===- KernelSums.cpp - the results and sums of a kernel's region ---------------------------------===//
#include "KernelSums.h"
#include "par/Dialect/Par/IR/SumOfDots.h"

using namespace mlir;
using namespace mlir::par;

KernelSums::KernelSums(Block &block)
    : block(block), outputs(cast<rank::YieldOp>(block.getTerminator()).getValues()) {
  for (Operation &op : block) {
    if (auto einsum = dyn_cast<EinsumOp>(op)) {
      if (!isDot(einsum)) {
        reason = "par.einsum";
        return;
      }
      totals.push_back(einsum);
    } else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !sort(reduce)) {
      reason = "a sum over dimensions in the middle";
      return;
    }
  }
}

bool KernelSums::sort(ReduceOp reduce) {
  auto rank = static_cast<int64_t>(getShape(reduce.getInput()).size());
  auto count = static_cast<int64_t>(reduce.getDims().size());
  bool isLeading = reduce.getDims() == ArrayRef(countDims(count)) && reduce.getKind() == ReduceKind::Sum;
  if (count == rank)
    totals.push_back(reduce);
  else if (count == 1 && reduce.getDims()[0] == rank - 1)
    rows.push_back(reduce);
  else if (isLeading)
    columns.push_back(reduce);
  return count == rank || (count == 1 && reduce.getDims()[0] == rank - 1) || isLeading;
}

KernelPlan par::makeGeneric(std::string reason) {
  KernelPlan plan;
  plan.reason = std::move(reason);
  return plan;
}

Symbols par::countDims(size_t count) { return llvm::to_vector(llvm::seq<int64_t>(0, count)); }

void par::findStep(KernelPlan &plan, ValueRange matrices, int64_t size) {
  int64_t narrowest = kAccessBytes;
  auto look = [&](Value tensor) {
    auto element = RankedTensorType::get({}, getElementTypeOrSelf(tensor));
    narrowest = std::min(narrowest, rank::getBytes(element));
  };
  for (const Read &read : plan.reads)
    if (plan.isAlongRow(read))
      look(read.tensor);
  for (Value value : matrices)
    look(value);
  for (plan.step = kAccessBytes / narrowest; size % plan.step;)
    plan.step /= 2;
}

//===- PlanTotals.cpp - kernels with sums of all elements -----------------------------------------===//
#include "KernelSums.h"
#include "par/Dialect/Par/IR/SumOfDots.h"

using namespace mlir;
using namespace mlir::par;

/// Steps of a thread for which a slice of a total is worth it.
static constexpr int64_t kLeastSteps = 4;

/// Dots that one piece of code computes stand side by side.
static SmallVector<int64_t> getOrder(EinsumOp dot) {
  SmallVector<int64_t> order;
  for (Value input : dot.getInputs())
    order.append({ShapedType::getNumElements(getShape(input)), getElementTypeOrSelf(input).isF32()});
  return order;
}

/// The sum of all dots that there are, and what is made of it.
static KernelPlan planTotals(const KernelSums &kernel) {
  KernelPlan plan;
  for (auto add : kernel.block.getOps<arith::AddFOp>())
    if (SmallVector<EinsumOp> dots = findDots(add.getResult()); dots.size() == kernel.totals.size()) {
      plan.sums = {add};
      plan.dots = dots;
    }
  auto isRead = [](Value input) {
    return isa<BlockArgument>(input) && isa<FloatType>(getElementTypeOrSelf(input));
  };
  bool areDots = llvm::all_of(plan.dots, [&](EinsumOp dot) {
    return dot.getType().getElementType().isF32() && llvm::all_of(dot.getInputs(), isRead);
  });
  if (plan.dots.empty() || !areDots)
    return makeGeneric("several sums");
  int64_t elements = 0;
  for (EinsumOp dot : plan.dots)
    elements += ShapedType::getNumElements(getShape(dot.getInputs()[0]));
  llvm::stable_sort(plan.dots, [](EinsumOp a, EinsumOp b) { return getOrder(a) < getOrder(b); });
  plan.kind = PlanKind::Totals;
  plan.threads = kLoopThreads;
  plan.step = kAccessBytes / 4;
  plan.slices = std::clamp<int64_t>(elements / (plan.step * plan.threads * kLeastSteps), 1, kMostSlices);
  plan.ofSums = llvm::to_vector(llvm::seq<size_t>(0, kernel.outputs.size()));
  return plan;
}

KernelPlan par::planTotal(const KernelSums &kernel) {
  if (!llvm::all_of(kernel.outputs, [](Value output) { return getShape(output).empty(); }))
    return makeGeneric("results of several shapes");
  if (kernel.totals.size() > 1 || !kernel.rows.empty() || !kernel.columns.empty())
    return planTotals(kernel);
  KernelPlan plan;
  Operation *total = kernel.totals.front();
  llvm::append_range(plan.shape, getShape(total->getOperand(0)));
  if (!Scalars::getHeldType(total->getResult(0)).isF32())
    return makeGeneric("a sum of no f32");
  KernelReads reads(plan.shape, plan.rowDims);
  for (Value operand : total->getOperands())
    if (!reads.collect(operand, countDims(plan.shape.size())))
      return makeGeneric(reads.reason);
  plan.reads = std::move(reads.reads);
  findStep(plan, /*matrices=*/{}, plan.shape.back());
  plan.kind = PlanKind::Total;
  for (plan.threads = kWarp; plan.threads < std::min<int64_t>(plan.countSteps(), kLoopThreads);)
    plan.threads *= 2;
  int64_t wanted = plan.countSteps() / (plan.threads * kLeastSteps);
  auto reduce = dyn_cast<ReduceOp>(total);
  bool isSum = !reduce || reduce.getKind() == ReduceKind::Sum;
  plan.slices = isSum ? std::clamp<int64_t>(wanted, 1, kMostSlices) : 1;
  plan.sums = {total};
  plan.ofSums = llvm::to_vector(llvm::seq<size_t>(0, kernel.outputs.size()));
  return plan;
}

//===- PlanElements.cpp - kernels whose elements are made one by one ------------------------------===//
#include "../../Kernels/WideStep.h"
#include "KernelSums.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;

/// Numbers that are computed before anybody would notice.
static constexpr int64_t kMostScalars = 32;

/// Rows that are no whole accesses, where all of them together are.
static KernelPlan planFlat(const KernelSums &kernel) {
  ValueRange outputs = kernel.outputs;
  KernelPlan plan;
  plan.shape.assign(getShape(outputs.front()).begin(), getShape(outputs.front()).end());
  if (!llvm::all_of(outputs, [&](Value output) { return getShape(output) == ArrayRef(plan.shape); }))
    return makeGeneric("results of several shapes");
  KernelReads reads(plan.shape, plan.shape.size());
  for (Value output : outputs)
    if (!reads.collect(output, countDims(plan.shape.size())))
      return makeGeneric(reads.reason);
  plan.reads = std::move(reads.reads);
  plan.rowDims = plan.shape.size() - 1;
  findStep(plan, outputs, ShapedType::getNumElements(plan.shape));
  plan.kind = PlanKind::Flat;
  return plan.step == 1 || plan.shape.back() < plan.step ? makeGeneric("rows are no whole accesses") : plan;
}

/// The one dimension, beside the last, along which rows of what elements are made of run; none: there are
/// several.
static std::optional<int64_t> findAcross(ArrayRef<Read> reads, int64_t last) {
  std::set<int64_t> dims;
  for (const Read &read : reads)
    if (!read.symbols.empty() && read.symbols.back() != last)
      dims.insert(read.symbols.back());
  return dims.size() == 1 ? std::optional(*dims.begin()) : std::nullopt;
}

/// Dimensions change places: whole accesses of what is read are in several rows of what is written.
static KernelPlan planTile(const KernelSums &kernel) {
  KernelPlan plan;
  plan.kind = PlanKind::Tile;
  plan.shape.assign(getShape(kernel.outputs.front()).begin(), getShape(kernel.outputs.front()).end());
  KernelReads reads(plan.shape, plan.shape.size(), /*mayTurn=*/true);
  for (Value output : kernel.outputs)
    if (getShape(output) != ArrayRef(plan.shape) || !reads.collect(output, countDims(plan.shape.size())))
      return makeGeneric("elements come from other places, one at a time");
  plan.reads = std::move(reads.reads);
  plan.rowDims = plan.shape.size() - 1;
  std::optional<int64_t> across = findAcross(plan.reads, static_cast<int64_t>(plan.rowDims));
  if (!across)
    return makeGeneric("elements come from rows of several dimensions");
  plan.across = *across;
  findStep(plan, kernel.outputs, std::gcd(plan.shape.back(), plan.shape[*across]));
  return plan.step == 1 ? makeGeneric("rows are no whole accesses") : plan;
}

KernelPlan par::planElements(const KernelSums &kernel) {
  bool areScalars = true, areInPlace = llvm::all_of(kernel.block, readsInPlace), areWide = true;
  for (Value output : kernel.outputs) {
    ArrayRef<int64_t> shape = getShape(output);
    areScalars &= ShapedType::getNumElements(shape) <= kMostScalars;
    areWide &= !shape.empty() && findWideStep(kernel.block, shape.back(), kAccessBytes) > 1;
  }
  if (areScalars)
    return makeGeneric("scalars");
  if (areWide) {
    KernelPlan plan;
    plan.kind = areInPlace ? PlanKind::Elementwise : PlanKind::Gather;
    return plan;
  }
  return areInPlace ? planFlat(kernel) : planTile(kernel);
}

//===- KernelRegion.cpp - what strategies look at: the results and sums of a kernel ---------------===//
#include "KernelRegion.h"
#include "../Kernels/WideStep.h"
#include "KernelReads.h"
#include "par/Dialect/Par/IR/SumOfDots.h"

using namespace mlir;
using namespace mlir::par;

//===----------------------------------------------------------------------===//
// What values are made of
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The space
//===----------------------------------------------------------------------===//

Symbols par::countDims(size_t count) { return llvm::to_vector(llvm::seq<int64_t>(0, count)); }

void IterationSpace::chooseStep(ValueRange matrices, int64_t size, int64_t across) {
  SmallVector<Value> tensors(matrices);
  for (const Read &read : reads)
    if (isAlongRow(read) || read.isAlong(across))
      tensors.push_back(read.tensor);
  int64_t narrowest = kAccessBytes;
  for (Value tensor : tensors)
    narrowest = std::min(narrowest, rank::getBytes(RankedTensorType::get({}, getElementTypeOrSelf(tensor))));
  for (step = kAccessBytes / narrowest; size % step;)
    step /= 2;
}

//===----------------------------------------------------------------------===//
// The region
//===----------------------------------------------------------------------===//

KernelRegion::KernelRegion(Block &block)
    : block(block), outputs(cast<rank::YieldOp>(block.getTerminator()).getValues()), problem(sortSums()) {
  if (!problem.empty() || !totals.empty() || !hasRowSums())
    return;
  auto first = cast<ReduceOp>(rows.empty() ? columns.front() : rows.front());
  ArrayRef<int64_t> shape = getShape(first.getInput());
  space = IterationSpace(shape, rows.empty() ? first.getDims().size() : shape.size() - 1);
  for (auto step : {&KernelRegion::sortOutputs, &KernelRegion::collectReads})
    if (problem.empty())
      problem = (this->*step)();
  space.chooseStep(matrices, shape.back());
}

std::string KernelRegion::sortSums() {
  for (Operation &op : block) {
    if (auto einsum = dyn_cast<EinsumOp>(op)) {
      if (!isDot(einsum))
        return "par.einsum";
      totals.push_back(einsum);
    } else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !sort(reduce)) {
      return "a sum over dimensions in the middle";
    }
  }
  return "";
}

bool KernelRegion::sort(ReduceOp reduce) {
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

std::string KernelRegion::sortOutputs() {
  ArrayRef<int64_t> shape = space.shape;
  for (auto [number, output] : llvm::enumerate(outputs)) {
    if (isMadeOf(output, columns)) {
      if (getShape(output) != shape.drop_front(space.rowDims))
        return "a sum over rows is no result";
      if (isMadeOf(output, rows))
        return "sums of rows and over rows in one result";
      ofColumns.push_back(number);
    } else if (getShape(output) == shape) {
      matrices.push_back(output);
    } else if (getShape(output) == shape.take_front(space.rowDims)) {
      rowValues.push_back(output);
    } else {
      return "results of several shapes";
    }
  }
  return checkColumns();
}

std::string KernelRegion::checkColumns() const {
  for (Operation *sum : columns) {
    if (getShape(sum->getOperand(0)) != ArrayRef(space.shape) ||
        cast<ReduceOp>(sum).getDims().size() != space.rowDims)
      return "sums of several shapes";
    if (!Scalars::getHeldType(sum->getResult(0)).isF32())
      return "a sum over rows of no f32";
  }
  return "";
}

std::string KernelRegion::collectReads() {
  KernelReads reads(space.shape, space.rowDims);
  SmallVector<Value> summed;
  for (Operation *sum : columns)
    summed.push_back(sum->getOperand(0));
  auto collect = [&](ValueRange values, size_t dims) {
    return llvm::all_of(values, [&](Value value) { return reads.collect(value, countDims(dims)); });
  };
  size_t dims = space.shape.size();
  if (!collect(matrices, dims) || !collect(rowValues, space.rowDims) || !collect(summed, dims))
    return reads.reason;
  space.reads = std::move(reads.reads);
  return "";
}

bool KernelRegion::isInPlace() const { return llvm::all_of(block, readsInPlace); }

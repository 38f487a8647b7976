//===- FlatKernel.cpp - elements whose rows begin anywhere ----------------------------------------===//
#include "../KernelReads.h"
#include "../KernelStrategy.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

static constexpr int32_t kBlock = 128;
/// Most blocks of a grid: threads take several steps of what is larger.
static constexpr int64_t kMostBlocks = 1 << 16;

namespace {
/// A thread has consecutive elements of the whole matrix, of which those from some place on may be in the
/// next row. Tensors of its shape are read and written as vectors, whatever their rows are.
class FlatKernel {
public:
  FlatKernel(const KernelTask &task, const IterationSpace &space, StringRef plan)
      : task(task), space(space), launch(describe(plan)), noSums(task.work),
        rows(task, space, task.name, launch, noSums) {}

  LogicalResult write() {
    ThreadGroup grid(rows, /*threads=*/1, kBlock);
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, grid.number, rows.constantIndex(countSteps()),
                                                rows.constantIndex(launch.blocks * kBlock));
    LogicalResult result = success();
    {
      OpBuilder::InsertionGuard guard(rows.builder);
      rows.builder.setInsertionPointToStart(loop.getBody());
      rows.push();
      result = writeStep(loop.getInductionVar());
      rows.pop();
    }
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

private:
  int64_t countElements() const { return ShapedType::getNumElements(space.shape); }
  int64_t countSteps() const { return countElements() / space.step; }

  Launch describe(StringRef plan) const {
    Launch launch = describeElements(task, plan);
    launch.blocks = std::min(llvm::divideCeilSigned(countSteps(), kBlock), kMostBlocks);
    launch.threads = kBlock;
    return launch;
  }

  /// Numbers of the step's elements, and which of them are in the next row.
  void findElements(Value step) {
    Value first = rows.create<arith::MulIOp>(step, rows.constantIndex(space.step));
    Value size = rows.constantIndex(space.countColumns());
    Value row = rows.create<arith::DivUIOp>(first, size), column = rows.create<arith::RemUIOp>(first, size);
    Value last = rows.constantIndex(space.countRows() - 1);
    ofFirst = rows.findRow(row);
    ofNext = rows.findRow(rows.create<arith::MinUIOp>(rows.addIndex(row, 1), last));
    numbers.clear(), isNext.clear(), indices.clear();
    for (int64_t element = 0; element < space.step; ++element) {
      numbers.push_back(rows.addIndex(first, element));
      Value place = rows.addIndex(column, element);
      isNext.push_back(rows.compare(arith::CmpIPredicate::uge, place, size));
      Index index;
      for (auto [one, other] : llvm::zip(ofFirst, ofNext))
        index.push_back(rows.select(isNext.back(), other, one));
      index.push_back(rows.select(isNext.back(), rows.create<arith::SubIOp>(place, size), place));
      indices.push_back(index);
    }
  }

  /// The memory of an operand as one row.
  Value flatten(Value memory) {
    auto type = cast<MemRefType>(memory.getType());
    auto flat = MemRefType::get({countElements()}, type.getElementType());
    return rows.create<memref::ReinterpretCastOp>(flat, memory, /*offset=*/int64_t(0),
                                                  ArrayRef<int64_t>{countElements()}, ArrayRef<int64_t>{1});
  }

  LogicalResult writeStep(Value step) {
    findElements(step);
    for (const Read &read : space.reads)
      if (failed(load(read)))
        return failure();
    // All elements before any store: an output may lie over an input.
    SmallVector<Value> elements;
    for (Value output : task.getOutputs())
      for (const Index &index : indices) {
        FailureOr<Value> element = rows.evaluate(output, index);
        if (failed(element))
          return failure();
        elements.push_back(*element);
      }
    auto *next = elements.begin();
    for (auto [out, output] : llvm::enumerate(task.getOutputs())) {
      Value memory = flatten(rows.getOperand(task.getOutNumber(static_cast<int64_t>(out))));
      for (Value number : numbers)
        rows.store(*next++, getElementTypeOrSelf(output), memory, {number});
    }
    return success();
  }

  /// Tensors of the shape as vectors, numbers of rows for both rows; the others are loaded where they are
  /// needed.
  LogicalResult load(const Read &read) {
    Type type = getElementTypeOrSelf(read.tensor);
    if (read.symbols.size() == space.shape.size()) {
      Value memory = flatten(rows.getMemory(read.tensor));
      for (auto [number, index] : llvm::zip(numbers, indices))
        rows.remember(read.tensor, index, rows.load(type, memory, {number}));
      return success();
    }
    if (read.symbols.empty() || read.symbols.back() == static_cast<int64_t>(space.rowDims))
      return success();
    FailureOr<Value> one = rows.evaluate(read.tensor, choose(read, ofFirst)),
                     other = rows.evaluate(read.tensor, choose(read, ofNext));
    if (failed(one) || failed(other))
      return failure();
    for (auto [condition, index] : llvm::zip(isNext, indices))
      rows.remember(read.tensor, choose(read, index), rows.select(condition, *other, *one));
    return success();
  }

  static Index choose(const Read &read, ArrayRef<Value> index) {
    Index chosen;
    for (int64_t symbol : read.symbols)
      chosen.push_back(index[symbol]);
    return chosen;
  }

  const KernelTask &task;
  const IterationSpace &space;
  Launch launch;
  NoSums noSums;
  RowEvaluator rows;
  // Of the step that is being written.
  Index ofFirst, ofNext;              ///< rows
  SmallVector<Value> numbers, isNext; ///< of each element
  SmallVector<Index> indices;
};

class Flat : public KernelStrategy {
public:
  explicit Flat(IterationSpace space) : KernelStrategy("flat"), space(std::move(space)) {}

  LogicalResult write(const KernelTask &task) const override {
    return task.isAligned ? FlatKernel(task, space, name).write() : writeGenericKernel(task);
  }

private:
  const IterationSpace space;
};
} // namespace

StrategyMatch par::matchFlat(const KernelRegion &region) {
  if (region.hasSums() || !region.isInPlace())
    return {};
  ValueRange outputs = region.outputs;
  ArrayRef<int64_t> shape = getShape(outputs.front());
  if (!llvm::all_of(outputs, [&](Value output) { return getShape(output) == shape; }))
    return refuse("results of several shapes");
  KernelReads reads(shape, shape.size());
  for (Value output : outputs)
    if (!reads.collect(output, countDims(shape.size())))
      return refuse(reads.reason);
  IterationSpace space(shape, shape.size() - 1);
  space.reads = std::move(reads.reads);
  space.chooseStep(outputs, ShapedType::getNumElements(shape));
  if (space.step == 1 || shape.back() < space.step)
    return refuse("rows are no whole accesses");
  return {std::make_unique<Flat>(std::move(space)), ""};
}

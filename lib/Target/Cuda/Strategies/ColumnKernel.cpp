//===- ColumnKernel.cpp - sums over rows, and over what slices have come to -----------------------===//
#include "../ReductionStrategy.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

/// Most warps of a block that adds up what slices have left.
static constexpr int64_t kFinishWarps = 32;
/// Blocks that keep a GPU busy with sums, and rows that are worth a warp of them.
static constexpr int64_t kEnoughBlocks = 512, kLeastRows = 4;
/// Warps of a block that sums columns.
static constexpr int64_t kColumnWarps = 8;
/// Numbers that its warps leave for each other in shared memory.
static constexpr int64_t kMostShared = (48 << 10) / 4;

namespace {
/// What a block sums: the lanes of a warp have columns side by side, its warps rows in turns. They add up in
/// shared memory, always in the same order.
struct ColumnWork {
  int64_t rows, columns, slices; ///< of rows: a block has one of them
  int64_t step;                  ///< columns of a lane
  int64_t warps;
  bool isFinish; ///< rows are those of scratch

  int64_t countSteps() const { return columns / step; }
  int64_t countTiles() const { return llvm::divideCeilSigned(countSteps(), kWarp); }
};

class ColumnKernel {
public:
  ColumnKernel(const KernelTask &task, const ReductionStrategy &plan, StringRef name, ColumnWork work)
      : task(task), plan(plan), work(work), launch(describe()), noSums(task.work),
        rows(task, plan.space, name, launch, noSums),
        shared(rows, work.warps * kWarp * work.step * static_cast<int64_t>(plan.sums.size()),
               rows.builder.getF32Type()) {}

  LogicalResult write() {
    findPlace();
    LogicalResult result = writeSums();
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

private:
  bool writesScratch() const { return work.slices > 1; }

  /// Numbers of those that this launch writes.
  ArrayRef<size_t> getOutputs() const { return writesScratch() ? ArrayRef<size_t>() : plan.ofSums; }

  Launch describe() const {
    Launch launch(work.isFinish ? "finish" : plan.name);
    launch.threads = static_cast<int32_t>(work.warps * kWarp);
    launch.blocks = work.countTiles() * work.slices;
    launch.usesCoords = task.usesCoords();
    launch.isWide = work.step > 1;
    SmallVector<Value> computed;
    for (Operation *sum : plan.sums)
      computed.push_back(sum->getOperand(0));
    for (size_t out : getOutputs())
      computed.push_back(task.getOutputs()[out]);
    if (work.isFinish)
      computed.erase(computed.begin(), computed.begin() + static_cast<int64_t>(plan.sums.size()));
    launch.addReads(computed, work.isFinish ? ArrayRef<Operation *>(plan.sums) : ArrayRef<Operation *>());
    for (size_t out : getOutputs())
      launch.operands.push_back({task.getOutNumber(static_cast<int64_t>(out)), BufferAccess::Write});
    if (work.isFinish || writesScratch())
      plan.addScratch(task, launch, work.isFinish ? BufferAccess::Read : BufferAccess::Write);
    return launch;
  }

  /// Where this thread is.
  void findPlace() {
    Value thread = readRegister<NVVM::ThreadIdXOp>(rows.builder, rows.loc),
          block = readRegister<NVVM::BlockIdXOp>(rows.builder, rows.loc);
    Value tiles = rows.constantIndex(work.countTiles()), warpSize = rows.constantIndex(kWarp);
    lane = rows.create<arith::RemUIOp>(thread, warpSize);
    warp = rows.create<arith::DivUIOp>(thread, warpSize);
    slice = writesScratch() ? rows.create<arith::DivUIOp>(block, tiles) : rows.constantIndex(0);
    Value tile = writesScratch() ? rows.create<arith::RemUIOp>(block, tiles) : block;
    number = rows.create<arith::AddIOp>(rows.create<arith::MulIOp>(tile, warpSize), lane);
    if (work.countSteps() % kWarp)
      isThere = rows.compare(arith::CmpIPredicate::ult, number, rows.constantIndex(work.countSteps()));
  }

  Value getColumnNumber(int64_t element) {
    Value first = rows.create<arith::MulIOp>(number, rows.constantIndex(work.step));
    return rows.addIndex(first, element);
  }

  size_t countNumbers() const { return plan.sums.size() * static_cast<size_t>(work.step); }

  //===--------------------------------------------------------------------===//
  // Sums
  //===--------------------------------------------------------------------===//

  LogicalResult writeSums() {
    FailureOr<SmallVector<Value>> sums = sumRows();
    if (failed(sums))
      return failure();
    for (auto [position, sum] : llvm::enumerate(*sums))
      shared.store(sum, getSharedIndex(position, warp));
    createBarrier(rows);
    Value isFirstWarp = rows.compare(arith::CmpIPredicate::eq, warp, rows.constantIndex(0));
    return rows.branch(isThere ? rows.create<arith::AndIOp>(isFirstWarp, isThere) : isFirstWarp, [&] {
      SmallVector<Value> totals;
      for (size_t position = 0; position < countNumbers(); ++position)
        totals.push_back(sumWarps(position));
      return writesScratch() ? storeSlice(totals) : writeOutputs(totals);
    });
  }

  Value getSharedIndex(size_t position, Value ofWarp) {
    Value place = rows.addIndex(ofWarp, static_cast<int64_t>(position) * work.warps);
    place = rows.create<arith::MulIOp>(place, rows.constantIndex(kWarp));
    return rows.create<arith::AddIOp>(place, lane);
  }

  Value sumWarps(size_t position) {
    Value total;
    for (int64_t each = 0; each < work.warps; ++each) {
      Value sum = shared.load(getSharedIndex(position, rows.constantIndex(each)));
      total = total ? rows.combine(ReduceKind::Sum, total, sum) : sum;
    }
    return total;
  }

  /// Of the rows of this warp, for every sum those of the step's columns.
  FailureOr<SmallVector<Value>> sumRows() {
    SmallVector<Value> zeros(countNumbers(), rows.neutral(ReduceKind::Sum, rows.builder.getF32Type()));
    SmallVector<Type> types(zeros.size(), rows.builder.getF32Type());
    return rows.choose(isThere, types, [&] { return walkRows(zeros); });
  }

  FailureOr<SmallVector<Value>> walkRows(ArrayRef<Value> zeros) {
    int64_t perSlice = llvm::divideCeilSigned(work.rows, work.slices);
    Value begin = rows.create<arith::MulIOp>(slice, rows.constantIndex(perSlice));
    Value next = rows.addIndex(begin, perSlice), all = rows.constantIndex(work.rows);
    Value end = work.rows % perSlice ? rows.create<arith::MinUIOp>(next, all) : next;
    Step columns = work.isFinish ? Step() : rows.findStep(number, /*distance=*/0, /*isGuarded=*/false);
    if (!work.isFinish && failed(rows.preload(columns, std::nullopt)))
      return failure();
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, rows.create<arith::AddIOp>(begin, warp), end,
                                                rows.constantIndex(work.warps), zeros);
    OpBuilder::InsertionGuard guard(rows.builder);
    rows.builder.setInsertionPointToStart(loop.getBody());
    rows.push();
    FailureOr<SmallVector<Value>> terms = getTerms(loop.getInductionVar(), columns);
    rows.pop();
    if (failed(terms))
      return failure();
    for (auto [term, sum] : llvm::zip(*terms, loop.getRegionIterArgs()))
      term = rows.combine(ReduceKind::Sum, sum, term);
    rows.builder.create<scf::YieldOp>(rows.loc, *terms);
    return SmallVector<Value>(loop.getResults());
  }

  /// What a row adds to every number.
  FailureOr<SmallVector<Value>> getTerms(Value row, const Step &columns) {
    SmallVector<Value> terms;
    Type f32 = rows.builder.getF32Type();
    Index index = work.isFinish ? Index() : rows.findRow(row);
    for (auto [sum, op] : llvm::enumerate(plan.sums)) {
      if (work.isFinish) {
        Value scratch = rows.getOperand(task.getScratchNumber(static_cast<int64_t>(sum)));
        for (int64_t element = 0; element < work.step; ++element)
          terms.push_back(rows.load(f32, scratch, {row, getColumnNumber(element)}));
        continue;
      }
      FailureOr<SmallVector<Value>> elements = rows.evaluateStep(op->getOperand(0), index, columns);
      if (failed(elements))
        return failure();
      for (Value element : *elements)
        terms.push_back(rows.round(element, f32));
    }
    return terms;
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  LogicalResult storeSlice(ArrayRef<Value> totals) {
    for (size_t sum = 0; sum < plan.sums.size(); ++sum)
      for (int64_t element = 0; element < work.step; ++element, totals = totals.drop_front())
        rows.store(totals.front(), rows.builder.getF32Type(),
                   rows.getOperand(task.getScratchNumber(static_cast<int64_t>(sum))),
                   {slice, getColumnNumber(element)});
    return success();
  }

  /// All elements before any store: an output may lie over an input.
  LogicalResult writeOutputs(ArrayRef<Value> totals) {
    SmallVector<Index> columns;
    for (int64_t element = 0; element < work.step; ++element) {
      columns.push_back(plan.isTotal ? Index() : rows.findColumn(getColumnNumber(element)));
      for (auto [sum, op] : llvm::enumerate(plan.sums)) {
        Value result = op->getResult(0);
        rows.remember(result, columns.back(),
                      rows.round(totals[sum * work.step + element], getElementTypeOrSelf(result)));
      }
    }
    SmallVector<Value> elements;
    for (size_t out : plan.ofSums)
      for (const Index &column : columns) {
        FailureOr<Value> element = rows.evaluate(task.getOutputs()[out], column);
        if (failed(element))
          return failure();
        elements.push_back(*element);
      }
    auto *next = elements.begin();
    for (size_t out : plan.ofSums)
      for (const Index &column : columns)
        rows.store(*next++, getElementTypeOrSelf(task.getOutputs()[out]),
                   rows.getOperand(task.getOutNumber(static_cast<int64_t>(out))), column);
    return success();
  }

  const KernelTask &task;
  const ReductionStrategy &plan;
  const ColumnWork work;
  Launch launch;
  NoSums noSums;
  RowEvaluator rows;
  SharedArray shared;
  Value lane, warp, slice;
  Value number;  ///< of this lane's step in a row
  Value isThere; ///< null: always
};

class Column : public ReductionStrategy {
public:
  using ReductionStrategy::ReductionStrategy;

protected:
  LogicalResult writeFirst(const KernelTask &task) const override {
    ColumnWork work{space.countRows(),   space.countColumns(), slices,
                    task.getStep(space), threads / kWarp,      /*isFinish=*/false};
    return ColumnKernel(task, *this, task.name, work).write();
  }
};
} // namespace

StrategyMatch par::matchColumn(const KernelRegion &region) {
  bool hasRows = !region.rows.empty() || !region.matrices.empty() || !region.rowValues.empty();
  if (!region.totals.empty() || region.columns.empty() || hasRows)
    return {};
  auto sums = static_cast<int64_t>(region.columns.size());
  if (kColumnWarps * kWarp * sums > kMostShared)
    return refuse("more sums over rows than shared memory has room for");
  auto strategy = std::make_unique<Column>("column", region.space);
  IterationSpace &space = strategy->space;
  strategy->sums = region.columns;
  strategy->ofSums = region.ofColumns;
  strategy->threads = kWarp * kColumnWarps;
  while (kColumnWarps * kWarp * space.step * sums > kMostShared)
    space.step /= 2;
  int64_t tiles = llvm::divideCeilSigned(space.countSteps(), kWarp), rows = space.countRows();
  int64_t wanted = std::min(llvm::divideCeilSigned(kEnoughBlocks, tiles), rows / (kColumnWarps * kLeastRows));
  int64_t slices = std::clamp<int64_t>(wanted, 1, kMostSlices);
  strategy->slices = llvm::divideCeilSigned(rows, llvm::divideCeilSigned(rows, slices));
  strategy->hasScratch = strategy->slices > 1;
  return {std::move(strategy), ""};
}

LogicalResult ReductionStrategy::writeFinish(const KernelTask &task) const {
  int64_t warps = 1, most = kFinishWarps / static_cast<int64_t>(llvm::PowerOf2Ceil(sums.size()));
  while (warps < std::min(slices, most))
    warps *= 2;
  ColumnWork work{slices, countNumbers(), /*slices=*/1, /*step=*/1, warps, /*isFinish=*/true};
  return ColumnKernel(task, *this, getFinishName(task.name), work).write();
}

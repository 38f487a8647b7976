//===- LongRowKernel.cpp - rows, and totals, that a block walks -----------------------------------===//
#include "../KernelReads.h"
#include "../OnlineSum.h"
#include "../ReductionStrategy.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

/// Most blocks: each has a share of what there is more of. Of so many none, mostly: a multiprocessor begins
/// another row when it is done with one, which takes less time than to walk to it.
static constexpr int64_t kMostBlocks = 1 << 16;

/// Threads of a block that walks a row. On an H200, losses: 256 are 4 % quicker than 512, 1024 slower.
static constexpr int32_t kLongRowThreads = 256;

namespace {
class LongRowKernel : public TermWalk {
public:
  LongRowKernel(const KernelTask &task, const ReductionStrategy &plan)
      : task(task), plan(plan), space(plan.space), outputs(task.getOutputs()), isTotal(plan.isTotal),
        launch(describe()), rows(task, space, task.name, launch, *this),
        group(rows, plan.threads, plan.threads) {}

  LogicalResult write() {
    LogicalResult result = isTotal ? writeTotal() : writeRows();
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

  /// What no pass has summed up has one of its own.
  FailureOr<Value> reduce(ArrayRef<int64_t>, Type type, ReduceKind kind,
                          function_ref<FailureOr<Value>(ArrayRef<Value>)> term) override {
    SmallVector<Value> sums{rows.neutral(kind, type)};
    if (failed(walk(sums, [&](const Step &step) {
          for (const Index &column : step.columns) {
            FailureOr<Value> value = term(column);
            if (failed(value))
              return failure();
            sums[0] = rows.combine(kind, sums[0], *value);
          }
          return success();
        })))
      return failure();
    return combine(kind, sums[0]);
  }

private:
  Launch describe() const {
    Launch launch(plan.name);
    launch.threads = plan.threads;
    launch.blocks = isTotal ? plan.slices : std::min(space.countRows(), kMostBlocks);
    launch.usesCoords = task.usesCoords();
    launch.isWide = task.getStep(space) > 1;
    if (plan.hasScratch) {
      launch.addReads(plan.sums.front()->getOperands());
      plan.addScratch(task, launch);
      return launch;
    }
    launch.addReads(outputs);
    for (size_t out = 0; out < outputs.size(); ++out)
      launch.operands.push_back({task.getOutNumber(out), BufferAccess::Write});
    return launch;
  }

  Value combine(ReduceKind kind, Value value) {
    ++combined;
    return group.combine(kind, value);
  }

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  /// `body` for every step of this thread, as a loop. `carried` are values before a step, what they are
  /// behind it is left there; in the end, behind the last one.
  LogicalResult walk(SmallVector<Value> &carried, function_ref<LogicalResult(const Step &)> body) {
    auto [first, end] = findRange();
    auto loop =
        rows.builder.create<scf::ForOp>(rows.loc, first, end, rows.constantIndex(plan.threads), carried);
    {
      OpBuilder::InsertionGuard guard(rows.builder);
      rows.builder.setInsertionPointToStart(loop.getBody());
      rows.push();
      carried.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
      LogicalResult result = body(rows.findStep(loop.getInductionVar(), /*distance=*/0, /*isGuarded=*/false));
      rows.pop();
      if (!carried.empty())
        rows.builder.create<scf::YieldOp>(rows.loc, carried);
      if (failed(result))
        return failure();
    }
    carried.assign(loop.getResults().begin(), loop.getResults().end());
    return success();
  }

  /// All steps of a row, or those of a slice.
  std::pair<Value, Value> findRange() {
    int64_t all = space.countColumns() / task.getStep(space);
    Value end = rows.constantIndex(all);
    if (!isTotal || plan.slices == 1)
      return {group.thread, end};
    Value count = rows.constantIndex(llvm::divideCeilSigned(all, plan.slices));
    Value begin = rows.create<arith::MulIOp>(group.number, count);
    Value next = rows.create<arith::AddIOp>(begin, count);
    return {rows.create<arith::AddIOp>(begin, group.thread), rows.create<arith::MinUIOp>(next, end)};
  }

  //===--------------------------------------------------------------------===//
  // Totals
  //===--------------------------------------------------------------------===//

  LogicalResult writeTotal() {
    Index none;
    if (!plan.hasScratch)
      return writeOutputs(none);
    FailureOr<Value> sum = rows.evaluate(plan.sums.front()->getResult(0), none);
    if (failed(sum))
      return failure();
    return rows.branch(group.isFirst(), [&] {
      Type f32 = rows.builder.getF32Type();
      rows.store(rows.round(*sum, f32), f32, rows.getOperand(task.getScratchNumber(0)),
                 {group.number, rows.constantIndex(0)});
      return success();
    });
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  LogicalResult writeRows() {
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, group.number, rows.constantIndex(space.countRows()),
                                                rows.constantIndex(launch.blocks));
    OpBuilder::InsertionGuard guard(rows.builder);
    rows.builder.setInsertionPointToStart(loop.getBody());
    rows.push();
    Index row = rows.findRow(loop.getInductionVar());
    LogicalResult result = success();
    for (const RowPass &pass : findPasses(task.getBlock()))
      if (succeeded(result))
        result = write(pass, row);
    if (succeeded(result))
      result = writeOutputs(row);
    if (combined == 1 && !group.isWarp()) // as in RowKernel
      createBarrier(rows);
    rows.pop();
    return result;
  }

  LogicalResult write(const RowPass &pass, const Index &row) {
    SmallVector<Value> sums;
    for (ReduceOp sum : pass.sums)
      sums.push_back(rows.neutral(sum.getKind(), Scalars::getHeldType(sum.getResult())));
    for (size_t online = 0; online < pass.online.size(); ++online)
      for (ReduceKind kind : {ReduceKind::Max, ReduceKind::Sum})
        sums.push_back(rows.neutral(kind, rows.builder.getF32Type()));
    if (failed(walk(sums, [&](const Step &step) { return add(pass, row, step, sums); })))
      return failure();
    auto *next = sums.begin();
    for (ReduceOp sum : pass.sums) {
      Value whole = combine(sum.getKind(), *next++);
      rows.remember(sum.getResult(), row, rows.round(whole, getElementTypeOrSelf(sum.getResult())));
    }
    for (OnlineSum online : pass.online) {
      if (failed(finish(online, row, next[0], next[1])))
        return failure();
      next += 2;
    }
    return success();
  }

  LogicalResult add(const RowPass &pass, const Index &row, const Step &step, MutableArrayRef<Value> sums) {
    for (ReduceOp sum : pass.sums) {
      FailureOr<SmallVector<Value>> elements = rows.evaluateStep(sum.getInput(), row, step);
      if (failed(elements))
        return failure();
      for (Value element : *elements)
        sums[0] =
            rows.combine(sum.getKind(), sums[0], rows.round(element, Scalars::getHeldType(sum.getResult())));
      sums = sums.drop_front();
    }
    for (OnlineSum online : pass.online) {
      if (failed(add(online, row, step, sums[0], sums[1])))
        return failure();
      sums = sums.drop_front(2);
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Online sums
  //===--------------------------------------------------------------------===//

  /// What is subtracted where the maximum is `maximum`.
  FailureOr<Value> getShift(OnlineSum online, const Index &row, Value maximum) {
    rows.push();
    rows.remember(online.maximum.getResult(), row, maximum);
    FailureOr<Value> shift = rows.evaluate(online.shift, row);
    rows.pop();
    return shift;
  }

  Value isNothing(Value maximum) {
    Value least = rows.neutral(ReduceKind::Max, maximum.getType());
    return rows.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, maximum, least);
  }

  /// A sum of exp(x - shift(before)) as one with shift(after). Where there was no number yet it is zero, also
  /// if −∞ less −∞ has made it NaN.
  FailureOr<Value> rescale(OnlineSum online, const Index &row, Value sum, Value before, Value after) {
    FailureOr<Value> from = getShift(online, row, before), to = getShift(online, row, after);
    if (failed(from) || failed(to))
      return failure();
    Value factor = rows.create<math::ExpOp>(rows.create<arith::SubFOp>(*from, *to));
    Value scaled = rows.create<arith::MulFOp>(sum, factor);
    return rows.select(isNothing(before), rows.constant(scaled.getType(), 0), scaled);
  }

  LogicalResult add(OnlineSum online, const Index &row, const Step &step, Value &maximum, Value &sum) {
    FailureOr<SmallVector<Value>> elements = rows.evaluateStep(online.maximum.getInput(), row, step);
    if (failed(elements))
      return failure();
    Value before = maximum;
    for (Value element : *elements)
      maximum = rows.combine(ReduceKind::Max, maximum, element);
    FailureOr<Value> scaled = rescale(online, row, sum, before, maximum);
    if (failed(scaled))
      return failure();
    rows.push();
    rows.remember(online.maximum.getResult(), row, maximum);
    FailureOr<SmallVector<Value>> powers = rows.evaluateStep(online.sum.getInput(), row, step);
    rows.pop();
    if (failed(powers))
      return failure();
    sum = *scaled;
    for (Value power : *powers)
      sum = rows.combine(ReduceKind::Sum, sum, power);
    return success();
  }

  LogicalResult finish(OnlineSum online, const Index &row, Value maximum, Value sum) {
    Value whole = combine(ReduceKind::Max, maximum);
    FailureOr<Value> scaled = rescale(online, row, sum, maximum, whole), shift = getShift(online, row, whole);
    if (failed(scaled) || failed(shift))
      return failure();
    Value total = combine(ReduceKind::Sum, *scaled);
    // A row of nothing but −∞: 0, or NaN where nobody took care of that.
    Value power = rows.create<math::ExpOp>(rows.create<arith::SubFOp>(whole, *shift));
    rows.remember(online.maximum.getResult(), row, whole);
    rows.remember(online.sum.getResult(), row, rows.select(isNothing(whole), power, total));
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Outputs
  //===--------------------------------------------------------------------===//

  LogicalResult writeOutputs(const Index &row) {
    SmallVector<size_t> matrices, ofRow;
    for (size_t out = 0; out < outputs.size(); ++out)
      (!isTotal && getShape(outputs[out]).size() == space.shape.size() ? matrices : ofRow).push_back(out);
    FailureOr<SmallVector<Value>> elements = hasPicked() ? evaluateByFirst(ofRow, row) : evaluate(ofRow, row);
    if (failed(elements))
      return failure();
    if (hasPicked() && !matrices.empty()) // which may lie over what is picked from
      createBarrier(rows);
    SmallVector<Value> none;
    if (!matrices.empty() &&
        failed(walk(none, [&](const Step &step) { return storeStep(matrices, row, step); })))
      return failure();
    return rows.branch(group.isFirst(), [&] {
      for (auto [out, element] : llvm::zip(ofRow, *elements))
        store(out, row, element);
      return success();
    });
  }

  FailureOr<SmallVector<Value>> evaluate(ArrayRef<size_t> ofRow, const Index &row) {
    SmallVector<Value> elements;
    for (size_t out : ofRow) {
      FailureOr<Value> element = rows.evaluate(outputs[out], row);
      if (failed(element))
        return failure();
      elements.push_back(*element);
    }
    return elements;
  }

  bool hasPicked() const {
    return llvm::any_of(task.getBlock().getOps<ReduceOp>(), &ScalarEvaluator::isPicked);
  }

  /// What is picked is read by the thread that stores it.
  FailureOr<SmallVector<Value>> evaluateByFirst(ArrayRef<size_t> ofRow, const Index &row) {
    SmallVector<Type> types;
    for (size_t out : ofRow)
      types.push_back(Scalars::getHeldType(outputs[out]));
    auto conditional =
        rows.builder.create<scf::IfOp>(rows.loc, types, group.isFirst(), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(rows.builder);
    rows.builder.setInsertionPointToStart(conditional.elseBlock());
    SmallVector<Value> nothing;
    for (Type type : types)
      nothing.push_back(rows.constant(type, 0));
    rows.builder.create<scf::YieldOp>(rows.loc, nothing);
    rows.builder.setInsertionPointToStart(conditional.thenBlock());
    rows.push();
    FailureOr<SmallVector<Value>> elements = evaluate(ofRow, row);
    rows.pop();
    if (failed(elements))
      return failure();
    rows.builder.create<scf::YieldOp>(rows.loc, *elements);
    return SmallVector<Value>(conditional.getResults());
  }

  LogicalResult storeStep(ArrayRef<size_t> matrices, const Index &row, const Step &step) {
    SmallVector<SmallVector<Value>> elements;
    for (size_t out : matrices) {
      FailureOr<SmallVector<Value>> computed = rows.evaluateStep(outputs[out], row, step);
      if (failed(computed))
        return failure();
      elements.push_back(*computed);
    }
    for (auto [out, values] : llvm::zip(matrices, elements))
      for (auto [element, column] : llvm::zip(values, step.columns))
        store(out, RowEvaluator::join(row, column), element);
    return success();
  }

  void store(size_t out, ArrayRef<Value> index, Value element) {
    rows.store(element, getElementTypeOrSelf(outputs[out]), rows.getOperand(task.getOutNumber(out)), index);
  }

  const KernelTask &task;
  const ReductionStrategy &plan;
  const IterationSpace &space;
  ValueRange outputs;
  bool isTotal;
  Launch launch;
  RowEvaluator rows;
  ThreadGroup group;
  int64_t combined = 0; ///< sums and maxima of a row
};

class LongRow : public ReductionStrategy {
public:
  using ReductionStrategy::ReductionStrategy;

protected:
  LogicalResult writeFirst(const KernelTask &task) const override {
    return LongRowKernel(task, *this).write();
  }
};
} // namespace

StrategyMatch par::matchLongRow(const KernelRegion &region) {
  if (region.rows.empty() || !region.columns.empty() || !region.totals.empty())
    return {};
  auto strategy = std::make_unique<LongRow>("long-row", region.space);
  strategy->threads = kLongRowThreads;
  return {std::move(strategy), ""};
}

StrategyMatch par::matchTotal(const KernelRegion &region) {
  if (region.totals.size() != 1 || region.hasRowSums())
    return {};
  if (!llvm::all_of(region.outputs, [](Value output) { return getShape(output).empty(); }))
    return refuse("results of several shapes");
  Operation *total = region.totals.front();
  if (!Scalars::getHeldType(total->getResult(0)).isF32())
    return refuse("a sum of no f32");
  IterationSpace space(getShape(total->getOperand(0)), /*rowDims=*/0);
  KernelReads reads(space.shape, space.rowDims);
  for (Value operand : total->getOperands())
    if (!reads.collect(operand, countDims(space.shape.size())))
      return refuse(reads.reason);
  space.reads = std::move(reads.reads);
  space.chooseStep(/*matrices=*/{}, space.shape.back());
  auto strategy = std::make_unique<LongRow>("total", std::move(space));
  int64_t steps = strategy->space.countSteps();
  for (strategy->threads = kWarp; strategy->threads < std::min<int64_t>(steps, kLoopThreads);)
    strategy->threads *= 2;
  auto reduce = dyn_cast<ReduceOp>(total);
  bool isSum = !reduce || reduce.getKind() == ReduceKind::Sum;
  if (isSum)
    strategy->slices = std::clamp<int64_t>(steps / (strategy->threads * kLeastSteps), 1, kMostSlices);
  strategy->addTotal(total, region, /*inScratch=*/strategy->slices > 1);
  return {std::move(strategy), ""};
}

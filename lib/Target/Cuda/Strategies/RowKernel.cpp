//===- RowKernel.cpp - rows that threads keep in registers ----------------------------------------===//
#include "../OnlineSum.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"
#include "RowStrategy.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

/// From so many threads of a block on rows are so long that a thread keeps as many elements as it has
/// registers.
static constexpr int32_t kLongBlock = 512;

namespace {
class RowKernel : public TermWalk {
public:
  RowKernel(const KernelTask &task, const RowStrategy &plan)
      : task(task), plan(plan), space(plan.space), outputs(task.getOutputs()), launch(describe()),
        rows(task, space, task.name, launch, *this), group(rows, plan.threads, launch.threads) {
    if (plan.sharesSums)
      shared.emplace(rows, findLaunchShared(rows), rows.builder.getF32Type());
  }

  LogicalResult write() {
    findSteps();
    if (failed(rows.preload(steps, std::nullopt)))
      return failure();
    SmallVector<Value> start = beginSums();
    if (!group.isWarp())
      start.push_back(rows.constantIndex(0));
    Value count = rows.constantIndex(space.countRows()), groups = rows.constantIndex(plan.groups);
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, group.number, count, groups, start);
    LogicalResult result = writeBody(loop);
    if (succeeded(result))
      result = storeSums(loop.getResults().drop_back(group.isWarp() ? 0 : 1));
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

  /// Over the row: each thread its elements, then all threads.
  FailureOr<Value> reduce(ArrayRef<int64_t>, Type type, ReduceKind kind,
                          function_ref<FailureOr<Value>(ArrayRef<Value>)> term) override {
    FailureOr<Value> mine = sumOfThread(kind, term);
    if (failed(mine))
      return failure();
    return combine(kind, SmallVector<Value>{*mine}).front();
  }

private:
  //===--------------------------------------------------------------------===//
  // Launch
  //===--------------------------------------------------------------------===//

  /// Sums over rows are not done when this launch is.
  bool isWritten(size_t output) const { return !llvm::is_contained(plan.ofSums, output); }

  /// What this launch computes elements of.
  SmallVector<Value> getComputed() const {
    SmallVector<Value> values;
    for (size_t out = 0; out < outputs.size(); ++out)
      if (isWritten(out))
        values.push_back(outputs[out]);
    for (Operation *sum : plan.sums)
      values.push_back(sum->getOperand(0));
    return values;
  }

  /// What all threads of a group compute elements of. A number of the row's is the first thread's business:
  /// it may lie over one that it is made of.
  SmallVector<Value> getOfElements() const {
    SmallVector<Value> values;
    for (size_t out = 0; out < outputs.size(); ++out)
      if (!isOfRow(out))
        values.push_back(outputs[out]);
    for (auto sum : task.getBlock().getOps<ReduceOp>())
      values.push_back(sum.getInput());
    return values;
  }

  Launch describe() const {
    Launch launch(plan.name);
    launch.threads = plan.countThreadsOfBlock();
    launch.blocks = llvm::divideCeilSigned(plan.groups * plan.threads, launch.threads);
    launch.sharedBytes = plan.countSharedBytes();
    launch.registers = launch.threads >= kLongBlock ? kManyRegisters : 0;
    launch.usesCoords = task.usesCoords();
    launch.isWide = task.getStep(space) > 1;
    launch.addReads(getComputed());
    for (size_t out = 0; out < outputs.size(); ++out)
      if (isWritten(out))
        launch.operands.push_back({task.getOutNumber(out), BufferAccess::Write});
    if (plan.hasScratch)
      plan.addScratch(task, launch);
    return launch;
  }

  /// Steps `thread`, `thread` + threads, …: neighbours read side by side.
  void findSteps() {
    int64_t all = space.countColumns() / task.getStep(space);
    for (int64_t first = 0; first < all; first += plan.threads)
      steps.push_back(rows.findStep(group.thread, first, first + plan.threads > all));
  }

  /// True for what registers need not keep from one sum to the next: all but the statistics of rows, and what
  /// is loaded once for all of them.
  bool isOfElements(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return llvm::any_of(space.reads,
                          [&](const Read &read) { return read.tensor == argument && read.isLate; });
    ArrayRef<int64_t> shape = getShape(value);
    return !shape.empty() && shape != ArrayRef(space.shape).take_front(space.rowDims);
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  LogicalResult writeBody(scf::ForOp loop) {
    OpBuilder::InsertionGuard guard(rows.builder);
    rows.builder.setInsertionPointToStart(loop.getBody());
    rows.push();
    SmallVector<Value> carried(loop.getRegionIterArgs());
    if (!group.isWarp())
      group.turn = carried.pop_back_val();
    LogicalResult result = writeRow(loop.getInductionVar(), carried);
    rows.pop();
    if (!group.isWarp())
      carried.push_back(rows.create<arith::XOrIOp>(group.turn, rows.constantIndex(1)));
    if (!carried.empty())
      rows.builder.create<scf::YieldOp>(rows.loc, carried);
    return result;
  }

  LogicalResult writeRow(Value number, SmallVector<Value> &sums) {
    Index row = rows.findRow(number);
    if (failed(rows.preloadNumbers(getOfElements(), row)) ||
        failed(rows.preload(steps, ArrayRef<Value>(row))))
      return failure();
    prefetchBehind(number);
    if (failed(sumRow(row)) || failed(addToSums(row, sums)) || failed(writeOutputs(row)))
      return failure();
    return success();
  }

  /// The group's next row, while this one is summed up: memory takes longer to answer than that takes.
  void prefetchBehind(Value number) {
    if (plan.groups >= space.countRows())
      return;
    Value next = rows.addIndex(number, plan.groups), last = rows.constantIndex(space.countRows() - 1);
    rows.prefetch(steps, rows.findRow(rows.create<arith::MinUIOp>(next, last)));
  }

  /// Sums that are made of none of the others, all at once. A row's own sums come before what is loaded late:
  /// each of them forgets that.
  LogicalResult sumRow(const Index &row) {
    for (const RowPass &pass : findPasses(task.getBlock())) {
      SmallVector<ReduceOp> together(pass.sums);
      llvm::erase_if(together, [&](ReduceOp sum) { return llvm::is_contained(plan.sums, sum); });
      if (together.size() > 1 && failed(sumTogether(together, row)))
        return failure();
    }
    if (space.hasLateReads())
      for (auto sum : task.getBlock().getOps<ReduceOp>())
        if (!llvm::is_contained(plan.sums, sum) && failed(rows.evaluate(sum.getResult(), row)))
          return failure();
    return success();
  }

  LogicalResult sumTogether(ArrayRef<ReduceOp> together, const Index &row) {
    SmallVector<ReduceKind> kinds;
    SmallVector<Value> values;
    for (ReduceOp sum : together) {
      Type type = Scalars::getHeldType(sum.getResult());
      auto term = [&](ArrayRef<Value> column) -> FailureOr<Value> {
        FailureOr<Value> element = rows.evaluate(sum.getInput(), RowEvaluator::join(row, column));
        return failed(element) ? element : FailureOr<Value>(rows.round(*element, type));
      };
      FailureOr<Value> mine = sumOfThread(sum.getKind(), term);
      if (failed(mine))
        return failure();
      kinds.push_back(sum.getKind());
      values.push_back(*mine);
    }
    values = combine(kinds, std::move(values));
    for (size_t number = 0; number < together.size(); ++number) {
      Value sum = ReduceOp(together[number]).getResult();
      rows.remember(sum, row, rows.round(values[number], getElementTypeOrSelf(sum)));
    }
    return success();
  }

  /// Of the elements of a row that this thread has.
  FailureOr<Value> sumOfThread(ReduceKind kind, function_ref<FailureOr<Value>(ArrayRef<Value>)> term) {
    Value mine;
    for (const Step &step : steps)
      for (const Index &column : step.columns) {
        FailureOr<Value> value = term(column);
        if (failed(value))
          return failure();
        Value guarded = rows.guard(step, kind, *value);
        mine = mine ? rows.combine(kind, mine, guarded) : guarded;
      }
    return mine;
  }

  SmallVector<Value> combine(ArrayRef<ReduceKind> kinds, SmallVector<Value> values) {
    if (space.hasLateReads())
      rows.forget([&](Value value) { return isOfElements(value); });
    return group.combine(kinds, std::move(values));
  }

  /// Also where a step is not there: such sums are not stored.
  LogicalResult addToSums(const Index &row, SmallVector<Value> &sums) {
    size_t sum = 0;
    for (Operation *op : plan.sums)
      for (const Step &step : steps) {
        FailureOr<SmallVector<Value>> elements = rows.evaluateStep(op->getOperand(0), row, step);
        if (failed(elements))
          return failure();
        for (Value element : *elements) {
          Value wide = rows.round(element, rows.builder.getF32Type());
          setSum(sums, sum, rows.combine(ReduceKind::Sum, getSum(sums, sum), wide));
          ++sum;
        }
      }
    return success();
  }

  bool isOfRow(size_t out) const { return getShape(outputs[out]).size() < space.shape.size(); }

  /// All elements before any store: an output may lie over an input.
  LogicalResult writeOutputs(const Index &row) {
    SmallVector<SmallVector<Value>> elements(outputs.size());
    bool hasLate = false;
    for (bool ofRow : {false, true}) // what numbers of a row share with its elements is there
      for (size_t out = 0; out < outputs.size(); ++out)
        if (isWritten(out) && isOfRow(out) == ofRow) {
          FailureOr<SmallVector<Value>> each = ofRow ? evaluateNumber(out, row) : evaluate(out, row, hasLate);
          if (failed(each))
            return failure();
          elements[out] = *each;
          hasLate |= !ofRow;
        }
    for (size_t out = 0; out < outputs.size(); ++out)
      if (isWritten(out) && failed(store(out, row, elements[out])))
        return failure();
    return success();
  }

  FailureOr<SmallVector<Value>> evaluate(size_t out, const Index &row, bool hasLate) {
    SmallVector<Value> elements;
    for (const Step &step : steps) {
      if (!hasLate && failed(rows.preload(step, ArrayRef<Value>(row), /*isLate=*/true)))
        return failure();
      FailureOr<SmallVector<Value>> computed = rows.evaluateStep(outputs[out], row, step);
      if (failed(computed))
        return failure();
      llvm::append_range(elements, *computed);
    }
    return elements;
  }

  /// By the thread that stores it, of sums that all threads have made: another one might read too late what
  /// it lies over.
  FailureOr<SmallVector<Value>> evaluateNumber(size_t out, const Index &row) {
    for (auto sum : task.getBlock().getOps<ReduceOp>())
      if (!llvm::is_contained(plan.sums, sum) && !ScalarEvaluator::isPicked(sum) &&
          isMadeOf(outputs[out], {sum}) && failed(rows.evaluate(sum.getResult(), row)))
        return failure();
    Type type = Scalars::getHeldType(outputs[out]);
    return rows.choose(group.isFirst(), {type}, [&]() -> FailureOr<SmallVector<Value>> {
      FailureOr<Value> number = rows.evaluate(outputs[out], row);
      return failed(number) ? FailureOr<SmallVector<Value>>() : SmallVector<Value>{*number};
    });
  }

  LogicalResult store(size_t out, const Index &row, ArrayRef<Value> elements) {
    Value memory = rows.getOperand(task.getOutNumber(out));
    Type type = getElementTypeOrSelf(outputs[out]);
    if (isOfRow(out))
      return rows.branch(group.isFirst(), [&] {
        rows.store(elements[0], type, memory, row);
        return success();
      });
    for (const Step &step : steps) {
      if (failed(rows.branch(step.isThere, [&] {
            for (auto [element, column] : llvm::zip(elements, step.columns))
              rows.store(element, type, memory, RowEvaluator::join(row, column));
            return success();
          })))
        return failure();
      elements = elements.drop_front(step.columns.size());
    }
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Sums over rows
  //===--------------------------------------------------------------------===//

  size_t countSums() const {
    return plan.sums.size() * steps.size() * static_cast<size_t>(task.getStep(space));
  }

  /// Zeros: in shared memory, or what is returned.
  SmallVector<Value> beginSums() {
    Value zero = rows.neutral(ReduceKind::Sum, rows.builder.getF32Type());
    if (!shared)
      return SmallVector<Value>(countSums(), zero);
    for (size_t sum = 0; sum < countSums(); ++sum)
      shared->store(zero, getPlace(sum));
    return {};
  }

  /// Neighbours lie side by side, and no thread has the places of another one.
  Value getPlace(size_t sum) { return rows.addIndex(group.thread, static_cast<int64_t>(sum) * plan.threads); }
  Value getSum(ArrayRef<Value> sums, size_t sum) { return shared ? shared->load(getPlace(sum)) : sums[sum]; }
  void setSum(MutableArrayRef<Value> sums, size_t sum, Value value) {
    if (shared)
      shared->store(value, getPlace(sum));
    else
      sums[sum] = value;
  }

  /// Of the rows of this group.
  LogicalResult storeSums(ValueRange results) {
    SmallVector<Value> sums(results);
    size_t next = 0;
    Value isGroup = rows.compare(arith::CmpIPredicate::ult, group.number, rows.constantIndex(plan.groups));
    bool isExact = launch.blocks * launch.threads == plan.groups * plan.threads;
    return rows.branch(isExact ? Value() : isGroup, [&] {
      for (size_t sum = 0; sum < plan.sums.size(); ++sum)
        for (const Step &step : steps) {
          if (failed(rows.branch(step.isThere, [&] {
                // All before the first is stored: side by side, they are stored at once.
                SmallVector<Value> elements;
                for (size_t number = 0; number < step.columns.size(); ++number)
                  elements.push_back(getSum(sums, next + number));
                for (auto [element, column] : llvm::zip(elements, step.columns))
                  rows.store(element, rows.builder.getF32Type(), rows.getOperand(task.getScratchNumber(sum)),
                             {group.number, rows.linearize(column)});
                return success();
              })))
            return failure();
          next += step.columns.size();
        }
      return success();
    });
  }

  const KernelTask &task;
  const RowStrategy &plan;
  const IterationSpace &space;
  ValueRange outputs;
  Launch launch;
  RowEvaluator rows;
  ThreadGroup group;
  std::optional<SharedArray> shared; ///< sums over rows, where they lie there
  SmallVector<Step> steps;           ///< of this thread, in every row
};
} // namespace

LogicalResult RowStrategy::writeFirst(const KernelTask &task) const { return RowKernel(task, *this).write(); }

//===- ScatterKernel.cpp - rows that are added to those of a table, in the order of ids -----------===//
#include "../../Kernels/ScatterSum.h"
#include "../KernelReads.h"
#include "../KernelStrategy.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

static constexpr int32_t kBlock = 128;
/// Most blocks of a fill: threads take several steps of what is larger.
static constexpr int64_t kMostBlocks = 1 << 14;
/// Ids that a lane looks at at once: what takes time is waiting for them.
static constexpr int64_t kIdsAtOnce = 4;
/// Of threads, where a warp's part of a row is not whole: rows of 1,600 spill from the 56 that ptxas takes by
/// itself.
static constexpr int64_t kRegisters = 72;
/// Columns whose sums a lane keeps in registers.
static constexpr int64_t kMostSums = 32;

static constexpr StringLiteral kName = "scatter";
static std::string getScatterName(StringRef kernel) { return (kernel + "_scatter").str(); }

namespace {
/// Writes what the sums begin with, unless it is there.
class FillKernel {
public:
  FillKernel(const KernelTask &task, const IterationSpace &space, Value initial)
      : task(task), space(space), initial(initial), launch(describe()), noSums(task.work),
        rows(task, space, task.name, launch, noSums) {}

  LogicalResult write() {
    Value table = rows.getOperand(task.getOutNumber(0)), wanted;
    if (Value factor = findFactor(rows, initial))
      isKept =
          rows.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, factor, rows.constant(factor.getType(), 0));
    if (Value isThere = isInMemory(rows, initial, table))
      wanted = rows.create<arith::XOrIOp>(isThere, rows.constant(rows.builder.getI1Type(), 1));
    LogicalResult result = rows.branch(wanted, [&] { return writeSteps(table); });
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

private:
  int64_t countStepsOfRow() const { return space.countColumns() / task.getStep(space); }

  Launch describe() const {
    Launch launch("fill");
    launch.threads = kBlock;
    int64_t blocks = llvm::divideCeilSigned(space.countRows() * countStepsOfRow(), kBlock);
    launch.blocks = std::min(blocks, kMostBlocks);
    launch.usesCoords = task.usesCoords();
    launch.isWide = task.getStep(space) > 1;
    if (initial)
      launch.addReads(initial);
    launch.operands.push_back({task.getOutNumber(0), BufferAccess::Update});
    launch.next = getScatterName(task.name);
    return launch;
  }

  LogicalResult writeSteps(Value table) {
    ThreadGroup grid(rows, /*threads=*/1, kBlock);
    Value all = rows.constantIndex(space.countRows() * countStepsOfRow());
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, grid.number, all,
                                                rows.constantIndex(launch.blocks * kBlock));
    OpBuilder::InsertionGuard guard(rows.builder);
    rows.builder.setInsertionPointToStart(loop.getBody());
    rows.push();
    Index place = rows.delinearize(loop.getInductionVar(), {space.countRows(), countStepsOfRow()});
    LogicalResult result =
        writeStep(table, place[0], rows.findStep(place[1], /*distance=*/0, /*isGuarded=*/false));
    rows.pop();
    return result;
  }

  LogicalResult writeStep(Value table, Value row, const Step &step) {
    Type f32 = rows.builder.getF32Type();
    SmallVector<Value> elements(step.columns.size(), rows.neutral(ReduceKind::Sum, f32));
    if (initial) {
      SmallVector<Type> types(step.columns.size(), f32);
      auto computed = rows.choose(isKept, types, [&] { return rows.evaluateStep(initial, {row}, step); });
      if (failed(computed))
        return failure();
      elements = *computed;
    }
    for (auto [element, column] : llvm::zip(elements, step.columns))
      rows.store(element, f32, table, {row, column[0]});
    return success();
  }

  const KernelTask &task;
  const IterationSpace &space;
  Value initial; ///< null: zero
  Launch launch;
  NoSums noSums;
  RowEvaluator rows;
  Value isKept; ///< what is multiplied by zero is not read; null: it is
};

/// The warp of the first id of its kind adds all rows of that kind, one after the other: a row of the table
/// belongs to one warp, and the order is that of the ids. Warps of other ids end at once.
class ScatterKernel {
public:
  ScatterKernel(const KernelTask &task, const IterationSpace &space, AddsRowsOpInterface op)
      : task(task), space(space), op(op), ids(getShape(op.getIds())),
        perLane(std::max<int64_t>(kMostSums / task.getStep(space), 1)), launch(describe()), noSums(task.work),
        rows(task, space, getScatterName(task.name), launch, noSums), group(rows, kWarp, kBlock) {}

  LogicalResult write() {
    LogicalResult result = writeWarp();
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

private:
  int64_t countIds() const { return ShapedType::getNumElements(ids); }
  int64_t countSteps() const { return space.countColumns() / task.getStep(space); }
  int64_t countTiles() const { return llvm::divideCeilSigned(countSteps(), kWarp * perLane); }

  Launch describe() const {
    Launch launch(kName);
    launch.threads = kBlock;
    launch.blocks = llvm::divideCeilSigned(countIds() * countTiles() * kWarp, kBlock);
    launch.registers = countSteps() % (kWarp * perLane) == 0 ? 0 : kRegisters;
    launch.usesCoords = task.usesCoords();
    launch.isWide = task.getStep(space) > 1;
    launch.addReads(op->getOperands());
    launch.operands.push_back({task.getOutNumber(0), BufferAccess::Update});
    return launch;
  }

  LogicalResult writeWarp() {
    Index place = rows.delinearize(group.number, {countIds(), countTiles()});
    mine = place[0];
    tile = place[1];
    // The last block may have warps without an id.
    bool isExact = countIds() * countTiles() * kWarp % kBlock == 0;
    Value exists =
        rows.compare(arith::CmpIPredicate::ult, group.number, rows.constantIndex(countIds() * countTiles()));
    return rows.branch(isExact ? Value() : exists, [&]() -> LogicalResult {
      FailureOr<TableRow> found = findRow(mine);
      FailureOr<Value> isRepeated = failed(found) ? FailureOr<Value>() : findEarlier(*found);
      if (failed(isRepeated))
        return failure();
      Value isNew = rows.create<arith::XOrIOp>(*isRepeated, rows.constant(rows.builder.getI1Type(), 1));
      Value isOwner = rows.create<arith::AndIOp>(found->isThere, isNew);
      return rows.branch(isOwner, [&] { return addRows(found->row); });
    });
  }

  //===--------------------------------------------------------------------===//
  // Ids
  //===--------------------------------------------------------------------===//

  FailureOr<TableRow> findRow(Value id) {
    return rows.ScalarEvaluator::findRow(op.getIds(), op.getOffset(), rows.delinearize(id, ids),
                                         space.countRows());
  }

  /// Lanes for which `condition` is true, a bit each.
  Value vote(Value condition) {
    Type i32 = rows.builder.getI32Type();
    return rows.create<NVVM::VoteBallotOp>(i32, rows.constant(i32, -1), condition);
  }

  /// True if an id before this warp's means the same row.
  FailureOr<Value> findEarlier(TableRow found) {
    Value no = rows.constant(rows.builder.getI1Type(), 0);
    LogicalResult result = success();
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, group.thread, mine,
                                                rows.constantIndex(kWarp * kIdsAtOnce), no);
    {
      OpBuilder::InsertionGuard guard(rows.builder);
      rows.builder.setInsertionPointToStart(loop.getBody());
      rows.push();
      Value any = loop.getRegionIterArgs()[0];
      for (int64_t id = 0; id < kIdsAtOnce && succeeded(result); ++id) {
        Value number = rows.addIndex(loop.getInductionVar(), id * kWarp);
        FailureOr<Value> same = isSame(number, mine, found.row);
        result = success(succeeded(same));
        any = failed(same) ? any : rows.create<arith::OrIOp>(any, *same);
      }
      rows.pop();
      rows.builder.create<scf::YieldOp>(rows.loc, any);
    }
    if (failed(result))
      return failure();
    Value zero = rows.constant(rows.builder.getI32Type(), 0);
    return rows.compare(arith::CmpIPredicate::ne, vote(loop.getResult(0)), zero);
  }

  //===--------------------------------------------------------------------===//
  // Rows
  //===--------------------------------------------------------------------===//

  LogicalResult addRows(Value row) {
    SmallVector<Step> steps = findSteps();
    FailureOr<SmallVector<Value>> sums = loadRow(row, steps);
    if (failed(sums))
      return failure();
    // From the ids on among which this warp's is.
    Value atOnce = rows.constantIndex(kWarp * kIdsAtOnce);
    Value first = rows.create<arith::MulIOp>(rows.create<arith::DivUIOp>(mine, atOnce), atOnce);
    auto loop =
        rows.builder.create<scf::ForOp>(rows.loc, first, rows.constantIndex(countIds()), atOnce, *sums);
    {
      OpBuilder::InsertionGuard guard(rows.builder);
      rows.builder.setInsertionPointToStart(loop.getBody());
      rows.push();
      FailureOr<SmallVector<Value>> next =
          addIds(loop.getInductionVar(), row, steps, SmallVector<Value>(loop.getRegionIterArgs()));
      rows.pop();
      if (failed(next))
        return failure();
      rows.builder.create<scf::YieldOp>(rows.loc, *next);
    }
    return storeRow(row, steps, loop.getResults());
  }

  SmallVector<Step> findSteps() {
    SmallVector<Step> steps;
    Value first = rows.create<arith::MulIOp>(tile, rows.constantIndex(kWarp * perLane));
    first = rows.create<arith::AddIOp>(first, group.thread);
    for (int64_t number = 0; number < std::min(perLane, llvm::divideCeilSigned(countSteps(), kWarp));
         ++number)
      steps.push_back(rows.findStep(first, number * kWarp, countSteps() % (kWarp * perLane) != 0));
    return steps;
  }

  /// A row of the table as it is.
  FailureOr<SmallVector<Value>> loadRow(Value row, ArrayRef<Step> steps) {
    SmallVector<Value> elements;
    Type f32 = rows.builder.getF32Type();
    for (const Step &step : steps) {
      SmallVector<Type> types(step.columns.size(), f32);
      auto loaded = rows.choose(step.isThere, types, [&]() -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> values;
        for (const Index &column : step.columns)
          values.push_back(rows.load(f32, rows.getOperand(task.getOutNumber(0)), {row, column[0]}));
        return values;
      });
      llvm::append_range(elements, *loaded);
    }
    return elements;
  }

  LogicalResult storeRow(Value row, ArrayRef<Step> steps, ValueRange sums) {
    for (const Step &step : steps) {
      if (failed(rows.branch(step.isThere, [&] {
            for (auto [sum, column] : llvm::zip(sums, step.columns))
              rows.store(sum, rows.builder.getF32Type(), rows.getOperand(task.getOutNumber(0)),
                         {row, column[0]});
            return success();
          })))
        return failure();
      sums = sums.drop_front(step.columns.size());
    }
    return success();
  }

  /// Is an id before `end`, and means `row`.
  FailureOr<Value> isSame(Value number, Value end, Value row) {
    Value last = rows.create<arith::SubIOp>(end, rows.constantIndex(1));
    FailureOr<TableRow> other = findRow(rows.create<arith::MinUIOp>(number, last));
    if (failed(other))
      return failure();
    Value exists = rows.compare(arith::CmpIPredicate::ult, number, end);
    return rows.create<arith::AndIOp>(exists, rows.compare(arith::CmpIPredicate::eq, other->row, row));
  }

  /// Adds the rows of those ids from `first` on that mean `row`; of the ids before this warp's, none does.
  FailureOr<SmallVector<Value>> addIds(Value first, Value row, ArrayRef<Step> steps,
                                       SmallVector<Value> sums) {
    SmallVector<std::pair<Value, Value>> lanes; // of 32 ids each, by the first of them
    for (int64_t id = 0; id < kIdsAtOnce; ++id) {
      Value begin = rows.addIndex(first, id * kWarp),
            number = rows.create<arith::AddIOp>(begin, group.thread);
      FailureOr<Value> same = isSame(number, rows.constantIndex(countIds()), row);
      if (failed(same))
        return failure();
      lanes.push_back({begin, vote(*same)});
    }
    for (auto [begin, each] : lanes) {
      FailureOr<SmallVector<Value>> next = addLanes(each, begin, steps, sums);
      if (failed(next))
        return failure();
      sums = *next;
    }
    return sums;
  }

  /// Adds the row of each lane whose bit is set, from the lowest on.
  FailureOr<SmallVector<Value>> addLanes(Value lanes, Value first, ArrayRef<Step> steps, ValueRange sums) {
    SmallVector<Value> start{lanes};
    llvm::append_range(start, sums);
    auto loop = rows.builder.create<scf::WhileOp>(rows.loc, ValueRange(start).getTypes(), start);
    SmallVector<Location> locations(start.size(), rows.loc);
    OpBuilder::InsertionGuard guard(rows.builder);
    Block *before = rows.builder.createBlock(&loop.getBefore(), {}, ValueRange(start).getTypes(), locations);
    Value zero = rows.constant(rows.builder.getI32Type(), 0);
    Value isLeft = rows.compare(arith::CmpIPredicate::ne, before->getArgument(0), zero);
    rows.builder.create<scf::ConditionOp>(rows.loc, isLeft, before->getArguments());
    Block *body = rows.builder.createBlock(&loop.getAfter(), {}, ValueRange(start).getTypes(), locations);
    rows.push();
    FailureOr<SmallVector<Value>> next =
        addLowest(body->getArgument(0), first, steps, body->getArguments().drop_front());
    rows.pop();
    if (failed(next))
      return failure();
    rows.builder.create<scf::YieldOp>(rows.loc, *next);
    return SmallVector<Value>(loop.getResults().drop_front());
  }

  /// The lanes that are left, and the sums.
  FailureOr<SmallVector<Value>> addLowest(Value lanes, Value first, ArrayRef<Step> steps, ValueRange sums) {
    Type f32 = rows.builder.getF32Type(), i32 = rows.builder.getI32Type();
    Value lane = rows.create<math::CountTrailingZerosOp>(lanes);
    Value number = rows.create<arith::AddIOp>(
        first, rows.create<arith::IndexCastUIOp>(rows.builder.getIndexType(), lane));
    Value lower = rows.create<arith::SubIOp>(lanes, rows.constant(i32, 1));
    SmallVector<Value> next{rows.create<arith::AndIOp>(lanes, lower)};
    Index row = rows.delinearize(number, ids);
    for (const Step &step : steps) {
      SmallVector<Type> types(step.columns.size(), Scalars::getHeldType(op.getRows()));
      auto added =
          rows.choose(step.isThere, types, [&] { return rows.evaluateStep(op.getRows(), row, step); });
      if (failed(added))
        return failure();
      for (Value element : *added) {
        next.push_back(rows.combine(ReduceKind::Sum, sums.front(), rows.round(element, f32)));
        sums = sums.drop_front();
      }
    }
    return next;
  }

  const KernelTask &task;
  const IterationSpace &space;
  AddsRowsOpInterface op;
  ArrayRef<int64_t> ids; ///< shape
  int64_t perLane;       ///< steps of a lane
  Launch launch;
  NoSums noSums;
  RowEvaluator rows;
  ThreadGroup group;
  Value mine; ///< number of this warp's id
  Value tile; ///< of the columns
};

class Scatter : public KernelStrategy {
public:
  Scatter(IterationSpace space, AddsRowsOpInterface op, Value initial)
      : KernelStrategy(kName), space(std::move(space)), op(op), initial(initial) {}

  int64_t countLaunches() const override { return 2; }
  LogicalResult write(const KernelTask &task) const override {
    {
      OpBuilder::InsertionGuard guard(task.builder);
      if (failed(FillKernel(task, space, initial).write()))
        return failure();
    }
    return ScatterKernel(task, space, op).write();
  }

private:
  const IterationSpace space; ///< the table's
  AddsRowsOpInterface op;
  Value initial; ///< to which it adds; null: zero
};
} // namespace

StrategyMatch par::matchScatter(const KernelRegion &region) {
  auto scatters = region.block.getOps<AddsRowsOpInterface>();
  if (scatters.empty())
    return {};
  AddsRowsOpInterface op = *scatters.begin();
  Value table = op->getResult(0), output = region.outputs.front(), initial;
  if (auto add = output.getDefiningOp<arith::AddFOp>();
      add && (add.getLhs() == table || add.getRhs() == table))
    initial = add.getLhs() == table ? add.getRhs() : add.getLhs();
  if (region.outputs.size() > 1 || (!initial && output != table) || (initial && isMadeOf(initial, {op})))
    return refuse(op->getName().getStringRef().str() + " is no result alone");
  if (getShape(table).size() != 2)
    return refuse("rows that are no vectors");
  if (!getElementTypeOrSelf(table).isF32())
    return refuse("a table of no f32");
  ArrayRef<int64_t> ofRows = getShape(op.getRows());
  IterationSpace space(getShape(table), /*rowDims=*/1);
  KernelReads added(ofRows, ofRows.size() - 1), begun(space.shape, space.rowDims);
  if (!added.collect(op.getRows(), countDims(ofRows.size())) ||
      (initial && !begun.collect(initial, countDims(2))))
    return refuse(added.reason + begun.reason);
  space.reads = std::move(begun.reads);
  // Rows that are added have the table's columns behind other dimensions.
  auto last = static_cast<int64_t>(ofRows.size()) - 1;
  for (const Read &read : added.reads)
    if (read.isAlong(last))
      space.reads.push_back({read.tensor, {1}});
  space.chooseStep(output, space.shape.back());
  return {std::make_unique<Scatter>(std::move(space), op, initial), ""};
}

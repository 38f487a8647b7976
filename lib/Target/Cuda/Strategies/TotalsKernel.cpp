//===- TotalsKernel.cpp - the sum of the products of many tensors ---------------------------------===//
#include "../ReductionStrategy.h"
#include "../RowEvaluator.h"
#include "../ThreadGroup.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "par/Dialect/Par/IR/SumOfDots.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// The threads of all blocks take steps of a tensor in turns, then those of the next one. Each has one sum
/// for every element of a step, whatever the tensor; a block leaves what its threads have come to in scratch.
class TotalsKernel {
public:
  TotalsKernel(const KernelTask &task, const ReductionStrategy &plan, ArrayRef<EinsumOp> dots)
      : task(task), plan(plan), dots(dots), launch(describe()), noSums(task.work),
        rows(task, plan.space, task.name, launch, noSums), group(rows, plan.threads, plan.threads) {}

  LogicalResult write() {
    findPlace();
    SmallVector<Value> sums(static_cast<size_t>(plan.space.step),
                            rows.neutral(ReduceKind::Sum, rows.builder.getF32Type()));
    for (ArrayRef<EinsumOp> rest = dots; !rest.empty();) {
      size_t count = 1;
      while (count < rest.size() && areAlike(rest[0], rest[count]))
        ++count;
      addList(rest.take_front(count), sums);
      rest = rest.drop_front(count);
    }
    Value sum = sums.front();
    for (Value each : ArrayRef(sums).drop_front())
      sum = rows.combine(ReduceKind::Sum, sum, each);
    sum = group.combine(ReduceKind::Sum, sum);
    LogicalResult result = rows.branch(group.isFirst(), [&] {
      rows.store(sum, rows.builder.getF32Type(), rows.getOperand(task.getScratchNumber(0)),
                 {group.number, rows.constantIndex(0)});
      return success();
    });
    rows.builder.create<func::ReturnOp>(rows.loc);
    return result;
  }

private:
  Launch describe() const {
    Launch launch(plan.name);
    launch.threads = plan.threads;
    launch.blocks = plan.slices;
    launch.isWide = task.isAligned;
    SmallVector<Value> inputs;
    for (EinsumOp dot : dots)
      llvm::append_range(inputs, dot.getInputs());
    launch.addReads(inputs);
    plan.addScratch(task, launch);
    return launch;
  }

  static int64_t countElements(Value tensor) { return ShapedType::getNumElements(getShape(tensor)); }

  static bool areAlike(EinsumOp one, EinsumOp other) {
    return llvm::all_of(llvm::zip(one.getInputs(), other.getInputs()), [](auto inputs) {
      auto [a, b] = inputs;
      return countElements(a) == countElements(b) && getElementTypeOrSelf(a) == getElementTypeOrSelf(b);
    });
  }

  /// This thread among those of all blocks.
  void findPlace() {
    Value before = rows.create<arith::MulIOp>(group.number, rows.constantIndex(plan.threads));
    thread = rows.create<arith::AddIOp>(before, group.thread);
  }

  /// A loop over tensors of one size and type, and one over the steps of each.
  void addList(ArrayRef<EinsumOp> dots, SmallVector<Value> &sums) {
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, rows.constantIndex(0),
                                                rows.constantIndex(static_cast<int64_t>(dots.size())),
                                                rows.constantIndex(1), sums);
    OpBuilder::InsertionGuard guard(rows.builder);
    rows.builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> carried(loop.getRegionIterArgs());
    bool isSquare = llvm::all_of(dots, [](EinsumOp dot) { return dot.getInputs()[0] == dot.getInputs()[1]; });
    Value left = select(dots, 0, loop.getInductionVar()),
          right = isSquare ? left : select(dots, 1, loop.getInductionVar());
    addSteps(dots.front(), left, right, carried);
    rows.builder.create<scf::YieldOp>(rows.loc, carried);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }

  /// The memory of an operand of dot `number`, as one row.
  Value select(ArrayRef<EinsumOp> dots, unsigned operand, Value number) {
    auto getMemory = [&](EinsumOp dot) { return rows.getMemory(dot.getInputs()[operand]); };
    EinsumOp first = dots.front();
    auto type = MemRefType::get({countElements(first.getInputs()[operand])},
                                cast<MemRefType>(getMemory(first).getType()).getElementType());
    auto flatten = [&](EinsumOp dot) {
      return rows.create<memref::ReinterpretCastOp>(type, getMemory(dot), /*offset=*/int64_t(0),
                                                    type.getShape(), ArrayRef<int64_t>{1});
    };
    if (dots.size() == 1)
      return flatten(first);
    auto cases = llvm::to_vector(llvm::seq<int64_t>(1, static_cast<int64_t>(dots.size())));
    auto choice = rows.builder.create<scf::IndexSwitchOp>(rows.loc, TypeRange(type), number, cases,
                                                          static_cast<unsigned>(cases.size()));
    OpBuilder::InsertionGuard guard(rows.builder);
    for (auto [number, dot] : llvm::enumerate(dots)) { // the first is the default
      rows.builder.createBlock(&choice->getRegion(static_cast<unsigned>(number)));
      rows.builder.create<scf::YieldOp>(rows.loc, flatten(dot));
    }
    return choice.getResult(0);
  }

  /// Steps of as many elements as `sums` has, and those that are left one at a time.
  void addSteps(EinsumOp dot, Value left, Value right, SmallVector<Value> &sums) {
    int64_t elements = countElements(dot.getInputs()[0]), steps = elements / plan.space.step;
    addLoop(rows.constantIndex(0), steps, plan.space.step, dot, left, right, sums);
    if (elements % plan.space.step)
      addLoop(rows.constantIndex(steps * plan.space.step), elements % plan.space.step, 1, dot, left, right,
              sums);
  }

  void addLoop(Value begin, int64_t count, int64_t width, EinsumOp dot, Value left, Value right,
               SmallVector<Value> &sums) {
    auto loop = rows.builder.create<scf::ForOp>(rows.loc, thread, rows.constantIndex(count),
                                                rows.constantIndex(plan.slices * plan.threads), sums);
    OpBuilder::InsertionGuard guard(rows.builder);
    rows.builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> carried(loop.getRegionIterArgs());
    Value first = rows.create<arith::AddIOp>(
        begin, rows.create<arith::MulIOp>(loop.getInductionVar(), rows.constantIndex(width)));
    for (int64_t element = 0; element < width; ++element) {
      Value place = rows.addIndex(first, element);
      Value a = rows.load(getElementTypeOrSelf(dot.getInputs()[0]), left, {place}),
            b = left == right ? a : rows.load(getElementTypeOrSelf(dot.getInputs()[1]), right, {place});
      carried[element] = rows.combine(ReduceKind::Sum, carried[element], rows.create<arith::MulFOp>(a, b));
    }
    rows.builder.create<scf::YieldOp>(rows.loc, carried);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }

  const KernelTask &task;
  const ReductionStrategy &plan;
  ArrayRef<EinsumOp> dots;
  Launch launch;
  NoSums noSums;
  RowEvaluator rows;
  ThreadGroup group;
  Value thread;
};

class Totals : public ReductionStrategy {
public:
  explicit Totals(SmallVector<EinsumOp> dots)
      : ReductionStrategy("totals", IterationSpace()), dots(std::move(dots)) {}

protected:
  LogicalResult writeFirst(const KernelTask &task) const override {
    return TotalsKernel(task, *this, dots).write();
  }

private:
  const SmallVector<EinsumOp> dots; ///< by the shapes and types of their tensors
};
} // namespace

/// Dots that one piece of code computes stand side by side.
static SmallVector<int64_t> getOrder(EinsumOp dot) {
  SmallVector<int64_t> order;
  for (Value input : dot.getInputs())
    order.append({ShapedType::getNumElements(getShape(input)), getElementTypeOrSelf(input).isF32()});
  return order;
}

static bool isOfReads(EinsumOp dot) {
  return dot.getType().getElementType().isF32() && llvm::all_of(dot.getInputs(), [](Value input) {
           return isa<BlockArgument>(input) && isa<FloatType>(getElementTypeOrSelf(input));
         });
}

/// The sum of all dots that there are, and what is made of it.
StrategyMatch par::matchTotals(const KernelRegion &region) {
  if (region.totals.empty())
    return {};
  if (!llvm::all_of(region.outputs, [](Value output) { return getShape(output).empty(); }))
    return refuse("results of several shapes");
  Operation *sum = nullptr;
  SmallVector<EinsumOp> dots;
  for (auto add : region.block.getOps<arith::AddFOp>())
    if (SmallVector<EinsumOp> found = findDots(add.getResult()); found.size() == region.totals.size())
      sum = add, dots = found;
  if (dots.empty() || !llvm::all_of(dots, isOfReads))
    return refuse("several sums");
  int64_t elements = 0;
  for (EinsumOp dot : dots)
    elements += ShapedType::getNumElements(getShape(dot.getInputs()[0]));
  llvm::stable_sort(dots, [](EinsumOp a, EinsumOp b) { return getOrder(a) < getOrder(b); });
  auto strategy = std::make_unique<Totals>(std::move(dots));
  strategy->threads = kLoopThreads;
  int64_t step = strategy->space.step = kAccessBytes / 4;
  strategy->slices = std::clamp<int64_t>(elements / (step * kLoopThreads * kLeastSteps), 1, kMostSlices);
  strategy->addTotal(sum, region, /*inScratch=*/true);
  return {std::move(strategy), ""};
}

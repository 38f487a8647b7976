//===- KernelPlan.cpp - how the threads of a GPU share a kernel -----------------------------------===//
#include "KernelPlan.h"
#include "../Kernels/WideStep.h"
#include "KernelReads.h"
#include "par/Dialect/Par/IR/SumOfDots.h"

using namespace mlir;
using namespace mlir::par;

StringRef par::getName(PlanKind kind) {
  static constexpr llvm::StringLiteral names[] = {"generic",
                                                  "elementwise",
                                                  "gather",
                                                  "flat",
                                                  "row",
                                                  "row-column",
                                                  "long-row",
                                                  "column",
                                                  "total",
                                                  "totals",
                                                  "finish",
                                                  "fill",
                                                  "scatter",
                                                  "attention-forward",
                                                  "attention-queries",
                                                  "attention-keys"};
  return names[static_cast<size_t>(kind)];
}

/// Numbers that are computed before anybody would notice.
static constexpr int64_t kMostScalars = 32;
/// Elements that a thread keeps in registers: of a row, and of all rows that it reads and sums that it has.
static constexpr int64_t kMostOfRow = 24, kMostInRegisters = 64;
/// Most threads of a block, and those of one that walks what does not fit into registers.
static constexpr int32_t kMostThreads = 1024, kLoopThreads = 512;
/// Partial sums of a column: few enough that a block adds them up in one go.
static constexpr int64_t kMostSlices = 256;
/// Blocks that keep a GPU busy with sums, and rows that are worth a warp of them.
static constexpr int64_t kEnoughBlocks = 512, kLeastRows = 4;
/// Warps of a block that sums columns.
static constexpr int64_t kColumnWarps = 8;
/// Numbers that its warps leave for each other in shared memory.
static constexpr int64_t kMostShared = (48 << 10) / 4;
/// Steps of a thread for which a slice of a total is worth it.
static constexpr int64_t kLeastSteps = 4;

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

namespace {
class Planner {
public:
  explicit Planner(Block &block)
      : block(block), outputs(cast<rank::YieldOp>(block.getTerminator()).getValues()) {}

  KernelPlan plan() {
    auto scatters = block.getOps<EmbeddingBackwardOp>();
    if (!scatters.empty())
      planScatter(*scatters.begin());
    else if (!sortSums())
      return plan_;
    else if (!totals.empty())
      planTotal();
    else if (rowSums.empty() && columnSums.empty())
      planElements();
    else
      planRows();
    return plan_;
  }

private:
  bool refuse(std::string why) {
    plan_ = KernelPlan();
    plan_.reason = std::move(why);
    return false;
  }

  //===--------------------------------------------------------------------===//
  // Sums
  //===--------------------------------------------------------------------===//

  bool sortSums() {
    for (Operation &op : block) {
      if (auto einsum = dyn_cast<EinsumOp>(op)) {
        if (!isDot(einsum))
          return refuse("par.einsum");
        totals.push_back(einsum);
      } else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !sort(reduce)) {
        return false;
      }
    }
    return true;
  }

  bool sort(ReduceOp reduce) {
    auto rank = static_cast<int64_t>(getShape(reduce.getInput()).size());
    auto count = static_cast<int64_t>(reduce.getDims().size());
    if (count == rank)
      totals.push_back(reduce);
    else if (count == 1 && reduce.getDims()[0] == rank - 1)
      rowSums.push_back(reduce);
    else if (reduce.getDims() == ArrayRef(llvm::to_vector(llvm::seq<int64_t>(0, count))) &&
             reduce.getKind() == ReduceKind::Sum)
      columnSums.push_back(reduce);
    else
      return refuse("a sum over dimensions in the middle");
    return true;
  }

  //===--------------------------------------------------------------------===//
  // Elements
  //===--------------------------------------------------------------------===//

  void planElements() {
    bool areScalars = true, areInPlace = llvm::all_of(block, readsInPlace), areWide = true;
    for (Value output : outputs) {
      ArrayRef<int64_t> shape = getShape(output);
      areScalars &= ShapedType::getNumElements(shape) <= kMostScalars;
      areWide &= !shape.empty() && findWideStep(block, shape.back(), kAccessBytes) > 1;
    }
    if (areScalars)
      refuse("scalars");
    else if (areWide)
      plan_.kind = areInPlace ? PlanKind::Elementwise : PlanKind::Gather;
    else if (areInPlace)
      planFlat();
    else
      refuse("elements come from other places, one at a time");
  }

  void planFlat() {
    plan_.shape.assign(getShape(outputs.front()).begin(), getShape(outputs.front()).end());
    if (!llvm::all_of(outputs, [&](Value output) { return getShape(output) == ArrayRef(plan_.shape); })) {
      refuse("results of several shapes");
      return;
    }
    KernelReads reads(plan_.shape, plan_.shape.size());
    for (Value output : outputs)
      if (!reads.collect(output, countUp(plan_.shape.size()))) {
        refuse(reads.reason);
        return;
      }
    plan_.reads = std::move(reads.reads);
    plan_.rowDims = plan_.shape.size() - 1;
    matrices.assign(outputs.begin(), outputs.end());
    findStep(ShapedType::getNumElements(plan_.shape));
    plan_.kind = PlanKind::Flat;
    if (plan_.step == 1 || plan_.shape.back() < plan_.step)
      refuse("rows are no whole accesses");
  }

  //===--------------------------------------------------------------------===//
  // Rows and columns
  //===--------------------------------------------------------------------===//

  Symbols countUp(size_t count) const { return llvm::to_vector(llvm::seq<int64_t>(0, count)); }

  void planRows() {
    auto first = cast<ReduceOp>(rowSums.empty() ? columnSums.front() : rowSums.front());
    llvm::append_range(plan_.shape, getShape(first.getInput()));
    plan_.rowDims = rowSums.empty() ? first.getDims().size() : plan_.shape.size() - 1;
    if (!sortOutputs() || !collectReads())
      return;
    findStep(plan_.shape.back());
    if (columnSums.empty())
      planRowsAlone();
    else if (rowSums.empty() && matrices.empty() && rows.empty())
      planColumns();
    else
      planRowsAndColumns();
  }

  bool sortOutputs() {
    ArrayRef<int64_t> shape = plan_.shape;
    for (auto [number, output] : llvm::enumerate(outputs)) {
      if (isMadeOf(output, columnSums)) {
        if (getShape(output) != shape.drop_front(plan_.rowDims))
          return refuse("a sum over rows is no result");
        if (isMadeOf(output, rowSums))
          return refuse("sums of rows and over rows in one result");
        plan_.ofSums.push_back(number);
      } else if (getShape(output) == shape) {
        matrices.push_back(output);
      } else if (getShape(output) == shape.take_front(plan_.rowDims)) {
        rows.push_back(output);
      } else {
        return refuse("results of several shapes");
      }
    }
    for (Operation *sum : columnSums) {
      if (getShape(sum->getOperand(0)) != shape || cast<ReduceOp>(sum).getDims().size() != plan_.rowDims)
        return refuse("sums of several shapes");
      if (!Scalars::getHeldType(sum->getResult(0)).isF32())
        return refuse("a sum over rows of no f32");
    }
    plan_.sums = columnSums;
    return true;
  }

  bool collectReads() {
    KernelReads reads(plan_.shape, plan_.rowDims);
    auto collect = [&](Value value, size_t dims) {
      return reads.collect(value, countUp(dims)) || refuse(reads.reason);
    };
    for (Value value : matrices)
      if (!collect(value, plan_.shape.size()))
        return false;
    for (Value value : rows)
      if (!collect(value, plan_.rowDims))
        return false;
    for (Operation *sum : columnSums)
      if (!collect(sum->getOperand(0), plan_.shape.size()))
        return false;
    plan_.reads = std::move(reads.reads);
    return true;
  }

  /// Elements of the narrowest tensor in an access, as far as rows of `size` elements consist of such.
  void findStep(int64_t size) {
    int64_t narrowest = kAccessBytes;
    auto look = [&](Value tensor) {
      auto element = RankedTensorType::get({}, getElementTypeOrSelf(tensor));
      narrowest = std::min(narrowest, rank::getBytes(element));
    };
    for (const Read &read : plan_.reads)
      if (isAlongRow(read))
        look(read.tensor);
    for (Value value : matrices)
      look(value);
    for (plan_.step = kAccessBytes / narrowest; size % plan_.step;)
      plan_.step /= 2;
  }

  bool isAlongRow(const Read &read) const {
    return llvm::is_contained(read.symbols, static_cast<int64_t>(plan_.shape.size()) - 1);
  }

  /// Threads that keep a row in registers; 0 if it is too long for that.
  int32_t countRowThreads() const {
    auto held = static_cast<int64_t>(
        llvm::count_if(plan_.reads, [&](auto &read) { return isAlongRow(read); }) + plan_.sums.size());
    int64_t most = std::min(kMostOfRow, kMostInRegisters / std::max<int64_t>(held, 1));
    for (int32_t threads = kWarp; threads <= kMostThreads; threads *= 2)
      if (llvm::divideCeilSigned(plan_.countSteps(), threads) * plan_.step <= std::max(most, plan_.step))
        return threads;
    return 0;
  }

  void planRowsAlone() {
    plan_.threads = countRowThreads();
    plan_.kind = plan_.threads ? PlanKind::Row : PlanKind::LongRow;
    if (!plan_.threads)
      plan_.threads = kLoopThreads;
  }

  void planRowsAndColumns() {
    plan_.threads = countRowThreads();
    if (!plan_.threads) {
      refuse("rows too long for sums over rows");
      return;
    }
    plan_.kind = PlanKind::RowColumn;
    plan_.slices = std::min(plan_.countRows(), kMostSlices);
  }

  void planColumns() {
    plan_.kind = PlanKind::Column;
    plan_.threads = kWarp * kColumnWarps;
    while (kColumnWarps * kWarp * plan_.step * static_cast<int64_t>(plan_.sums.size()) > kMostShared)
      plan_.step /= 2;
    int64_t tiles = llvm::divideCeilSigned(plan_.countSteps(), kWarp), rows = plan_.countRows();
    int64_t wanted =
        std::min(llvm::divideCeilSigned(kEnoughBlocks, tiles), rows / (kColumnWarps * kLeastRows));
    int64_t slices = std::clamp<int64_t>(wanted, 1, kMostSlices);
    plan_.slices = llvm::divideCeilSigned(rows, llvm::divideCeilSigned(rows, slices));
  }

  //===--------------------------------------------------------------------===//
  // Totals
  //===--------------------------------------------------------------------===//

  void planTotal() {
    if (!llvm::all_of(outputs, [](Value output) { return getShape(output).empty(); })) {
      refuse("results of several shapes");
      return;
    }
    if (totals.size() > 1 || !rowSums.empty() || !columnSums.empty()) {
      planTotals();
      return;
    }
    Operation *total = totals.front();
    llvm::append_range(plan_.shape, getShape(total->getOperand(0)));
    if (!Scalars::getHeldType(total->getResult(0)).isF32()) {
      refuse("a sum of no f32");
      return;
    }
    KernelReads reads(plan_.shape, plan_.rowDims);
    for (Value operand : total->getOperands())
      if (!reads.collect(operand, countUp(plan_.shape.size()))) {
        refuse(reads.reason);
        return;
      }
    plan_.reads = std::move(reads.reads);
    findStep(plan_.shape.back());
    plan_.kind = PlanKind::Total;
    for (plan_.threads = kWarp; plan_.threads < std::min<int64_t>(plan_.countSteps(), kLoopThreads);)
      plan_.threads *= 2;
    int64_t wanted = plan_.countSteps() / (plan_.threads * kLeastSteps);
    auto reduce = dyn_cast<ReduceOp>(total);
    bool isSum = !reduce || reduce.getKind() == ReduceKind::Sum;
    plan_.slices = isSum ? std::clamp<int64_t>(wanted, 1, kMostSlices) : 1;
    plan_.sums = {total};
    plan_.ofSums = llvm::to_vector(llvm::seq<size_t>(0, outputs.size()));
  }

  /// The sum of all dots that there are, and what is made of it.
  void planTotals() {
    for (auto add : block.getOps<arith::AddFOp>())
      if (SmallVector<EinsumOp> dots = findDots(add.getResult()); dots.size() == totals.size()) {
        plan_.sums = {add};
        plan_.dots = dots;
      }
    auto isRead = [](Value input) {
      return isa<BlockArgument>(input) && isa<FloatType>(getElementTypeOrSelf(input));
    };
    bool areDots = llvm::all_of(plan_.dots, [&](EinsumOp dot) {
      return dot.getType().getElementType().isF32() && llvm::all_of(dot.getInputs(), isRead);
    });
    if (plan_.dots.empty() || !areDots) {
      refuse("several sums");
      return;
    }
    int64_t elements = 0;
    for (EinsumOp dot : plan_.dots)
      elements += ShapedType::getNumElements(getShape(dot.getInputs()[0]));
    llvm::stable_sort(plan_.dots, [](EinsumOp a, EinsumOp b) { return getOrder(a) < getOrder(b); });
    plan_.kind = PlanKind::Totals;
    plan_.threads = kLoopThreads;
    plan_.step = kAccessBytes / 4;
    plan_.slices = std::clamp<int64_t>(elements / (plan_.step * plan_.threads * kLeastSteps), 1, kMostSlices);
    plan_.ofSums = llvm::to_vector(llvm::seq<size_t>(0, outputs.size()));
  }

  /// Dots that one piece of code computes stand side by side.
  static SmallVector<int64_t> getOrder(EinsumOp dot) {
    SmallVector<int64_t> order;
    for (Value input : dot.getInputs())
      order.append({ShapedType::getNumElements(getShape(input)), getElementTypeOrSelf(input).isF32()});
    return order;
  }

  //===--------------------------------------------------------------------===//
  // Tables
  //===--------------------------------------------------------------------===//

  void planScatter(EmbeddingBackwardOp op) {
    Value table = op.getResult(), output = outputs.front(), initial;
    if (auto add = output.getDefiningOp<arith::AddFOp>();
        add && (add.getLhs() == table || add.getRhs() == table))
      initial = add.getLhs() == table ? add.getRhs() : add.getLhs();
    if (outputs.size() > 1 || (!initial && output != table) || (initial && isMadeOf(initial, {op}))) {
      refuse("par.embedding_backward is no result alone");
      return;
    }
    if (!getElementTypeOrSelf(table).isF32()) {
      refuse("a table of no f32");
      return;
    }
    ArrayRef<int64_t> ofRows = getShape(op.getDy());
    KernelReads added(ofRows, ofRows.size() - 1), begun(getShape(table), 1);
    if (!added.collect(op.getDy(), countUp(ofRows.size())) ||
        (initial && !begun.collect(initial, countUp(2)))) {
      refuse(added.reason + begun.reason);
      return;
    }
    plan_.kind = PlanKind::Scatter;
    plan_.scatter = op;
    plan_.initial = initial;
    llvm::append_range(plan_.shape, getShape(table));
    plan_.rowDims = 1;
    plan_.reads = std::move(begun.reads);
    // Rows that are added have the table's columns behind other dimensions.
    auto last = static_cast<int64_t>(ofRows.size()) - 1;
    for (const Read &read : added.reads)
      if (llvm::is_contained(read.symbols, last))
        plan_.reads.push_back({read.tensor, {1}});
    matrices = {output};
    findStep(plan_.shape.back());
  }

  Block &block;
  ValueRange outputs;
  SmallVector<Operation *> totals, rowSums, columnSums;
  SmallVector<Value> matrices, rows; ///< outputs of the shape, and of its rows
  KernelPlan plan_;
};
} // namespace

KernelPlan par::planKernel(Block &block) { return Planner(block).plan(); }

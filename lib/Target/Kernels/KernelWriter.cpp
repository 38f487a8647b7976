//===- KernelWriter.cpp - kernels as loops over scalars, in parts ---------------------------------===//
#include "KernelWriter.h"
#include "LeadingSum.h"
#include "ScatterSum.h"
#include "WideStep.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "par/Dialect/Par/IR/RelatedOps.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// Writes the body of one kernel function.
class KernelWriter {
public:
  KernelWriter(OpBuilder &builder, rank::WorkOpInterface work, func::FuncOp function,
               ArrayRef<StringAttr> axes, const Sharing &sharing)
      : block(work.getBody().front()),
        evaluator(builder, work->getLoc(), function.getArgument(0), axes, loops),
        loops(evaluator, function.getArgument(1), function.getArgument(2), sharing) {
    unsigned next = 3;
    for (BlockArgument argument : block.getArguments())
      evaluator.bind(argument, function.getArgument(next++));
    for (Value output : cast<rank::YieldOp>(block.getTerminator()).getValues())
      addPieces(output, function.getArgument(next++), SmallVector<int64_t>(getShape(output).size(), 0));
    stored.resize(outputs.size());
  }

  LogicalResult run() {
    SmallVector<Output> plain;
    for (Output &output : outputs) {
      Accumulation sum = findAccumulation(output.value);
      if (!sum.op)
        plain.push_back(output);
      else if (failed(writeAccumulation(sum, output)))
        return failure();
    }
    // Largest first: the statistics of rows are written by the nest that writes the rows.
    llvm::sort(plain, [](auto &a, auto &b) { return getShape(a.value).size() > getShape(b.value).size(); });
    OpSet all;
    for (Operation &op : block)
      if (!isa<rank::YieldOp>(op))
        all.insert(&op);
    while (!plain.empty()) {
      Output first = plain.front();
      ArrayRef<int64_t> shape = getShape(first.value);
      OpSet related = findRelatedOps(all, first.value.getDefiningOp());
      SmallVector<Output> elements, rows, rest;
      for (Output &each : plain) {
        bool isRelated = each.value == first.value || related.contains(each.value.getDefiningOp());
        (!isRelated                             ? rest
         : getShape(each.value) == shape        ? elements
         : isRowOf(getShape(each.value), shape) ? rows
                                                : rest)
            .push_back(each);
      }
      plain = rest;
      if (failed(writePointwise(elements, rows)))
        return failure();
    }
    return checkStored();
  }

  int64_t getMostParts() const { return loops.getMostParts(); }

  SmallVector<int64_t> getUpdates() const {
    SmallVector<int64_t> numbers;
    int64_t first = 3 + static_cast<int64_t>(block.getNumArguments());
    for (Value memory : updated)
      numbers.push_back(cast<BlockArgument>(memory).getArgNumber() - first);
    return numbers;
  }

private:
  /// What goes to a box of an output's memory.
  struct Output {
    Value value, memory;
    SmallVector<int64_t> offsets;
    size_t number; ///< among all
  };

  /// A nest that leaves a result out would be no error of its own: what lay in the memory before is taken for
  /// the result.
  LogicalResult checkStored() {
    for (const Output &output : outputs)
      if (!stored.test(output.number))
        return block.getParentOp()->emitOpError("kernel generation: no loop writes a result of type ")
               << output.value.getType();
    return success();
  }

  static bool isSum(Operation *op) {
    return getOpClass(op) == OpClass::Reduction || getOpClass(op) == OpClass::AddsRows;
  }

  /// A concatenation is written part by part, so that no loop has to ask in which part it is; parts of one
  /// shape share a nest. Sums that accumulate into their memory are no parts: they need one of their own.
  void addPieces(Value value, Value memory, SmallVector<int64_t> offsets) {
    auto concat = value.getDefiningOp<ConcatOp>();
    bool computed = concat && llvm::all_of(concat.getInputs(), [](Value input) {
                      return input.getDefiningOp() && !isSum(input.getDefiningOp());
                    });
    if (!computed) {
      outputs.push_back({value, memory, offsets, outputs.size()});
      return;
    }
    for (Value input : concat.getInputs()) {
      addPieces(input, memory, offsets);
      offsets[concat.getDim()] += getShape(input)[concat.getDim()];
    }
  }

  /// A value that is summed up in its memory, term by term.
  struct Accumulation {
    Operation *op = nullptr; ///< a par.reduce over leading dimensions or one that adds rows; null: none
    Value initial;           ///< what the sum begins with; null: zero
  };

  /// What is rounded to a narrow type cannot be summed up where it is stored.
  static bool isAccumulated(Value value) {
    if (ScalarEvaluator::isNarrow(getElementTypeOrSelf(value)))
      return false;
    auto reduce = value.getDefiningOp<ReduceOp>();
    return (reduce && reduce.isOverLeading()) || ScatterSum::mayWrite(value);
  }

  static Accumulation findAccumulation(Value value) {
    if (isAccumulated(value))
      return {value.getDefiningOp(), Value()};
    auto add = value.getDefiningOp<arith::AddFOp>();
    if (!add)
      return {};
    if (isAccumulated(add.getRhs()))
      return {add.getRhs().getDefiningOp(), add.getLhs()};
    if (isAccumulated(add.getLhs()))
      return {add.getLhs().getDefiningOp(), add.getRhs()};
    return {};
  }

  LogicalResult writeAccumulation(Accumulation sum, const Output &output) {
    stored.set(output.number);
    if (auto reduce = dyn_cast<ReduceOp>(sum.op))
      return LeadingSum(evaluator, loops, reduce, sum.initial, output.memory).write();
    updated.push_back(output.memory);
    return ScatterSum(evaluator, loops, cast<AddsRowsOpInterface>(sum.op), sum.initial, output.memory)
        .write();
  }

  static bool isRowOf(ArrayRef<int64_t> row, ArrayRef<int64_t> shape) {
    return shape.size() > 1 && row == shape.drop_back();
  }

  /// As many leading dimensions as give every part rows enough, walked by one loop of which each part takes a
  /// share. What is written row by row, outside the innermost loop, needs that loop, even of a single row.
  size_t countShared(ArrayRef<int64_t> shape, const HoistPlan &plan, bool writesRows) const {
    size_t shared = 1;
    int64_t rows = shape[0];
    // The last dimension is for vectors, unless it is all there is.
    auto keepsLast = [&] { return writesRows || (rows > 1 && !loops.sharing.sharesElements); };
    while (shared + keepsLast() < shape.size() && rows < loops.sharing.enoughRows &&
           mayRepeat(plan.get(shared)))
      rows *= shape[shared++];
    return shared;
  }

  /// True if what is hoisted may be computed for every row, or element, instead.
  bool mayRepeat(ArrayRef<std::pair<Value, Symbols>> hoisted) const {
    if (!loops.sharing.sharesElements)
      return hoisted.empty();
    return llvm::none_of(hoisted, [](auto &each) {
      Operation *op = each.first.getDefiningOp();
      return op && (isSum(op) || getOpClass(op) == OpClass::Contraction);
    });
  }

  LogicalResult shareNest(ArrayRef<int64_t> sizes, const HoistPlan &plan, size_t shared,
                          function_ref<LogicalResult(ArrayRef<Value>)> row,
                          function_ref<LogicalResult(ArrayRef<Value>)> body) {
    Index none;
    if (failed(loops.hoist(sizes.size(), plan, none)))
      return failure();
    int64_t rows = 1;
    for (int64_t size : sizes.take_front(shared))
      rows *= size;
    return loops.shareLoop(rows, [&, rows](Value linear) mutable {
      Index indices(shared);
      for (size_t dim = shared; dim-- > 0;) {
        rows /= sizes[dim];
        Value size = evaluator.constantIndex(sizes[dim]);
        bool isOutermost = rows == 1 && sizes[dim] > 1; // but for dimensions of one index
        indices[dim] = sizes[dim] == 1 ? evaluator.constantIndex(0)
                       : isOutermost   ? linear
                                       : evaluator.create<arith::RemUIOp>(linear, size);
        if (sizes[dim] > 1 && !isOutermost)
          linear = evaluator.create<arith::DivUIOp>(linear, size);
      }
      return nestRows(sizes, plan, indices, row, body);
    });
  }

  /// Emits the loops from depth `indices.size()` on; at each depth first what can be computed there,
  /// innermost `body(indices)`, outside the innermost loop `row(indices)`; before anything else of a row its
  /// staged values.
  LogicalResult nestRows(ArrayRef<int64_t> sizes, const HoistPlan &plan, Index &indices,
                         function_ref<LogicalResult(ArrayRef<Value>)> row,
                         function_ref<LogicalResult(ArrayRef<Value>)> body) {
    bool isRow = indices.size() + 1 == sizes.size();
    if ((isRow && failed(writeStaged(sizes.back(), indices))) ||
        failed(loops.hoist(sizes.size(), plan, indices)) || (isRow && failed(row(indices))))
      return failure();
    if (indices.size() == sizes.size())
      return body(indices);
    return loops.loop(sizes[indices.size()], [&](Value variable) {
      indices.push_back(variable);
      LogicalResult result = nestRows(sizes, plan, indices, row, body);
      indices.pop_back();
      return result;
    });
  }

  LogicalResult writeElements(ArrayRef<Output> values, ArrayRef<Value> index) {
    return writeStep(values, Index(index));
  }

  LogicalResult writeStep(ArrayRef<Output> values, ArrayRef<Index> indices) {
    // All elements before any store: an output may lie over an input.
    SmallVector<Value> elements;
    for (const Output &output : values)
      for (const Index &index : indices) {
        FailureOr<Value> element = evaluator.evaluate(output.value, index);
        if (failed(element))
          return failure();
        elements.push_back(*element);
      }
    auto *element = elements.begin();
    for (const Output &output : values) {
      stored.set(output.number);
      for (const Index &index : indices) {
        Index place;
        for (auto [each, offset] : llvm::zip(index, output.offsets))
          place.push_back(evaluator.addIndex(each, offset));
        evaluator.store(*element++, getElementTypeOrSelf(output.value), output.memory, place);
      }
    }
    return success();
  }

  /// A share of the steps of which rows consist.
  LogicalResult shareSteps(ArrayRef<int64_t> sizes, const HoistPlan &plan, int64_t step,
                           ArrayRef<Output> values) {
    SmallVector<int64_t> steps(sizes);
    steps.back() /= step;
    auto nothing = [](ArrayRef<Value>) { return success(); };
    return shareNest(steps, plan, steps.size(), nothing, [&](ArrayRef<Value> index) {
      SmallVector<Index> indices(step, Index(index));
      Value first = evaluator.create<arith::MulIOp>(index.back(), evaluator.constantIndex(step));
      for (int64_t number = 0; number < step; ++number)
        indices[number].back() = evaluator.addIndex(first, number);
      return writeStep(values, indices);
    });
  }

  /// Writes a row of every staged value; from then on its elements are loaded.
  LogicalResult writeStaged(int64_t size, ArrayRef<Value> row) {
    for (const Output &output : staged) {
      updated.push_back(output.memory);
      evaluator.unbind(output.value);
      // The row's own sums, those of another norm, are computed once for all of its elements.
      HoistPlan plan(row.size() + 1);
      plan.collect(output.value, llvm::to_vector(llvm::seq<int64_t>(0, row.size() + 1)));
      if (failed(loops.hoist(row.size() + 1, plan, row)))
        return failure();
      evaluator.push();
      LogicalResult result =
          loops.loop(evaluator.constantIndex(0), evaluator.constantIndex(size), [&](Value variable) {
            Index index(row);
            index.push_back(variable);
            return writeElements(output, index);
          });
      evaluator.pop();
      evaluator.bind(output.value, output.memory);
      if (failed(result))
        return failure();
    }
    return success();
  }

  /// True if a sum of elements of a row of `value` is needed beside it. What is repeated along another
  /// dimension and summed up there (a mean in its deviations) is one number of each sum.
  static bool isSummed(Value value) {
    llvm::SmallDenseSet<Operation *> visited;
    SmallVector<Operation *> work(value.getUsers());
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (getOpClass(op) == OpClass::Reduction)
        return true;
      if (getOpClass(op) != OpClass::Repeats && visited.insert(op).second)
        llvm::append_range(work, op->getUsers());
    }
    return false;
  }

  LogicalResult writePointwise(ArrayRef<Output> all, ArrayRef<Output> rows) {
    ArrayRef<int64_t> shape = getShape(all.front().value);
    // What sums over rows go through more than once is written first. In boxes of a larger memory it has
    // other indices.
    SmallVector<Output> values;
    for (const Output &output : all) {
      bool isWhole = cast<MemRefType>(output.memory.getType()).getShape() == shape;
      bool isStaged = all.size() > 1 && shape.size() > 1 && isWhole && isSummed(output.value);
      (isStaged ? staged : values).push_back(output);
    }
    LogicalResult result = writeRest(shape, values, rows);
    for (const Output &output : staged)
      evaluator.unbind(output.value);
    staged.clear();
    return result;
  }

  LogicalResult writeNest(ArrayRef<int64_t> shape, const HoistPlan &plan, ArrayRef<Output> values,
                          ArrayRef<Output> rows) {
    bool writesRows = !rows.empty() || !staged.empty();
    size_t shared = countShared(shape, plan, writesRows);
    int64_t step = shared == shape.size() && !writesRows
                       ? findWideStep(block, shape.back(), loops.sharing.accessBytes)
                       : 1;
    if (step > 1)
      return shareSteps(shape, plan, step, values);
    auto body = [&](ArrayRef<Value> index) { return writeElements(values, index); };
    auto row = [&](ArrayRef<Value> index) { return writeElements(rows, index); };
    return shareNest(shape, plan, shared, row, body);
  }

  LogicalResult writeRest(ArrayRef<int64_t> shape, ArrayRef<Output> values, ArrayRef<Output> rows) {
    HoistPlan plan(shape.size());
    auto symbols = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    for (const Output &output : values)
      plan.collect(output.value, symbols);
    for (const Output &output : rows)
      plan.collect(output.value, llvm::to_vector(ArrayRef<int64_t>(symbols).drop_back()));
    evaluator.push();
    LogicalResult result = success();
    if (shape.empty())
      result = loops.shareLoop(1, [&](Value) { return writeElements(values, ArrayRef<Value>()); });
    else
      result = writeNest(shape, plan, values, rows);
    evaluator.pop();
    return result;
  }

  Block &block;
  ScalarEvaluator evaluator;
  KernelLoops loops;
  SmallVector<Output> outputs;
  llvm::BitVector stored;     ///< outputs for which there is a store, by number
  SmallVector<Output> staged; ///< of the nest that is being written
  SmallVector<Value> updated; ///< memories of outputs that are read, too
};
} // namespace

FailureOr<PartKernel> par::writePartKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                           ArrayRef<StringAttr> axes, const Sharing &sharing) {
  Block &block = work.getBody().front();
  if (failed(decomposeKernel(block)))
    return failure();
  SmallVector<Type> types = {LLVM::LLVMPointerType::get(builder.getContext()), builder.getIndexType(),
                             builder.getIndexType()};
  auto memory = [](Type type) -> Type {
    return ScalarEvaluator::getMemoryType(cast<RankedTensorType>(type));
  };
  for (BlockArgument argument : block.getArguments())
    types.push_back(memory(argument.getType()));
  for (Value output : cast<rank::YieldOp>(block.getTerminator()).getValues())
    types.push_back(memory(output.getType()));
  auto function = builder.create<func::FuncOp>(work->getLoc(), name, builder.getFunctionType(types, {}));
  function.setPrivate();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  KernelWriter writer(builder, work, function, axes, sharing);
  if (failed(writer.run()))
    return failure();
  builder.setInsertionPointToEnd(&function.front());
  builder.create<func::ReturnOp>(work->getLoc());
  return PartKernel{function, writer.getMostParts(), writer.getUpdates()};
}

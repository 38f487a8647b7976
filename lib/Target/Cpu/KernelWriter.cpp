//===- KernelWriter.cpp - kernels as loops over scalars, for processors -------------------------------===//
#include "CpuTarget.h"
#include "LeadingSum.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

namespace {

/// Writes the body of one kernel function.
class KernelWriter {
public:
  KernelWriter(OpBuilder &builder, rank::WorkOpInterface work, func::FuncOp function,
               ArrayRef<StringAttr> axes)
      : builder(builder), block(work.getBody().front()),
        evaluator(builder, work->getLoc(), function.getArgument(0), axes, loops),
        loops(evaluator, function.getArgument(1), function.getArgument(2)) {
    unsigned next = 3;
    for (BlockArgument argument : block.getArguments())
      evaluator.bind(argument, function.getArgument(next++));
    for (Value output : cast<rank::YieldOp>(block.getTerminator()).getValues())
      addPieces(output, function.getArgument(next++), SmallVector<int64_t>(getShape(output).size(), 0));
  }

  LogicalResult run() {
    SmallVector<Output> plain;
    for (Output &output : outputs) {
      Accumulation sum = findAccumulation(output.value);
      if (!sum.op)
        plain.push_back(output);
      else if (failed(writeAccumulation(sum, output.memory)))
        return failure();
    }
    // Largest first: the statistics of rows are written by the nest that writes the rows.
    llvm::sort(plain, [](auto &a, auto &b) { return getShape(a.value).size() > getShape(b.value).size(); });
    while (!plain.empty()) {
      ArrayRef<int64_t> shape = getShape(plain.front().value);
      SmallVector<Output> elements, rows, rest;
      for (Output &each : plain)
        (getShape(each.value) == shape          ? elements
         : isRowOf(getShape(each.value), shape) ? rows
                                                : rest)
            .push_back(each);
      plain = rest;
      if (failed(writePointwise(elements, rows)))
        return failure();
    }
    return success();
  }

private:
  /// What goes to a box of an output's memory.
  struct Output {
    Value value, memory;
    SmallVector<int64_t> offsets;
  };

  /// A concatenation is written part by part, so that no loop has to ask in which part it is; parts of one
  /// shape share a nest. Sums that accumulate into their memory are no parts: they need one of their own.
  void addPieces(Value value, Value memory, SmallVector<int64_t> offsets) {
    auto concat = value.getDefiningOp<ConcatOp>();
    bool computed =
        concat && llvm::all_of(concat.getInputs(), [](Value input) {
          return input.getDefiningOp() && !isa<ReduceOp, EmbeddingBackwardOp>(input.getDefiningOp());
        });
    if (!computed) {
      outputs.push_back({value, memory, offsets});
      return;
    }
    for (Value input : concat.getInputs()) {
      addPieces(input, memory, offsets);
      offsets[concat.getDim()] += getShape(input)[concat.getDim()];
    }
  }

  /// A value that is summed up in its memory, term by term.
  struct Accumulation {
    Operation *op = nullptr; ///< a par.reduce over leading dimensions or a par.embedding_backward; null: none
    Value initial;           ///< what the sum begins with; null: zero
  };

  /// What is rounded to a narrow type cannot be summed up where it is stored.
  static bool isAccumulated(Value value) {
    if (ScalarEvaluator::isNarrow(getElementTypeOrSelf(value)))
      return false;
    auto reduce = value.getDefiningOp<ReduceOp>();
    return value.getDefiningOp<EmbeddingBackwardOp>() || (reduce && reduce.isOverLeading());
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

  LogicalResult writeAccumulation(Accumulation sum, Value memory) {
    if (auto reduce = dyn_cast<ReduceOp>(sum.op))
      return LeadingSum(evaluator, loops, reduce, sum.initial, memory).write();
    return writeScatter(cast<EmbeddingBackwardOp>(sum.op), sum.initial, memory);
  }

  static bool isRowOf(ArrayRef<int64_t> row, ArrayRef<int64_t> shape) {
    return shape.size() > 1 && row == shape.drop_back();
  }

  /// As many leading dimensions as give every thread rows enough, walked by one loop of which each thread
  /// takes a share.
  static size_t countShared(ArrayRef<int64_t> shape, const HoistPlan &plan) {
    constexpr int64_t enough = 16;
    size_t shared = 1;
    int64_t rows = shape[0];
    // What is hoisted in between would be computed for every row. The last dimension is for vectors, unless
    // it is all there is.
    while (shared + (rows > 1) < shape.size() && rows < enough && plan.get(shared).empty())
      rows *= shape[shared++];
    return shared;
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
    // All elements before any store: an output may lie over an input.
    SmallVector<Value> elements;
    for (const Output &output : values) {
      FailureOr<Value> element = evaluator.evaluate(output.value, index);
      if (failed(element))
        return failure();
      elements.push_back(*element);
    }
    for (auto [output, element] : llvm::zip(values, elements)) {
      Index place;
      for (auto [each, offset] : llvm::zip(index, output.offsets))
        place.push_back(evaluator.addIndex(each, offset));
      evaluator.store(element, getElementTypeOrSelf(output.value), output.memory, place);
    }
    return success();
  }

  /// Writes a row of every staged value; from then on its elements are loaded.
  LogicalResult writeStaged(int64_t size, ArrayRef<Value> row) {
    for (const Output &output : staged) {
      evaluator.unbind(output.value);
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

  /// True if a sum of elements of `value` is needed beside it.
  static bool isSummed(Value value) {
    llvm::SmallDenseSet<Operation *> visited;
    SmallVector<Operation *> work(value.getUsers());
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (isa<ReduceOp>(op))
        return true;
      if (visited.insert(op).second)
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

  LogicalResult writeRest(ArrayRef<int64_t> shape, ArrayRef<Output> values, ArrayRef<Output> rows) {
    HoistPlan plan(shape.size());
    auto symbols = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    for (const Output &output : values)
      plan.collect(output.value, symbols);
    for (const Output &output : rows)
      plan.collect(output.value, llvm::to_vector(ArrayRef<int64_t>(symbols).drop_back()));
    auto body = [&](ArrayRef<Value> index) { return writeElements(values, index); };
    auto row = [&](ArrayRef<Value> index) { return writeElements(rows, index); };
    evaluator.push();
    LogicalResult result = success();
    if (shape.empty())
      result = loops.shareLoop(1, [&](Value) { return body({}); });
    else
      result = shareNest(shape, plan, shape.size() == 1 ? 1 : countShared(shape, plan), row, body);
    evaluator.pop();
    return result;
  }

  /// What a sum begins with, in this thread's share of dimension `shared`.
  LogicalResult fill(Value initial, Value memory, RankedTensorType type, size_t shared) {
    Value skipped = initial ? isThere(initial, memory) : Value();
    if (!skipped)
      return fillAlways(initial, memory, type, shared);
    Value yes = evaluator.create<arith::ConstantOp>(builder.getBoolAttr(true));
    Value wanted = evaluator.create<arith::XOrIOp>(skipped, yes);
    auto conditional = builder.create<scf::IfOp>(evaluator.loc, wanted, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(conditional.thenBlock());
    return fillAlways(initial, memory, type, shared);
  }

  LogicalResult fillAlways(Value initial, Value memory, RankedTensorType type, size_t shared) {
    Index indices;
    evaluator.push();
    LogicalResult result = nestShared(type.getShape(), indices, shared, [&](ArrayRef<Value> index) {
      FailureOr<Value> element = initial ? evaluator.evaluate(initial, index)
                                         : evaluator.neutral(ReduceKind::Sum, type.getElementType());
      if (succeeded(element))
        builder.create<memref::StoreOp>(evaluator.loc, *element, memory, index);
      return LogicalResult(element);
    });
    evaluator.pop();
    return result;
  }

  /// True where `initial` is a tensor, or 1 times one, that lies in `memory` already: a table to which a few
  /// rows are added need not be walked. Null where that cannot be.
  Value isThere(Value initial, Value memory) {
    Value tensor = initial, factor;
    if (auto scaled = initial.getDefiningOp<arith::MulFOp>())
      for (auto [one, other] :
           {std::pair(scaled.getLhs(), scaled.getRhs()), {scaled.getRhs(), scaled.getLhs()}})
        if (auto expand = one.getDefiningOp<ExpandOp>(); expand && expand.getInput().getType().getRank() == 0)
          factor = expand.getInput(), tensor = other;
    if (!isa<BlockArgument>(tensor) || (factor && !isa<BlockArgument>(factor)))
      return {};
    auto address = [&](Value buffer) {
      return evaluator.create<memref::ExtractAlignedPointerAsIndexOp>(buffer);
    };
    Value same = evaluator.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                 address(evaluator.getMemory(tensor)), address(memory));
    FailureOr<Value> scale = factor ? evaluator.evaluate(factor, {}) : FailureOr<Value>(Value());
    if (failed(scale) || !*scale)
      return same;
    Value one = evaluator.create<arith::ConstantOp>(builder.getFloatAttr((*scale).getType(), 1.0));
    Value neutral = evaluator.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, *scale, one);
    return evaluator.create<arith::AndIOp>(same, neutral);
  }

  /// Loops over `sizes`, of dimension `shared` this thread's share.
  LogicalResult nestShared(ArrayRef<int64_t> sizes, Index &indices, size_t shared,
                           function_ref<LogicalResult(ArrayRef<Value>)> body) {
    if (indices.size() == sizes.size())
      return body(indices);
    auto inside = [&](Value variable) {
      indices.push_back(variable);
      LogicalResult result = nestShared(sizes, indices, shared, body);
      indices.pop_back();
      return result;
    };
    int64_t size = sizes[indices.size()];
    if (indices.size() == shared)
      return loops.shareLoop(size, inside);
    // The innermost loop is always there: it is the one that may run its elements in any order.
    if (indices.size() + 1 == sizes.size())
      return loops.loop(evaluator.constantIndex(0), evaluator.constantIndex(size), inside);
    return loops.loop(size, inside);
  }

  /// The rows of dy added to the output in the order of the ids; threads share the columns.
  LogicalResult writeScatter(EmbeddingBackwardOp op, Value initial, Value memory) {
    auto type = cast<RankedTensorType>(op.getType());
    if (failed(fill(initial, memory, type, 1)))
      return failure();
    ArrayRef<int64_t> sizes = getShape(op.getIds());
    HoistPlan plan(sizes.size());
    Index indices;
    auto nothing = [](ArrayRef<Value>) { return success(); };
    return nestRows(sizes, plan, indices, nothing, [&](ArrayRef<Value> index) -> LogicalResult {
      FailureOr<EmbeddingRow> found =
          evaluator.findRow(op.getIds(), op.getOffset(), index, type.getDimSize(0));
      if (failed(found))
        return failure();
      auto conditional = builder.create<scf::IfOp>(evaluator.loc, found->isThere, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(conditional.thenBlock());
      evaluator.push();
      LogicalResult result = loops.shareLoop(type.getDimSize(1), [&](Value column) -> LogicalResult {
        Index source(index);
        source.push_back(column);
        FailureOr<Value> dy = evaluator.evaluate(op.getDy(), source);
        if (failed(dy))
          return failure();
        Index place{found->row, column};
        Value old = evaluator.create<memref::LoadOp>(memory, place);
        Value sum = evaluator.combine(ReduceKind::Sum, old, evaluator.round(*dy, type.getElementType()));
        builder.create<memref::StoreOp>(evaluator.loc, sum, memory, place);
        return success();
      });
      evaluator.pop();
      return result;
    });
  }

  OpBuilder &builder;
  Block &block;
  ScalarEvaluator evaluator;
  KernelLoops loops;
  SmallVector<Output> outputs;
  SmallVector<Output> staged; ///< of the nest that is being written
};
} // namespace

/// `func.func @name(%context: !llvm.ptr, %part: index, %parts: index, ins…, outs…)` on memrefs of static
/// shape, contiguous and row-major. Every output is one loop nest; elements of values in between are computed
/// where they are needed (indices flow backwards through broadcasts, transposes, slices, …); reductions over
/// trailing dimensions are computed once per row, outside the loop over the row; reductions over leading
/// dimensions accumulate into the output row by row, so that innermost loops have unit stride. Calls with
/// parts 0 … parts − 1, in any order or at once, compute everything. Iterations of innermost loops do not
/// depend on each other through memory.
FailureOr<func::FuncOp> CpuTarget::writeKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                               ArrayRef<StringAttr> axes) const {
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
  if (failed(KernelWriter(builder, work, function, axes).run()))
    return failure();
  builder.setInsertionPointToEnd(&function.front());
  builder.create<func::ReturnOp>(work->getLoc());
  return function;
}

//===- KernelGenerator.cpp - kernels as loops over scalars --------------------------------------------------===//
#include "par/Conversion/KernelGenerator.h"
#include "ScalarEvaluator.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::par;

static ArrayRef<int64_t> getShape(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Rewrites composite ops into elementwise ones and reductions.
static LogicalResult decomposeAll(Block &block) {
  SmallVector<Operation *> worklist;
  for (Operation &op : block)
    worklist.push_back(&op);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val();
    auto kernel = dyn_cast<KernelOpInterface>(op);
    if (!kernel || kernel.getKernelKind() != KernelKind::Composite)
      continue;
    OpBuilder builder(op);
    Operation *before = op->getPrevNode();
    FailureOr<SmallVector<Value>> parts = kernel.decompose(builder);
    if (failed(parts))
      return op->emitOpError("kernel generation: the op cannot be decomposed");
    for (Operation *made = before ? before->getNextNode() : &block.front(); made != op; made = made->getNextNode())
      worklist.push_back(made);
    op->replaceAllUsesWith(*parts);
    op->erase();
  }
  return success();
}

namespace {

/// Where an index comes from: the number of a loop of the nest, or kInner for the loop of a reduction.
constexpr int64_t kInner = 1 << 20;
using Symbols = SmallVector<int64_t>;

/// Values that can be computed outside the innermost loops, by the number of loops they need.
class HoistPlan {
public:
  explicit HoistPlan(unsigned loops) : byDepth(loops + 1) {}

  /// Parts first, so that a reduction inside another one is ready before it.
  void collect(Value value, Symbols symbols) {
    if (!visited.insert({value.getAsOpaquePointer(), symbols}).second)
      return;
    Operation *op = value.getDefiningOp();
    if (op)
      collectOperands(op, symbols);
    int64_t depth = 0;
    for (int64_t symbol : symbols)
      depth = std::max(depth, symbol + 1);
    bool isConstant = op && isa<arith::ConstantOp, IotaOp>(op);
    if (depth + 1 < static_cast<int64_t>(byDepth.size()) && !isConstant)
      byDepth[depth].push_back({value, symbols});
  }

  ArrayRef<std::pair<Value, Symbols>> get(unsigned depth) const { return byDepth[depth]; }

private:
  void collectOperands(Operation *op, const Symbols &symbols) {
    if (auto expand = dyn_cast<ExpandOp>(op))
      return collect(expand.getInput(), drop(symbols, expand.getDims()));
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      Symbols source(symbols.size());
      for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
        source[from] = symbols[dim];
      return collect(transpose.getInput(), source);
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      Symbols source;
      size_t kept = 0;
      for (int64_t dim = 0, rank = getShape(reduce.getInput()).size(); dim < rank; ++dim)
        source.push_back(llvm::is_contained(reduce.getDims(), dim) ? kInner : symbols[kept++]);
      return collect(reduce.getInput(), source);
    }
    auto kernel = dyn_cast<KernelOpInterface>(op);
    if (!kernel || kernel.getKernelKind() != KernelKind::Elementwise)
      return;
    for (Value operand : op->getOperands())
      collect(operand, getShape(operand).empty() ? Symbols() : symbols);
  }

  static Symbols drop(const Symbols &symbols, ArrayRef<int64_t> dims) {
    Symbols rest;
    for (auto [dim, symbol] : llvm::enumerate(symbols))
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
        rest.push_back(symbol);
    return rest;
  }

  std::set<std::pair<void *, Symbols>> visited;
  SmallVector<SmallVector<std::pair<Value, Symbols>>> byDepth;
};

/// Writes the body of one kernel function.
class KernelWriter {
public:
  KernelWriter(OpBuilder &builder, rank::WorkOpInterface work, func::FuncOp function, ArrayRef<StringAttr> axes)
      : builder(builder), block(work.getBody().front()), evaluator(builder, work->getLoc(), function.getArgument(0), axes) {
    unsigned next = 1;
    for (BlockArgument argument : block.getArguments())
      evaluator.bind(argument, function.getArgument(next++));
    for (Value output : cast<rank::YieldOp>(block.getTerminator()).getValues())
      outputs.push_back({output, function.getArgument(next++)});
  }

  LogicalResult run() {
    SmallVector<std::pair<Value, Value>> plain;
    for (auto [value, memory] : outputs) {
      Operation *op = value.getDefiningOp();
      if (auto scatter = dyn_cast_or_null<EmbeddingBackwardOp>(op)) {
        if (failed(writeScatter(scatter, memory)))
          return failure();
      } else if (auto reduce = dyn_cast_or_null<ReduceOp>(op); reduce && isLeading(reduce)) {
        if (failed(writeLeading(reduce, memory)))
          return failure();
      } else {
        plain.push_back({value, memory});
      }
    }
    while (!plain.empty()) {
      ArrayRef<int64_t> shape = getShape(plain.front().first);
      SmallVector<std::pair<Value, Value>> same;
      for (auto &each : plain)
        if (getShape(each.first) == shape)
          same.push_back(each);
      llvm::erase_if(plain, [&](auto &each) { return getShape(each.first) == shape; });
      if (failed(writePointwise(same)))
        return failure();
    }
    return success();
  }

private:
  /// Emits loops; at each depth first what can be computed there, innermost `body(indices)`.
  LogicalResult nest(ArrayRef<int64_t> sizes, const HoistPlan &plan, Index &indices,
                     function_ref<LogicalResult(ArrayRef<Value>)> body) {
    for (auto &[value, symbols] : plan.get(indices.size())) {
      Index index;
      for (int64_t symbol : symbols)
        index.push_back(indices[symbol]);
      if (indices.size() < sizes.size() && failed(evaluator.evaluate(value, index)))
        return failure();
    }
    if (indices.size() == sizes.size())
      return body(indices);
    return evaluator.loop(sizes[indices.size()], [&](Value variable) {
      indices.push_back(variable);
      LogicalResult result = nest(sizes, plan, indices, body);
      indices.pop_back();
      return result;
    });
  }

  LogicalResult writePointwise(ArrayRef<std::pair<Value, Value>> values) {
    ArrayRef<int64_t> shape = getShape(values.front().first);
    HoistPlan plan(shape.size());
    auto symbols = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
    for (auto &[value, memory] : values)
      plan.collect(value, symbols);
    Index indices;
    evaluator.push();
    LogicalResult result = nest(shape, plan, indices, [&](ArrayRef<Value> index) {
      // All elements before any store: an output may lie over an input.
      SmallVector<Value> elements;
      for (auto &[value, memory] : values) {
        FailureOr<Value> element = evaluator.evaluate(value, index);
        if (failed(element))
          return failure();
        elements.push_back(*element);
      }
      for (auto [each, element] : llvm::zip(values, elements))
        builder.create<memref::StoreOp>(evaluator.loc, element, each.second, index);
      return success();
    });
    evaluator.pop();
    return result;
  }

  /// Some kept dimension lies inside a reduced one.
  static bool isLeading(ReduceOp op) {
    int64_t rank = getShape(op.getInput()).size();
    return op.getKind() == ReduceKind::Sum && static_cast<int64_t>(op.getDims().size()) < rank &&
           op.getDims().front() < rank - static_cast<int64_t>(op.getDims().size());
  }

  LogicalResult fillZero(Value memory, ArrayRef<int64_t> shape, Type element) {
    HoistPlan none(shape.size());
    Index indices;
    return nest(shape, none, indices, [&](ArrayRef<Value> index) {
      builder.create<memref::StoreOp>(evaluator.loc, evaluator.neutral(ReduceKind::Sum, element), memory, index);
      return success();
    });
  }

  void accumulate(Value memory, ArrayRef<Value> index, Value element) {
    Value old = builder.create<memref::LoadOp>(evaluator.loc, memory, index);
    builder.create<memref::StoreOp>(evaluator.loc, evaluator.combine(ReduceKind::Sum, old, element), memory, index);
  }

  /// Zero, then row after row added to the output.
  LogicalResult writeLeading(ReduceOp op, Value memory) {
    auto type = cast<RankedTensorType>(op.getType());
    if (failed(fillZero(memory, type.getShape(), type.getElementType())))
      return failure();
    ArrayRef<int64_t> shape = getShape(op.getInput());
    SmallVector<int64_t> sizes, order(op.getDims());
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      if (!llvm::is_contained(op.getDims(), dim))
        order.push_back(dim);
    Symbols symbols(shape.size());
    for (auto [position, dim] : llvm::enumerate(order)) {
      sizes.push_back(shape[dim]);
      symbols[dim] = position;
    }
    HoistPlan plan(sizes.size());
    plan.collect(op.getInput(), symbols);
    Index indices;
    evaluator.push();
    LogicalResult result = nest(sizes, plan, indices, [&](ArrayRef<Value> index) {
      Index source(index.size());
      for (auto [dim, symbol] : llvm::enumerate(symbols))
        source[dim] = index[symbol];
      FailureOr<Value> element = evaluator.evaluate(op.getInput(), source);
      if (succeeded(element))
        accumulate(memory, index.drop_front(op.getDims().size()), *element);
      return LogicalResult(element);
    });
    evaluator.pop();
    return result;
  }

  /// Zero, then the rows of dy in the order of the ids.
  LogicalResult writeScatter(EmbeddingBackwardOp op, Value memory) {
    auto type = cast<RankedTensorType>(op.getType());
    if (failed(fillZero(memory, type.getShape(), type.getElementType())))
      return failure();
    SmallVector<int64_t> sizes(getShape(op.getIds()));
    HoistPlan plan(sizes.size());
    Index indices;
    Location loc = evaluator.loc;
    return nest(sizes, plan, indices, [&](ArrayRef<Value> index) -> LogicalResult {
      FailureOr<Value> id = evaluator.evaluate(op.getIds(), index);
      FailureOr<Value> offset = op.getOffset() ? evaluator.evaluate(op.getOffset(), {}) : FailureOr<Value>(Value());
      if (failed(id) || failed(offset))
        return failure();
      Value number = *id;
      if (*offset)
        number = builder.create<arith::SubIOp>(loc, number, *offset);
      Value row = builder.create<arith::IndexCastOp>(loc, builder.getIndexType(), number);
      Value valid = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, row,
                                                  evaluator.constantIndex(type.getDimSize(0)));
      auto conditional = builder.create<scf::IfOp>(loc, valid, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(conditional.thenBlock());
      evaluator.push();
      LogicalResult result = evaluator.loop(type.getDimSize(1), [&](Value column) -> LogicalResult {
        Index source(index);
        source.push_back(column);
        FailureOr<Value> dy = evaluator.evaluate(op.getDy(), source);
        if (succeeded(dy))
          accumulate(memory, Index{row, column}, *dy);
        return LogicalResult(dy);
      });
      evaluator.pop();
      return result;
    });
  }

  OpBuilder &builder;
  Block &block;
  ScalarEvaluator evaluator;
  SmallVector<std::pair<Value, Value>> outputs;
};
} // namespace

FailureOr<func::FuncOp> par::generateKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                            ArrayRef<StringAttr> axes) {
  Block &block = work.getBody().front();
  if (failed(decomposeAll(block)))
    return failure();
  SmallVector<Type> types = {LLVM::LLVMPointerType::get(builder.getContext())};
  auto memory = [](Type type) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
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

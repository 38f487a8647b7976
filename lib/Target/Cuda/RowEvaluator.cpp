//===- RowEvaluator.cpp - elements of the rows of a space -----------------------------------------===//
#include "RowEvaluator.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

/// The builder goes into the body before a context can be made there.
static Value enter(OpBuilder &builder, func::FuncOp entry, bool usesCoords) {
  builder.setInsertionPointToStart(&entry.front());
  return createContext(builder, entry, usesCoords);
}

RowEvaluator::RowEvaluator(const KernelTask &task, const IterationSpace &space, StringRef name,
                           const Launch &launch, TermWalk &terms)
    : RowEvaluator(task, space, createEntry(task, name, launch), launch, terms) {}

RowEvaluator::RowEvaluator(const KernelTask &task, const IterationSpace &space, func::FuncOp entry,
                           const Launch &launch, TermWalk &terms)
    : ScalarEvaluator(task.builder, task.getLoc(), enter(task.builder, entry, launch.usesCoords), task.axes,
                      terms),
      task(task), space(space) {
  for (auto [number, operand] : llvm::enumerate(launch.operands)) {
    operands[operand.first] = entry.getArgument(number);
    if (operand.first < task.countIns())
      bind(task.getBlock().getArgument(operand.first), entry.getArgument(number));
  }
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Index RowEvaluator::delinearize(Value number, ArrayRef<int64_t> sizes) {
  Index index(sizes.size());
  int64_t rest = ShapedType::getNumElements(sizes);
  for (size_t dim = sizes.size(); dim-- > 0;) {
    rest /= sizes[dim];
    bool isOutermost = rest == 1; // but for dimensions of one index
    index[dim] = sizes[dim] == 1 ? constantIndex(0)
                 : isOutermost   ? number
                                 : create<arith::RemUIOp>(number, constantIndex(sizes[dim]));
    if (sizes[dim] > 1 && !isOutermost)
      number = create<arith::DivUIOp>(number, constantIndex(sizes[dim]));
  }
  return index;
}

Value RowEvaluator::linearize(ArrayRef<Value> column) {
  Value number = column[0];
  for (auto [each, size] :
       llvm::drop_begin(llvm::zip(column, ArrayRef(space.shape).drop_front(space.rowDims))))
    number = create<arith::AddIOp>(create<arith::MulIOp>(number, constantIndex(size)), each);
  return number;
}

Step RowEvaluator::findStep(Value start, int64_t distance, bool isGuarded) {
  Step step;
  Value number = addIndex(start, distance);
  if (isGuarded) {
    Value count = constantIndex(space.countColumns() / task.getStep(space));
    step.isThere = compare(arith::CmpIPredicate::ult, number, count);
  }
  SmallVector<int64_t> sizes(ArrayRef(space.shape).drop_front(space.rowDims));
  Index first;
  if (sizes.size() == 1) {
    // Both products apart: LLVM takes the constant one for a displacement, and all steps share an address.
    Value begin = create<arith::MulIOp>(start, constantIndex(task.getStep(space)));
    first = {addIndex(begin, distance * task.getStep(space))};
    if (isGuarded)
      first[0] = select(step.isThere, first[0], constantIndex(0));
  } else {
    if (isGuarded)
      number = select(step.isThere, number, constantIndex(0));
    sizes.back() /= task.getStep(space);
    first = delinearize(number, sizes);
    first.back() = create<arith::MulIOp>(first.back(), constantIndex(task.getStep(space)));
  }
  for (int64_t element = 0; element < task.getStep(space); ++element) {
    step.columns.push_back(first);
    // It does not wrap: said of it, one comparison with another constant tells if it is in a tensor.
    if (element > 0)
      step.columns.back().back() =
          create<arith::AddIOp>(first.back(), constantIndex(element),
                                arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw);
  }
  return step;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> RowEvaluator::evaluateStep(Value value, ArrayRef<Value> row, const Step &step) {
  SmallVector<Value> elements;
  for (const Index &column : step.columns) {
    FailureOr<Value> element = evaluate(value, join(row, column));
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  return elements;
}

Value RowEvaluator::guard(const Step &step, ReduceKind kind, Value value) {
  return step.isThere ? select(step.isThere, value, neutral(kind, value.getType())) : value;
}

LogicalResult RowEvaluator::branch(Value condition, function_ref<LogicalResult()> body) {
  if (!condition)
    return body();
  auto conditional = builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(conditional.thenBlock());
  push();
  LogicalResult result = body();
  pop();
  return result;
}

Index RowEvaluator::getIndex(const Read &read, ArrayRef<Value> row, ArrayRef<Value> column) const {
  Index index;
  auto rowDims = static_cast<int64_t>(space.rowDims);
  for (int64_t symbol : read.symbols)
    index.push_back(symbol < rowDims ? row[symbol] : column[symbol - rowDims]);
  return index;
}

LogicalResult RowEvaluator::preload(ArrayRef<Step> steps, std::optional<ArrayRef<Value>> row, bool isLate) {
  for (const Step &step : steps) {
    SmallVector<std::pair<Value, Index>> elements;
    for (const Read &read : space.reads) {
      if (!space.isAlongRow(read) || space.isOfRows(read) != row.has_value() || read.isLate != isLate)
        continue;
      for (const Index &column : step.columns)
        elements.push_back({read.tensor, getIndex(read, row.value_or(ArrayRef<Value>()), column)});
    }
    if (failed(loadStep(step, elements)))
      return failure();
  }
  return success();
}

LogicalResult RowEvaluator::preloadNumbers(ValueRange values, ArrayRef<Value> row) {
  SmallVector<int64_t> wanted = findArguments(values, {});
  for (const Read &read : space.reads)
    if (!space.isAlongRow(read) && space.isOfRows(read) &&
        llvm::is_contained(wanted, static_cast<int64_t>(read.tensor.getArgNumber())) &&
        failed(evaluate(read.tensor, getIndex(read, row, {}))))
      return failure();
  return success();
}

void RowEvaluator::prefetch(ArrayRef<Step> steps, ArrayRef<Value> row) {
  constexpr unsigned kNear = 2;
  for (const Step &step : steps)
    for (const Read &read : space.reads)
      if (space.isAlongRow(read) && space.isOfRows(read))
        builder.create<memref::PrefetchOp>(loc, getOperand(read.tensor.getArgNumber()),
                                           getIndex(read, row, step.columns.front()), /*isWrite=*/false,
                                           kNear,
                                           /*isDataCache=*/true);
}

LogicalResult RowEvaluator::loadStep(const Step &step, ArrayRef<std::pair<Value, Index>> elements) {
  SmallVector<Type> types;
  for (auto &[tensor, index] : elements)
    types.push_back(getHeldType(tensor));
  FailureOr<SmallVector<Value>> loaded = choose(step.isThere, types, [&]() -> FailureOr<SmallVector<Value>> {
    SmallVector<Value> values;
    for (auto &[tensor, index] : elements) {
      FailureOr<Value> element = evaluate(tensor, index);
      if (failed(element))
        return failure();
      values.push_back(*element);
    }
    return values;
  });
  if (failed(loaded))
    return failure();
  for (auto [element, value] : llvm::zip(elements, *loaded))
    remember(element.first, element.second, value);
  return success();
}

FailureOr<SmallVector<Value>> RowEvaluator::choose(Value condition, ArrayRef<Type> types,
                                                   function_ref<FailureOr<SmallVector<Value>>()> body) {
  if (!condition || types.empty())
    return body();
  auto conditional = builder.create<scf::IfOp>(loc, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(conditional.elseBlock());
  SmallVector<Value> zeros;
  for (Type type : types)
    zeros.push_back(constant(type, 0));
  builder.create<scf::YieldOp>(loc, zeros);
  builder.setInsertionPointToStart(conditional.thenBlock());
  push();
  FailureOr<SmallVector<Value>> values = body();
  pop();
  if (failed(values))
    return failure();
  builder.create<scf::YieldOp>(loc, *values);
  return SmallVector<Value>(conditional.getResults());
}

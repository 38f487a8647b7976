//===- LeadingSum.cpp - a sum over leading dimensions, added up row by row ------------------------------===//
#include "LeadingSum.h"

using namespace mlir;
using namespace mlir::par;

LeadingSum::LeadingSum(ScalarEvaluator &evaluator, KernelLoops &loops, ReduceOp op, Value initial,
                       Value memory)
    : evaluator(evaluator), loops(loops), op(op), initial(initial), memory(memory),
      element(op.getType().getElementType()),
      wide(element.isF32() ? Type(evaluator.builder.getF64Type()) : element) {
  orderLoops();
}

/// Innermost as many of the last dimensions as there is room for the sums of, at least one.
void LeadingSum::orderLoops() {
  ArrayRef<int64_t> shape = op.getInput().getType().getShape(), result = op.getType().getShape();
  outer = result.size() - 1;
  for (int64_t columns = result[outer];
       outer > 0 && columns * result[outer - 1] <= loops.sharing.roomColumns;)
    columns *= result[--outer];
  reduced = op.getDims().size();
  SmallVector<int64_t> order;
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
    if (!llvm::is_contained(op.getDims(), dim))
      order.push_back(dim);
  order.insert(order.begin() + outer, op.getDims().begin(), op.getDims().end());
  symbols.resize(shape.size());
  for (auto [position, dim] : llvm::enumerate(order)) {
    sizes.push_back(shape[dim]);
    symbols[dim] = position;
  }
  size_t widest = std::max_element(result.begin(), result.end()) - result.begin();
  shared = widest < outer ? widest : widest + reduced;
  for (int64_t count : {2, 4, 8})
    rows = sizes[outer + reduced - 1] % count == 0 ? count : rows;
  for (size_t loop = outer; loop < outer + reduced; ++loop)
    groups *= sizes[loop];
  groups /= rows;
  plan.emplace(sizes.size());
  plan->collect(op.getInput(), symbols);
}

LogicalResult LeadingSum::write() {
  Index indices;
  evaluator.push();
  LogicalResult result = writeOuter(indices);
  evaluator.pop();
  return result;
}

LogicalResult LeadingSum::writeOuter(Index &indices) {
  size_t depth = indices.size();
  if (depth == outer)
    return writeColumns(indices);
  if (failed(loops.hoist(sizes.size(), *plan, indices)))
    return failure();
  auto inside = [&](Value variable) {
    indices.push_back(variable);
    LogicalResult result = writeOuter(indices);
    indices.pop_back();
    return result;
  };
  return depth == shared ? loops.shareLoop(sizes[depth], inside) : loops.loop(sizes[depth], inside);
}

/// One pass over the rows, or as many as the last dimension needs.
LogicalResult LeadingSum::writeColumns(Index &indices) {
  ranges.clear();
  for (size_t loop = outer + reduced; loop < sizes.size(); ++loop)
    ranges.push_back(loop == shared
                         ? loops.share(sizes[loop])
                         : std::pair(evaluator.constantIndex(0), evaluator.constantIndex(sizes[loop])));
  if (sizes.back() <= loops.sharing.roomColumns)
    return writePass(indices);
  auto [begin, end] = ranges.back();
  return loops.loop(
      begin, end,
      [&, end = end](Value first) {
        firstColumn = first;
        Value next = evaluator.addIndex(first, loops.sharing.roomColumns);
        ranges.back() = {first, evaluator.create<arith::MinUIOp>(next, end)};
        return writePass(indices);
      },
      loops.sharing.roomColumns);
}

LogicalResult LeadingSum::writePass(Index &indices) {
  SmallVector<Index> start{indices};
  auto storeAll = [&](ArrayRef<Value> index, ArrayRef<Value>, Value sum) { return store(index, sum); };
  if (groups == 1)
    return sumRows(start, storeAll);
  OpBuilder &builder = evaluator.builder;
  Location loc = evaluator.loc;
  Value room = createRoom(), zero = evaluator.neutral(ReduceKind::Sum, wide);
  // The reduced loops have no index here.
  SmallVector<Index> columns{indices};
  columns[0].append(reduced, Value());
  auto clear = [&] {
    builder.create<memref::StoreOp>(loc, zero, room, getRoomIndex(columns[0]));
    return success();
  };
  auto add = [&](ArrayRef<Value>, ArrayRef<Value> place, Value sum) {
    Value old = evaluator.create<memref::LoadOp>(room, place);
    builder.create<memref::StoreOp>(loc, evaluator.combine(ReduceKind::Sum, old, sum), room, place);
    return success();
  };
  auto finish = [&] {
    Value sum = evaluator.create<memref::LoadOp>(room, getRoomIndex(columns[0]));
    return store(getResultIndex(columns[0]), sum);
  };
  if (failed(eachColumn(columns, clear)) || failed(sumRows(start, add)))
    return failure();
  return eachColumn(columns, finish);
}

/// The reduced loops, all but the last; `group` holds the one nest that they are.
LogicalResult LeadingSum::sumRows(SmallVector<Index> &group, Body body) {
  size_t depth = group[0].size();
  if (failed(loops.hoist(sizes.size(), *plan, group[0])))
    return failure();
  bool last = depth + 1 == outer + reduced;
  return loops.loop(last ? sizes[depth] / rows : sizes[depth], [&](Value variable) -> LogicalResult {
    if (!last) {
      group[0].push_back(variable);
      LogicalResult result = sumRows(group, body);
      group[0].pop_back();
      return result;
    }
    SmallVector<Index> all;
    Value first = evaluator.create<arith::MulIOp>(variable, evaluator.constantIndex(rows));
    for (int64_t row = 0; row < rows; ++row) {
      all.push_back(group[0]);
      all.back().push_back(evaluator.addIndex(first, row));
    }
    return sumGroup(all, body);
  });
}

LogicalResult LeadingSum::sumGroup(ArrayRef<Index> group, Body body) {
  SmallVector<Index> all(group);
  return eachColumn(all, [&]() -> LogicalResult {
    FailureOr<Value> sum = addRows(all);
    return failed(sum) ? failure() : body(getResultIndex(all[0]), getRoomIndex(all[0]), widen(*sum));
  });
}

/// The inner loops, once for all of `group`. The innermost one is always there: it is the one that may run
/// its elements in any order.
LogicalResult LeadingSum::eachColumn(SmallVector<Index> &group, function_ref<LogicalResult()> body) {
  size_t depth = group[0].size();
  bool isOfRows = llvm::all_of(group[0], [](Value index) { return bool(index); });
  for (const Index &row : group)
    if (isOfRows && failed(loops.hoist(sizes.size(), *plan, row)))
      return failure();
  if (depth == sizes.size())
    return body();
  auto [begin, end] = ranges[depth - outer - reduced];
  return loops.loop(begin, end, [&](Value variable) {
    for (Index &row : group)
      row.push_back(variable);
    LogicalResult result = eachColumn(group, body);
    for (Index &row : group)
      row.pop_back();
    return result;
  });
}

/// As a tree: fewer roundings than in a row.
FailureOr<Value> LeadingSum::addRows(ArrayRef<Index> group) {
  SmallVector<Value> elements;
  for (const Index &row : group) {
    Index source(row.size());
    for (auto [dim, symbol] : llvm::enumerate(symbols))
      source[dim] = row[symbol];
    FailureOr<Value> value = evaluator.evaluate(op.getInput(), source);
    if (failed(value))
      return failure();
    elements.push_back(evaluator.round(*value, element));
  }
  for (; elements.size() > 1; elements.resize(elements.size() / 2))
    for (size_t i = 0, half = elements.size() / 2; i < half; ++i)
      elements[i] = evaluator.combine(ReduceKind::Sum, elements[i], elements[i + half]);
  return elements[0];
}

LogicalResult LeadingSum::store(ArrayRef<Value> index, Value sum) {
  if (initial) {
    FailureOr<Value> begin = evaluator.evaluate(initial, index);
    if (failed(begin))
      return failure();
    sum = evaluator.combine(ReduceKind::Sum, widen(*begin), sum);
  }
  evaluator.builder.create<memref::StoreOp>(evaluator.loc, evaluator.round(sum, element), memory, index);
  return success();
}

Index LeadingSum::getResultIndex(const Index &row) const {
  Index index(ArrayRef<Value>(row).take_front(outer));
  llvm::append_range(index, ArrayRef<Value>(row).drop_front(outer + reduced));
  return index;
}

Index LeadingSum::getRoomIndex(const Index &row) {
  Index index(ArrayRef<Value>(row).drop_front(outer + reduced));
  if (firstColumn)
    index.back() = evaluator.create<arith::SubIOp>(index.back(), firstColumn);
  return index;
}

Value LeadingSum::widen(Value value) { return evaluator.round(value, wide); }

/// In the function's first block: once for all passes.
Value LeadingSum::createRoom() {
  SmallVector<int64_t> shape(ArrayRef<int64_t>(sizes).drop_front(outer + reduced));
  shape.back() = std::min(shape.back(), loops.sharing.roomColumns);
  OpBuilder &builder = evaluator.builder;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(memory.getParentBlock());
  return evaluator.create<memref::AllocaOp>(MemRefType::get(shape, wide), builder.getI64IntegerAttr(64));
}

//===- ScatterSum.cpp - rows that are added to rows of a table, in the order of ids -----------------===//
#include "ScatterSum.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::par;

bool ScatterSum::mayWrite(Value sum) {
  return sum.getDefiningOp<AddsRowsOpInterface>() && getShape(sum).size() == 2;
}

LogicalResult ScatterSum::write() {
  if (failed(fill()))
    return failure();
  Index indices;
  return nest(getShape(op.getIds()), indices, [&](ArrayRef<Value> index) { return addRow(index); });
}

//===----------------------------------------------------------------------===//
// What the sum begins with
//===----------------------------------------------------------------------===//

/// The tensor that `initial` is, and a scalar that it is multiplied by or null; none if it is something else.
static std::pair<Value, Value> findTensor(Value initial) {
  if (!initial)
    return {};
  Value tensor = initial, factor;
  if (auto scaled = initial.getDefiningOp<arith::MulFOp>())
    for (auto [one, other] :
         {std::pair(scaled.getLhs(), scaled.getRhs()), {scaled.getRhs(), scaled.getLhs()}})
      if (auto expand = one.getDefiningOp<ExpandOp>(); expand && expand.getInput().getType().getRank() == 0)
        factor = expand.getInput(), tensor = other;
  if (!isa<BlockArgument>(tensor) || (factor && !isa<BlockArgument>(factor)))
    return {};
  return {tensor, factor};
}

Value par::findFactor(ScalarEvaluator &evaluator, Value initial) {
  Value factor = findTensor(initial).second;
  FailureOr<Value> scale = factor ? evaluator.evaluate(factor, {}) : FailureOr<Value>(Value());
  return failed(scale) ? Value() : *scale;
}

Value par::isInMemory(ScalarEvaluator &evaluator, Value initial, Value memory) {
  Value tensor = findTensor(initial).first;
  if (!tensor)
    return {};
  auto address = [&](Value buffer) {
    return evaluator.create<memref::ExtractAlignedPointerAsIndexOp>(buffer);
  };
  Value same = evaluator.create<arith::CmpIOp>(arith::CmpIPredicate::eq, address(evaluator.getMemory(tensor)),
                                               address(memory));
  Value scale = findFactor(evaluator, initial);
  if (!scale)
    return same;
  Value one = evaluator.constant(scale.getType(), 1);
  Value neutral = evaluator.create<arith::CmpFOp>(arith::CmpFPredicate::OEQ, scale, one);
  return evaluator.create<arith::AndIOp>(same, neutral);
}

LogicalResult ScatterSum::fill() {
  Value skipped = isInMemory(evaluator, initial, memory);
  if (!skipped)
    return fillAlways();
  Value yes = evaluator.create<arith::ConstantOp>(builder.getBoolAttr(true));
  Value wanted = evaluator.create<arith::XOrIOp>(skipped, yes);
  auto conditional = builder.create<scf::IfOp>(evaluator.loc, wanted, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(conditional.thenBlock());
  return fillAlways();
}

LogicalResult ScatterSum::fillAlways() {
  evaluator.push();
  LogicalResult result = loops.loop(type.getDimSize(0), [&](Value row) {
    return loops.shareLoop(type.getDimSize(1), [&](Value column) {
      Index index{row, column};
      FailureOr<Value> element = initial ? evaluator.evaluate(initial, index)
                                         : evaluator.neutral(ReduceKind::Sum, type.getElementType());
      if (succeeded(element))
        builder.create<memref::StoreOp>(evaluator.loc, *element, memory, index);
      return LogicalResult(element);
    });
  });
  evaluator.pop();
  return result;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult ScatterSum::nest(ArrayRef<int64_t> sizes, Index &indices, Body body) {
  if (indices.size() == sizes.size())
    return body(indices);
  return loops.loop(sizes[indices.size()], [&](Value variable) {
    indices.push_back(variable);
    LogicalResult result = nest(sizes, indices, body);
    indices.pop_back();
    return result;
  });
}

LogicalResult ScatterSum::addRow(ArrayRef<Value> index) {
  FailureOr<TableRow> found = evaluator.findRow(op.getIds(), op.getOffset(), index, type.getDimSize(0));
  if (failed(found))
    return failure();
  auto conditional = builder.create<scf::IfOp>(evaluator.loc, found->isThere, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(conditional.thenBlock());
  evaluator.push();
  LogicalResult result = loops.shareLoop(type.getDimSize(1), [&](Value column) -> LogicalResult {
    Index source(index);
    source.push_back(column);
    FailureOr<Value> added = evaluator.evaluate(op.getRows(), source);
    if (failed(added))
      return failure();
    Index place{found->row, column};
    Value old = evaluator.create<memref::LoadOp>(memory, place);
    Value sum = evaluator.combine(ReduceKind::Sum, old, evaluator.round(*added, type.getElementType()));
    builder.create<memref::StoreOp>(evaluator.loc, sum, memory, place);
    return success();
  });
  evaluator.pop();
  return result;
}

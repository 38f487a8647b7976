//===- RowOps.cpp - rows of a table by number -----------------------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/RowOps.cpp.inc"

/// ids' shape, then that of a row of `table`.
static SmallVector<int64_t> lookupShape(Value ids, Value table) {
  SmallVector<int64_t> shape(getShape(ids));
  llvm::append_range(shape, getShape(table).drop_front());
  return shape;
}

/// Calls `visit(row, position)` for every id that names a row of the table.
static void forEachLookup(ArrayRef<Tensor> operands, int64_t rows,
                          function_ref<void(int64_t, int64_t)> visit) {
  double offset = operands.size() > 2 ? operands[2].scalar() : 0;
  for (auto [position, id] : llvm::enumerate(operands[0].values)) {
    auto row = static_cast<int64_t>(id - offset);
    if (row >= 0 && row < rows)
      visit(row, position);
  }
}

/// The op with the offset of this rank's first row as its last operand.
static FailureOr<SmallVector<Value>> withOffset(Localizer &localizer, int64_t factor, int64_t rows) {
  if (!localizer.isSharded(factor))
    return localizer.clone();
  SmallVector<Value> operands(localizer.operands);
  Value offset = localizer.offset(factor, rows);
  if (operands.size() > 2)
    offset = localizer.builder.create<arith::AddIOp>(localizer.op->getLoc(), operands.pop_back_val(), offset);
  operands.push_back(offset);
  Operation *local = localizer.builder.create(localizer.op->getLoc(), localizer.op->getName().getIdentifier(),
                                              operands, localizer.resultTypes, localizer.op->getAttrs());
  return SmallVector<Value>(local->getResults());
}

//===----------------------------------------------------------------------===//
// Rows that are selected
//===----------------------------------------------------------------------===//

/// A factor per dimension of the ids, one for the table's rows, over which the op sums, and one per dimension
/// of a row.
template <typename Op>
static RuleAttr buildSelectRule(Op op) {
  RuleBuilder rule(op);
  ArrayRef<int64_t> ids = getShape(op.getIds()), table = getShape(op.getTable());
  int64_t rank = ids.size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t factor = rule.addFactor(ids[dim]);
    rule.mapOperand(0, dim, factor).mapResult(0, dim, factor);
  }
  rule.mapOperand(1, 0, rule.addFactor(table[0], FactorKind::Reduction));
  for (int64_t dim = 1, dims = table.size(); dim < dims; ++dim) {
    int64_t factor = rule.addFactor(table[dim]);
    rule.mapOperand(1, dim, factor).mapResult(0, rank + dim - 1, factor);
  }
  return rule.addLinear({1}).build();
}

static FailureOr<SmallVector<Value>> localizeSelect(Localizer &localizer) {
  return withOffset(localizer, localizer.rule.getOperandFactor(1, 0), getShape(localizer.operands[1])[0]);
}

static LogicalResult interpretSelect(ArrayRef<Tensor> operands, Tensor &result) {
  const Tensor &table = operands[1];
  int64_t rows = table.shape()[0], width = rows ? table.size() / rows : 0;
  std::fill(result.values.begin(), result.values.end(), 0.0);
  forEachLookup(operands, rows, [&](int64_t row, int64_t position) {
    std::copy_n(table.values.begin() + row * width, width, result.values.begin() + position * width);
  });
  return success();
}

/// Where the table has no such row the first one is read in its place.
template <typename Op>
static FailureOr<Value> emitSelected(Op op, ElementBuilder &b, ArrayRef<Value> index) {
  size_t rank = getShape(op.getIds()).size();
  FailureOr<TableRow> found =
      b.findRow(op.getIds(), op.getOffset(), index.take_front(rank), getShape(op.getTable())[0]);
  if (failed(found))
    return failure();
  Index source{b.select(found->isThere, found->row, b.constantIndex(0))};
  llvm::append_range(source, index.drop_front(rank));
  return b.evaluateInside(found->isThere, op.getTable(), source);
}

//===----------------------------------------------------------------------===//
// Rows that are added
//===----------------------------------------------------------------------===//

/// A factor per dimension of the ids, over which the op sums, one for the result's rows and one per dimension
/// of a row.
static RuleAttr buildSumRule(AddsRowsOpInterface op) {
  RuleBuilder rule(op);
  ArrayRef<int64_t> ids = getShape(op.getIds()), table = getShape(op->getResult(0));
  int64_t rank = ids.size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t factor = rule.addFactor(ids[dim], FactorKind::Reduction);
    rule.mapOperand(0, dim, factor).mapOperand(1, dim, factor);
  }
  rule.mapResult(0, 0, rule.addFactor(table[0]));
  for (int64_t dim = 1, dims = table.size(); dim < dims; ++dim) {
    int64_t factor = rule.addFactor(table[dim]);
    rule.mapOperand(1, rank + dim - 1, factor).mapResult(0, dim, factor);
  }
  return rule.addLinear({1}).build();
}

/// Ids in the padding of a split batch name no row: they are masked like any other operand that is summed
/// over, to 0, whose row is 0.
static FailureOr<SmallVector<Value>> localizeSum(Localizer &localizer) {
  auto type = cast<RankedTensorType>(localizer.resultTypes[0]);
  return withOffset(localizer, localizer.rule.getResultFactor(0, 0), type.getDimSize(0));
}

static LogicalResult interpretSum(ArrayRef<Tensor> operands, Tensor &result) {
  const Tensor &added = operands[1];
  int64_t rows = result.shape()[0], width = rows ? result.size() / rows : 0;
  std::fill(result.values.begin(), result.values.end(), 0.0);
  forEachLookup(operands, rows, [&](int64_t row, int64_t position) {
    for (int64_t i = 0; i < width; ++i)
      result.values[row * width + i] += added.values[position * width + i];
  });
  return success();
}

/// Σ over all ids of the rows whose id is this one: right for any kernel, slow; kernels that yield it scatter
/// instead.
static FailureOr<Value> emitSum(AddsRowsOpInterface op, ElementBuilder &b, ArrayRef<Value> index) {
  Value result = op->getResult(0);
  // Outside the sum's loops.
  if (op.getOffset() && failed(b.evaluate(op.getOffset(), {})))
    return failure();
  Type type = ElementBuilder::getHeldType(result);
  auto term = [&](ArrayRef<Value> inner) -> FailureOr<Value> {
    Index source(inner);
    llvm::append_range(source, index.drop_front());
    FailureOr<TableRow> found = b.findRow(op.getIds(), op.getOffset(), inner, getShape(result)[0]);
    FailureOr<Value> added = b.evaluate(op.getRows(), source);
    if (failed(found) || failed(added))
      return failure();
    Value hit =
        b.create<arith::AndIOp>(found->isThere, b.compare(arith::CmpIPredicate::eq, found->row, index[0]));
    return b.select(hit, b.round(*added, type), b.constant(type, 0));
  };
  FailureOr<Value> sum = b.reduce(getShape(op.getIds()), type, ReduceKind::Sum, term);
  return failed(sum) ? sum : b.round(*sum, getElementTypeOrSelf(result));
}

/// One addition per element of the rows.
static double countAdditions(AddsRowsOpInterface op) {
  return static_cast<double>(cast<RankedTensorType>(op.getRows().getType()).getNumElements());
}

//===----------------------------------------------------------------------===//
// TakeRowsOp
//===----------------------------------------------------------------------===//

LogicalResult TakeRowsOp::verify() {
  if (failed(verifyMinRank(*this, "take_rows_c1", "table", getTable(), 1)))
    return failure();
  return verifyAll({verifyElementType(*this, "take_rows_c2", "result", getResult(), "table", getTable()),
                    verifyShape(*this, "take_rows_c2", "result", getResult(),
                                lookupShape(getIds(), getTable()), "the ids' shape and the row's")});
}

RuleAttr TakeRowsOp::getShardingRule() { return buildSelectRule(*this); }

FailureOr<SmallVector<Value>> TakeRowsOp::localize(Localizer &localizer) { return localizeSelect(localizer); }

LogicalResult TakeRowsOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                        SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[1])
    operandCotangents[1] =
        builder.create<AddRowsOp>(getLoc(), getTable().getType(), getIds(), cotangents[0], getOffset());
  return success();
}

LogicalResult TakeRowsOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                    InterpreterContext &) {
  return interpretSelect(operands, results[0]);
}

OpClass TakeRowsOp::getOpClass() { return OpClass::SelectsRows; }

FailureOr<Value> TakeRowsOp::emitElement(ElementBuilder &builder, ArrayRef<Value> index) {
  return emitSelected(*this, builder, index);
}

/// Rows of several elements lie side by side in the table as in the result.
bool TakeRowsOp::keepsSteps(int64_t step) {
  return getTable().getType().getRank() > 1 && getShape(getTable()).back() % step == 0;
}

//===----------------------------------------------------------------------===//
// AddRowsOp
//===----------------------------------------------------------------------===//

LogicalResult AddRowsOp::verify() {
  if (failed(verifyMinRank(*this, "add_rows_c1", "result", getResult(), 1)))
    return failure();
  return verifyShape(*this, "add_rows_c2", "rows", getRows(), lookupShape(getIds(), getResult()),
                     "the ids' shape and that of a row of the result");
}

RuleAttr AddRowsOp::getShardingRule() { return buildSumRule(*this); }

FailureOr<SmallVector<Value>> AddRowsOp::localize(Localizer &localizer) { return localizeSum(localizer); }

/// The result may be wider than the rows.
LogicalResult AddRowsOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0] || !needed[1])
    return success();
  Type element = getElementTypeOrSelf(cotangents[0]);
  Value taken = builder.create<TakeRowsOp>(getLoc(), getRows().getType().clone(element), getIds(),
                                           cotangents[0], getOffset());
  operandCotangents[1] = convertFloat(builder, getLoc(), taken, getElementTypeOrSelf(getRows()));
  return success();
}

LogicalResult AddRowsOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                   InterpreterContext &) {
  return interpretSum(operands, results[0]);
}

double AddRowsOp::getFlops() { return countAdditions(*this); }

OpClass AddRowsOp::getOpClass() { return OpClass::AddsRows; }

FailureOr<Value> AddRowsOp::emitElement(ElementBuilder &builder, ArrayRef<Value> index) {
  return emitSum(*this, builder, index);
}

bool AddRowsOp::mayWidenResults() { return true; }

bool AddRowsOp::addsUpInMemory(unsigned) { return true; }

//===----------------------------------------------------------------------===//
// EmbeddingOp
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::verify() {
  if (getTable().getType().getRank() != 2)
    return emitOpError("embedding_c1: the table has rank ")
           << getTable().getType().getRank() << ", expected 2";
  if (getPadding() && static_cast<int64_t>(*getPadding()) < 0)
    return emitOpError("embedding_c3: padding is ")
           << static_cast<int64_t>(*getPadding()) << ", expected at least 0";
  return verifyAll({verifyElementType(*this, "embedding_c2", "result", getResult(), "table", getTable()),
                    verifyShape(*this, "embedding_c2", "result", getResult(),
                                lookupShape(getIds(), getTable()), "the ids' shape and the row's size")});
}

RuleAttr EmbeddingOp::getShardingRule() { return buildSelectRule(*this); }

FailureOr<SmallVector<Value>> EmbeddingOp::localize(Localizer &localizer) {
  return localizeSelect(localizer);
}

/// `ids` with −1, which names no row, in place of `padding`.
static Value dropPadding(OpBuilder &builder, Location loc, Value ids, int64_t padding) {
  auto type = cast<RankedTensorType>(ids.getType());
  auto splat = [&](int64_t id) { return buildSplat(builder, loc, type, static_cast<double>(id)); };
  Value dropped = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, ids, splat(padding));
  return builder.create<arith::SelectOp>(loc, dropped, splat(-1), ids);
}

LogicalResult EmbeddingOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0] || !needed[1])
    return success();
  Value ids = getPadding() ? dropPadding(builder, getLoc(), getIds(), *getPadding()) : getIds();
  operandCotangents[1] =
      builder.create<EmbeddingBackwardOp>(getLoc(), getTable().getType(), ids, cotangents[0], getOffset());
  return success();
}

LogicalResult EmbeddingOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                     InterpreterContext &) {
  return interpretSelect(operands, results[0]);
}

OpClass EmbeddingOp::getOpClass() { return OpClass::SelectsRows; }

FailureOr<Value> EmbeddingOp::emitElement(ElementBuilder &builder, ArrayRef<Value> index) {
  return emitSelected(*this, builder, index);
}

bool EmbeddingOp::keepsSteps(int64_t) { return true; }

//===----------------------------------------------------------------------===//
// EmbeddingBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingBackwardOp::verify() {
  if (getType().getRank() != 2)
    return emitOpError("embedding_backward_c1: the result has rank ")
           << getType().getRank() << ", expected 2";
  return verifyShape(*this, "embedding_backward_c1", "dy", getRows(), lookupShape(getIds(), getResult()),
                     "the ids' shape and the row's size");
}

RuleAttr EmbeddingBackwardOp::getShardingRule() { return buildSumRule(*this); }

FailureOr<SmallVector<Value>> EmbeddingBackwardOp::localize(Localizer &localizer) {
  return localizeSum(localizer);
}

LogicalResult EmbeddingBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                             InterpreterContext &) {
  return interpretSum(operands, results[0]);
}

double EmbeddingBackwardOp::getFlops() { return countAdditions(*this); }

OpClass EmbeddingBackwardOp::getOpClass() { return OpClass::AddsRows; }

FailureOr<Value> EmbeddingBackwardOp::emitElement(ElementBuilder &builder, ArrayRef<Value> index) {
  return emitSum(*this, builder, index);
}

bool EmbeddingBackwardOp::mayWidenResults() { return true; }

bool EmbeddingBackwardOp::addsUpInMemory(unsigned) { return true; }

/// The runtime refuses tokens that the vocabulary does not have.
bool EmbeddingBackwardOp::areIdsChecked() { return true; }

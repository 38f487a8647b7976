//===- EmbeddingOps.cpp - table lookup ------------------------------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/EmbeddingOps.cpp.inc"

/// ids' shape, then the row's size.
static SmallVector<int64_t> lookupShape(Value ids, int64_t row) {
  SmallVector<int64_t> shape(getShape(ids));
  shape.push_back(row);
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
                                lookupShape(getIds(), getTable().getType().getDimSize(1)),
                                "the ids' shape and the row's size")});
}

RuleAttr EmbeddingOp::getShardingRule() {
  RuleBuilder rule(*this);
  int64_t rank = getIds().getType().getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t factor = rule.addFactor(getIds().getType().getDimSize(dim));
    rule.mapOperand(0, dim, factor).mapResult(0, dim, factor);
  }
  int64_t vocab = rule.addFactor(getTable().getType().getDimSize(0), FactorKind::Reduction);
  int64_t row = rule.addFactor(getTable().getType().getDimSize(1));
  rule.mapOperand(1, 0, vocab).mapOperand(1, 1, row).mapResult(0, rank, row);
  return rule.addLinear({1}).build();
}

FailureOr<SmallVector<Value>> EmbeddingOp::localize(Localizer &localizer) {
  return withOffset(localizer, localizer.rule.getOperandFactor(1, 0), getShape(localizer.operands[1])[0]);
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
  const Tensor &table = operands[1];
  int64_t width = table.shape()[1];
  std::fill(results[0].values.begin(), results[0].values.end(), 0.0);
  forEachLookup(operands, table.shape()[0], [&](int64_t row, int64_t position) {
    std::copy_n(table.values.begin() + row * width, width, results[0].values.begin() + position * width);
  });
  return success();
}

KernelKind EmbeddingOp::getKernelKind() { return KernelKind::Primitive; }

//===----------------------------------------------------------------------===//
// EmbeddingBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingBackwardOp::verify() {
  if (getType().getRank() != 2)
    return emitOpError("embedding_backward_c1: the result has rank ")
           << getType().getRank() << ", expected 2";
  return verifyShape(*this, "embedding_backward_c1", "dy", getDy(),
                     lookupShape(getIds(), getType().getDimSize(1)), "the ids' shape and the row's size");
}

RuleAttr EmbeddingBackwardOp::getShardingRule() {
  RuleBuilder rule(*this);
  int64_t rank = getIds().getType().getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t factor = rule.addFactor(getIds().getType().getDimSize(dim), FactorKind::Reduction);
    rule.mapOperand(0, dim, factor).mapOperand(1, dim, factor);
  }
  int64_t vocab = rule.addFactor(getType().getDimSize(0)), row = rule.addFactor(getType().getDimSize(1));
  rule.mapOperand(1, rank, row).mapResult(0, 0, vocab).mapResult(0, 1, row);
  return rule.addLinear({1}).build();
}

/// Ids in the padding of a split batch name no row: they are masked like any other operand that is summed
/// over, to 0, whose `dy` is 0.
FailureOr<SmallVector<Value>> EmbeddingBackwardOp::localize(Localizer &localizer) {
  auto type = cast<RankedTensorType>(localizer.resultTypes[0]);
  return withOffset(localizer, localizer.rule.getResultFactor(0, 0), type.getDimSize(0));
}

LogicalResult EmbeddingBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                             InterpreterContext &) {
  const Tensor &dy = operands[1];
  int64_t rows = results[0].shape()[0], width = results[0].shape()[1];
  std::fill(results[0].values.begin(), results[0].values.end(), 0.0);
  forEachLookup(operands, rows, [&](int64_t row, int64_t position) {
    for (int64_t i = 0; i < width; ++i)
      results[0].values[row * width + i] += dy.values[position * width + i];
  });
  return success();
}

/// One addition per element of dy.
double EmbeddingBackwardOp::getFlops() { return static_cast<double>(getDy().getType().getNumElements()); }

KernelKind EmbeddingBackwardOp::getKernelKind() { return KernelKind::Primitive; }

bool EmbeddingBackwardOp::mayWidenResults() { return true; }

bool EmbeddingBackwardOp::addsUpInMemory(unsigned) { return true; }

//===- DropoutOps.cpp - reproducible dropout ------------------------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Interfaces/ElementBuilder.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/DropoutOps.cpp.inc"

LogicalResult DropoutOp::verify() {
  double p = getP().convertToDouble();
  int64_t rank = getInput().getType().getRank();
  LogicalResult verdict =
      verifyAll({verifyShape(*this, "dropout_c2", "offsets", getOffsets(), {rank}, "an offset per dimension"),
                 verifyShape(*this, "dropout_c3", "key", getKey(), {2}, "two words")});
  if (!(p >= 0.0 && p < 1.0))
    verdict = emitOpError("dropout_c1: p is ") << p << ", expected at least 0 and less than 1";
  if (static_cast<int64_t>(getStrides().size()) != rank || rank < 1)
    verdict = emitOpError("dropout_c2: ") << getStrides().size() << " strides for rank " << rank;
  if (getType() != getInput().getType())
    verdict = emitOpError("dropout_c4: result ")
              << getType() << " differs from the operand " << getInput().getType();
  return verdict;
}

RuleAttr DropoutOp::getShardingRule() {
  RuleBuilder rule(*this);
  for (auto [dim, size] : llvm::enumerate(getType().getShape())) {
    int64_t factor = rule.addFactor(size);
    rule.mapOperand(0, dim, factor).mapResult(0, dim, factor);
  }
  rule.mapOperand(1, 0, rule.addFactor(2, FactorKind::NeedReplication));
  rule.mapOperand(4, 0, rule.addFactor(getType().getRank(), FactorKind::NeedReplication));
  return rule.addLinear({0}).build();
}

/// `offsets` plus, per dimension, where this rank's shard begins.
static Value shiftOffsets(Localizer &localizer, Value offsets) {
  OpBuilder &builder = localizer.builder;
  Location loc = localizer.op->getLoc();
  auto one = RankedTensorType::get({1}, builder.getI32Type());
  SmallVector<Value> parts;
  for (auto [dim, size] : llvm::enumerate(getShape(localizer.operands[0])))
    parts.push_back(
        builder.create<ReshapeOp>(loc, one, localizer.offset(localizer.rule.getOperandFactor(0, dim), size)));
  Value starts = builder.create<ConcatOp>(loc, one.clone(static_cast<int64_t>(parts.size())), parts, 0);
  if (starts.getType() != offsets.getType())
    starts = builder.create<arith::ExtSIOp>(loc, offsets.getType(), starts);
  return builder.create<arith::AddIOp>(loc, offsets, starts);
}

FailureOr<SmallVector<Value>> DropoutOp::localize(Localizer &localizer) {
  if (llvm::none_of(llvm::seq<int64_t>(0, getType().getRank()),
                    [&](int64_t dim) { return localizer.isSharded(dim); }))
    return localizer.clone();
  SmallVector<Value> operands(localizer.operands);
  operands[4] = shiftOffsets(localizer, operands[4]);
  auto local = localizer.builder.create<DropoutOp>(getLoc(), localizer.resultTypes[0], operands[0],
                                                   operands[1], operands[2], operands[3], operands[4],
                                                   getPAttr(), getStridesAttr());
  return SmallVector<Value>{local.getResult()};
}

void DropoutOp::stopDropping() {
  replaceAllUsesWith(getInput());
  erase();
}

LogicalResult DropoutOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] = builder.create<DropoutOp>(getLoc(), getType(), cotangents[0], getKey(), getSite(),
                                                     getRow(), getOffsets(), getPAttr(), getStridesAttr());
  return success();
}

LogicalResult DropoutOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                   InterpreterContext &) {
  auto word = [](double value) { return static_cast<uint32_t>(static_cast<int64_t>(value)); };
  uint32_t key0 = word(operands[1].values[0]), key1 = word(operands[1].values[1]),
           site = word(operands[2].scalar());
  double p = getP().convertToDouble(), threshold = p * 4294967296.0;
  int64_t position = 0;
  forEachIndex(operands[0].shape(), [&](ArrayRef<int64_t> index) {
    auto at = [&](size_t dim) { return static_cast<int64_t>(operands[4].values[dim]) + index[dim]; };
    uint32_t row = word(operands[3].scalar()) + static_cast<uint32_t>(at(0));
    uint64_t element = 0;
    for (size_t dim = 1; dim < index.size(); ++dim)
      element += static_cast<uint64_t>(at(dim)) * getStrides()[dim];
    uint32_t drawn = philoxWord0(static_cast<uint32_t>(element), static_cast<uint32_t>(element >> 32), row,
                                 site, key0, key1);
    results[0].values[position] = drawn >= threshold ? operands[0].values[position] / (1.0 - p) : 0.0;
    ++position;
  });
  return success();
}

OpClass DropoutOp::getOpClass() { return OpClass::Placed; }

FailureOr<Value> DropoutOp::emitElement(ElementBuilder &b, ArrayRef<Value> index) {
  Type i32 = b.builder.getI32Type(), i64 = b.builder.getI64Type();
  auto at = [&](Value vector, int64_t position) {
    return b.evaluate(vector, Index{b.constantIndex(position)});
  };
  auto narrow = [&](Value value) {
    return value.getType() == i32 ? value : b.create<arith::TruncIOp>(i32, value);
  };
  FailureOr<Value> x = b.evaluate(getInput(), index), site = b.evaluate(getSite(), {}),
                   row = b.evaluate(getRow(), {});
  FailureOr<Value> key0 = at(getKey(), 0), key1 = at(getKey(), 1);
  if (failed(x) || failed(site) || failed(row) || failed(key0) || failed(key1))
    return failure();
  Value element = b.constant(i64, 0), rowInStep;
  for (auto [dim, each] : llvm::enumerate(index)) {
    FailureOr<Value> offset = at(getOffsets(), dim);
    if (failed(offset))
      return failure();
    Value wide = offset->getType() == i64 ? *offset : b.create<arith::ExtSIOp>(i64, *offset);
    Value position = b.create<arith::AddIOp>(b.create<arith::IndexCastOp>(i64, each), wide);
    if (dim == 0) {
      rowInStep = b.create<arith::AddIOp>(*row, narrow(position));
      continue;
    }
    Value scaled = b.create<arith::MulIOp>(position, b.constant(i64, static_cast<double>(getStrides()[dim])));
    element = b.create<arith::AddIOp>(element, scaled);
  }
  Value high = b.create<arith::ShRUIOp>(element, b.constant(i64, 32));
  Value drawn =
      b.drawPhilox({narrow(element), narrow(high), rowInStep, *site}, {narrow(*key0), narrow(*key1)});
  double p = getP().convertToDouble();
  Value keep = b.isKept(drawn, p);
  Value scaled = b.create<arith::MulFOp>(*x, b.constant(x->getType(), 1.0 / (1.0 - p)));
  return b.select(keep, b.round(scaled, getElementTypeOrSelf(getResult())), b.constant(x->getType(), 0));
}

//===- ElementwiseOps.cpp - elementwise maths that arith and math lack ----------------------------------===//
#include "ComputeBuilder.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/ElementwiseOps.cpp.inc"

LogicalResult SigmoidOp::verify() { return success(); }

RuleAttr SigmoidOp::getShardingRule() { return RuleBuilder::pointwise(*this); }

/// dy·(y·(1 − y)): what multiplies dy is formed first, so that it is at most a quarter.
LogicalResult SigmoidOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  if (!cotangents[0] || !needed[0])
    return success();
  Value y = getResult(), one = buildSplat(builder, getLoc(), getType(), 1.0);
  Value slope = builder.create<arith::MulFOp>(getLoc(), y, builder.create<arith::SubFOp>(getLoc(), one, y));
  operandCotangents[0] = builder.create<arith::MulFOp>(getLoc(), cotangents[0], slope);
  return success();
}

LogicalResult SigmoidOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                   InterpreterContext &) {
  for (auto [x, y] : llvm::zip(operands[0].values, results[0].values))
    y = 1.0 / (1.0 + std::exp(-x));
  return success();
}

OpClass SigmoidOp::getOpClass() { return OpClass::Elementwise; }

/// Those of its parts: a negation, an exponential, a sum and a quotient.
double SigmoidOp::getFlops() { return 4.0 * countResultElements(*this); }

FailureOr<SmallVector<Value>> SigmoidOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value power = b.exp(b.neg(b.load(getInput())));
  Value one = b.splatLike(power, 1.0);
  return SmallVector<Value>{b.store(b.div(one, b.add(power, one)), getResult())};
}

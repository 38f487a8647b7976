//===- SoftmaxOps.cpp - softmax over the last dimension -------------------------------------------------===//
#include "ComputeBuilder.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/SoftmaxOps.cpp.inc"

/// A factor per dimension; the last, over which the op normalises, is never split.
static RuleAttr buildSoftmaxRule(Operation *op, ArrayRef<SmallVector<int64_t>> linear = {}) {
  RuleBuilder rule(op);
  ArrayRef<int64_t> shape = getShape(op->getResult(0));
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    int64_t factor =
        rule.addFactor(shape[dim], dim == rank - 1 ? FactorKind::NeedReplication : FactorKind::PassThrough);
    for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
      rule.mapOperand(operand, dim, factor);
    rule.mapResult(0, dim, factor);
  }
  for (ArrayRef<int64_t> set : linear)
    rule.addLinear(set);
  return rule.build();
}

//===----------------------------------------------------------------------===//
// SoftmaxOp
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() { return verifyMinRank(*this, "softmax_c1", "input", getInput(), 1); }

RuleAttr SoftmaxOp::getShardingRule() { return buildSoftmaxRule(*this); }

LogicalResult SoftmaxOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] =
        builder.create<SoftmaxBackwardOp>(getLoc(), getInput().getType(), cotangents[0], getResult());
  return success();
}

LogicalResult SoftmaxOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                   InterpreterContext &) {
  const Tensor &x = operands[0];
  int64_t columns = x.shape().back();
  for (int64_t begin = 0; begin < x.size(); begin += columns) {
    const double *in = &x.values[begin];
    double *out = &results[0].values[begin];
    double maximum = *std::max_element(in, in + columns), sum = 0;
    for (int64_t i = 0; i < columns; ++i)
      sum += out[i] = std::exp(in[i] - maximum);
    for (int64_t i = 0; i < columns; ++i)
      out[i] /= sum;
  }
  return success();
}

OpClass SoftmaxOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value x = b.load(getInput());
  int64_t last = getShape(x).size() - 1;
  Value maximum = b.reduce(ReduceKind::Max, x, {last});
  Value weights = b.exp(b.sub(x, b.expandLast(maximum, x)));
  Value y = b.div(weights, b.expandLast(b.sumLast(weights), x));
  return SmallVector<Value>{b.store(y, getResult())};
}

//===----------------------------------------------------------------------===//
// SoftmaxBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxBackwardOp::verify() {
  return verifyMinRank(*this, "softmax_backward_c1", "dy", getDy(), 1);
}

RuleAttr SoftmaxBackwardOp::getShardingRule() { return buildSoftmaxRule(*this, {{0}}); }

LogicalResult SoftmaxBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                           InterpreterContext &) {
  const Tensor &dy = operands[0], &y = operands[1];
  int64_t columns = y.shape().back();
  for (int64_t begin = 0; begin < y.size(); begin += columns) {
    double dot = 0;
    for (int64_t i = begin; i < begin + columns; ++i)
      dot += dy.values[i] * y.values[i];
    for (int64_t i = begin; i < begin + columns; ++i)
      results[0].values[i] = y.values[i] * (dy.values[i] - dot);
  }
  return success();
}

OpClass SoftmaxBackwardOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> SoftmaxBackwardOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value dy = b.load(getDy()), y = b.load(getOutput());
  Value dot = b.sumLast(b.mul(dy, y));
  Value dx = b.mul(y, b.sub(dy, b.expandLast(dot, y)));
  return SmallVector<Value>{b.store(dx, getDx())};
}

//===- OptimizerOps.cpp - parameter updates -------------------------------------------------------------===//
#include "ComputeBuilder.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/OptimizerOps.cpp.inc"

/// Constraint `code`: all these values, as far as they are there, have the parameter's shape.
static LogicalResult verifyOneShape(Operation *op, StringRef code, Value param,
                                    ArrayRef<std::pair<StringRef, Value>> values) {
  bool valid = true;
  for (auto [name, value] : values)
    valid &=
        !value || succeeded(verifyShape(op, code, name, value, getShape(param), "the parameter's shape"));
  return success(valid);
}

//===----------------------------------------------------------------------===//
// AdamWOp
//===----------------------------------------------------------------------===//

LogicalResult AdamWOp::verify() {
  return verifyOneShape(*this, "adamw_c1", getParam(),
                        {{"grad", getGrad()},
                         {"m", getM()},
                         {"v", getV()},
                         {"new_param", getNewParam()},
                         {"new_m", getNewM()},
                         {"new_v", getNewV()},
                         {"rounded", getRounded()}});
}

RuleAttr AdamWOp::getShardingRule() { return RuleBuilder::pointwise(*this); }

bool AdamWOp::mapsZeroToZero() { return true; }

LogicalResult AdamWOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                 InterpreterContext &) {
  double lr = operands[4].scalar(), beta1 = operands[5].scalar(), beta2 = operands[6].scalar();
  double eps = operands[7].scalar(), decay = operands[8].scalar(), bias1 = operands[9].scalar();
  double bias2 = operands[10].scalar(), clip = operands[11].scalar();
  double keep = getDecay() ? 1.0 - lr * decay : 1.0;
  for (int64_t i = 0; i < results[0].size(); ++i) {
    double gradient = clip * operands[1].values[i];
    double m = beta1 * operands[2].values[i] + (1.0 - beta1) * gradient;
    double v = beta2 * operands[3].values[i] + (1.0 - beta2) * gradient * gradient;
    results[0].values[i] = operands[0].values[i] * keep - lr * (m / bias1) / (std::sqrt(v / bias2) + eps);
    results[1].values[i] = m;
    results[2].values[i] = v;
  }
  if (getRounded()) // its type rounds
    results[3].values = results[0].values;
  return success();
}

OpClass AdamWOp::getOpClass() { return OpClass::Composite; }

bool AdamWOp::readsInPlace(unsigned operand) { return hasFactorsOfResult(*this, operand); }

FailureOr<SmallVector<Value>> AdamWOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value param = b.load(getParam());
  auto scalar = [&](Value value) { return b.expandLeading(value, param); };
  // Scalar expressions are computed once, then repeated.
  Value lr = b.load(getLr()), beta1 = b.load(getBeta1()), beta2 = b.load(getBeta2());
  Value one = b.splatLike(lr, 1.0);
  Value gradient = b.mul(b.load(getGrad()), scalar(b.load(getClip())));
  Value m = b.add(b.mul(b.load(getM()), scalar(beta1)), b.mul(gradient, scalar(b.sub(one, beta1))));
  Value v = b.add(b.mul(b.load(getV()), scalar(beta2)),
                  b.mul(b.mul(gradient, gradient), scalar(b.sub(one, beta2))));
  if (getDecay())
    param = b.mul(param, scalar(b.sub(one, b.mul(lr, b.load(getWeightDecay())))));
  Value denominator = b.add(b.sqrt(b.div(v, scalar(b.load(getBias2())))), scalar(b.load(getEps())));
  Value step = b.div(b.mul(m, scalar(b.div(lr, b.load(getBias1())))), denominator);
  Value updated = b.sub(param, step);
  SmallVector<Value> results{b.store(updated, getNewParam()), b.store(m, getNewM()), b.store(v, getNewV())};
  if (getRounded())
    results.push_back(b.store(updated, getRounded()));
  return results;
}

//===----------------------------------------------------------------------===//
// SgdOp
//===----------------------------------------------------------------------===//

LogicalResult SgdOp::verify() {
  return verifyOneShape(*this, "sgd_c1", getParam(),
                        {{"grad", getGrad()}, {"new_param", getNewParam()}, {"rounded", getRounded()}});
}

RuleAttr SgdOp::getShardingRule() { return RuleBuilder::pointwise(*this); }

bool SgdOp::mapsZeroToZero() { return true; }

LogicalResult SgdOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                               InterpreterContext &) {
  double lr = operands[2].scalar(), decay = getDecay() ? operands[3].scalar() : 0.0,
         clip = operands[4].scalar();
  for (int64_t i = 0; i < results[0].size(); ++i) {
    double param = operands[0].values[i];
    results[0].values[i] = param - lr * (clip * operands[1].values[i] + decay * param);
  }
  if (getRounded())
    results[1].values = results[0].values;
  return success();
}

OpClass SgdOp::getOpClass() { return OpClass::Composite; }

bool SgdOp::readsInPlace(unsigned operand) { return hasFactorsOfResult(*this, operand); }

FailureOr<SmallVector<Value>> SgdOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value param = b.load(getParam());
  auto scalar = [&](Value value) { return b.expandLeading(b.load(value), param); };
  Value gradient = b.mul(b.load(getGrad()), scalar(getClip()));
  if (getDecay())
    gradient = b.add(gradient, b.mul(param, scalar(getWeightDecay())));
  Value updated = b.sub(param, b.mul(gradient, scalar(getLr())));
  SmallVector<Value> results{b.store(updated, getNewParam())};
  if (getRounded())
    results.push_back(b.store(updated, getRounded()));
  return results;
}

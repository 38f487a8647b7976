//===- NormOps.cpp - normalisation over the last dimension ----------------------------------------------===//
#include "NormOps.h"
#include "ComputeBuilder.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/NormOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared by all of them
//===----------------------------------------------------------------------===//

/// Constraint `code` on rows: a statistic has a value per row of `input`.
static LogicalResult verifyStatistic(Operation *op, StringRef code, StringRef name, Value statistic,
                                     Value input) {
  return verifyShape(op, code, name, statistic, getShape(input).drop_back(),
                     "all but the input's last dimension");
}

static LogicalResult verifyColumns(Operation *op, StringRef code, StringRef name, Value vector, Value input) {
  return verifyShape(op, code, name, vector, getShape(input).take_back(), "the input's last dimension");
}

/// A factor per dimension of `operand(0)`. Values of full rank have all, statistics all but the last, vectors
/// the last. A vector among the results is a sum over the leading factors.
static RuleAttr buildNormRule(Operation *op, ArrayRef<SmallVector<int64_t>> linear = {}) {
  RuleBuilder rule(op);
  ArrayRef<int64_t> shape = getShape(op->getOperand(0));
  int64_t rank = shape.size();
  // Weights are the operand after the values of full rank; a vector result exists in the backward ops only.
  bool backward = isa<LayerNormBackwardOp, StandardizeBackwardOp>(op);
  bool hasWeights = !isa<StandardizeOp, StandardizeBackwardOp>(op);
  int64_t firstVector = backward ? 2 : 1;
  int64_t endVector = firstVector + (!hasWeights ? 0 : isa<LayerNormOp>(op) ? 2 : 1);
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool last = dim == rank - 1;
    FactorKind leading = backward && hasWeights ? FactorKind::Reduction : FactorKind::PassThrough;
    int64_t factor = rule.addFactor(shape[dim], last ? FactorKind::NeedReplication : leading);
    for (int64_t operand = 0; operand < op->getNumOperands(); ++operand) {
      if (operand < firstVector)
        rule.mapOperand(operand, dim, factor);
      else if (operand < endVector && last)
        rule.mapOperand(operand, 0, factor);
      else if (operand >= endVector && !last)
        rule.mapOperand(operand, dim, factor);
    }
    rule.mapResult(0, dim, factor);
    for (int64_t result = 1; result < op->getNumResults(); ++result) {
      if (backward && last)
        rule.mapResult(result, 0, factor);
      else if (!backward && !last)
        rule.mapResult(result, dim, factor);
    }
  }
  for (ArrayRef<int64_t> set : linear)
    rule.addLinear(set);
  return rule.build();
}

LogicalResult par::refuseStatisticCotangents(Operation *op, ValueRange cotangents) {
  for (auto [number, cotangent] : llvm::enumerate(cotangents.drop_front()))
    if (cotangent)
      return op->emitOpError() << "result " << number + 1 << " is a statistic and cannot be differentiated; "
                               << "use only result 0 in the loss";
  return success();
}

void par::setNeeded(ValueRange values, ArrayRef<bool> needed, SmallVectorImpl<Value> &operandCotangents) {
  for (auto [operand, value] : llvm::enumerate(values))
    if (needed[operand])
      operandCotangents[operand] = value;
}

/// Mean and 1/√(var + eps) of a row, biased variance.
static std::pair<double, double> findMeanAndRstd(const double *row, int64_t columns, const APFloat &eps) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < columns; ++i)
    sum += row[i];
  double mean = sum / columns;
  for (int64_t i = 0; i < columns; ++i)
    squares += (row[i] - mean) * (row[i] - mean);
  return {mean, 1.0 / std::sqrt(squares / columns + eps.convertToDouble())};
}

namespace {
/// x̂ = (x − mean)·rstd and its statistics.
struct Standardized {
  Value normal, mean, rstd;
};
} // namespace

static Standardized buildStandardized(ComputeBuilder &b, Value x, const APFloat &eps) {
  Value mean = b.meanLast(x);
  Value centred = b.sub(x, b.expandLast(mean, x));
  Value variance = b.meanLast(b.mul(centred, centred));
  Value deviation = b.sqrt(b.add(variance, b.splatLike(variance, eps.convertToDouble())));
  Value rstd = b.div(b.splatLike(deviation, 1.0), deviation);
  return {b.mul(centred, b.expandLast(rstd, x)), mean, rstd};
}

/// The cotangent of x, from that of x̂: rstd·(d − mean(d) − x̂·mean(d·x̂)). `rows` is rstd in x's shape.
static Value buildStandardizedBackward(ComputeBuilder &b, Value cotangent, Value normal, Value rows) {
  Value mean = b.expandLast(b.meanLast(cotangent), normal);
  Value projection = b.mul(normal, b.expandLast(b.meanLast(b.mul(cotangent, normal)), normal));
  return b.mul(rows, b.sub(b.sub(cotangent, mean), projection));
}

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  StringRef code = "layer_norm_c1", statistics = "layer_norm_c2";
  if (failed(verifyMinRank(*this, code, "input", getInput(), 1)))
    return failure();
  return verifyAll(
      {verifyShape(*this, code, "result", getResult(), getShape(getInput()), "the input's shape"),
       verifyColumns(*this, code, "weight", getWeight(), getInput()),
       verifyColumns(*this, code, "bias", getBias(), getInput()),
       verifyStatistic(*this, statistics, "mean", getMean(), getInput()),
       verifyStatistic(*this, statistics, "rstd", getRstd(), getInput())});
}

RuleAttr LayerNormOp::getShardingRule() { return buildNormRule(*this); }

LogicalResult LayerNormOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandCotangents) {
  if (failed(refuseStatisticCotangents(*this, cotangents)))
    return failure();
  if (!cotangents[0])
    return success();
  auto backward = builder.create<LayerNormBackwardOp>(
      getLoc(), TypeRange{getInput().getType(), getWeight().getType(), getBias().getType()}, cotangents[0],
      getInput(), getWeight(), getMean(), getRstd());
  setNeeded(backward.getResults(), needed, operandCotangents);
  return success();
}

LogicalResult LayerNormOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                     InterpreterContext &) {
  const Tensor &x = operands[0], &w = operands[1], &bias = operands[2];
  int64_t columns = w.size();
  for (int64_t row = 0; row < results[1].size(); ++row) {
    const double *in = &x.values[row * columns];
    auto [mean, rstd] = findMeanAndRstd(in, columns, getEps());
    results[1].values[row] = mean;
    results[2].values[row] = rstd;
    for (int64_t i = 0; i < columns; ++i)
      results[0].values[row * columns + i] = w.values[i] * (in[i] - mean) * rstd + bias.values[i];
  }
  return success();
}

OpClass LayerNormOp::getOpClass() { return OpClass::Composite; }

bool LayerNormOp::writesBeforeItReads() { return true; }

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value x = b.load(getInput());
  auto [normal, mean, rstd] = buildStandardized(b, x, getEps());
  Value y =
      b.add(b.mul(normal, b.expandLeading(b.load(getWeight()), x)), b.expandLeading(b.load(getBias()), x));
  return SmallVector<Value>{b.store(y, getResult()), b.store(mean, getMean()), b.store(rstd, getRstd())};
}

//===----------------------------------------------------------------------===//
// LayerNormBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult LayerNormBackwardOp::verify() {
  StringRef code = "layer_norm_backward_c1";
  if (failed(verifyMinRank(*this, code, "input", getInput(), 1)))
    return failure();
  return verifyAll({verifyShape(*this, code, "dy", getDy(), getShape(getInput()), "the input's shape"),
                    verifyColumns(*this, code, "weight", getWeight(), getInput()),
                    verifyStatistic(*this, code, "mean", getMean(), getInput()),
                    verifyStatistic(*this, code, "rstd", getRstd(), getInput()),
                    verifyShape(*this, code, "dx", getDx(), getShape(getInput()), "the input's shape"),
                    verifyColumns(*this, code, "dweight", getDweight(), getInput()),
                    verifyColumns(*this, code, "dbias", getDbias(), getInput())});
}

RuleAttr LayerNormBackwardOp::getShardingRule() { return buildNormRule(*this, {{0}}); }

LogicalResult LayerNormBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                             InterpreterContext &) {
  const Tensor &dy = operands[0], &x = operands[1], &w = operands[2], &mean = operands[3],
               &rstd = operands[4];
  int64_t columns = w.size();
  results[1].values.assign(columns, 0.0);
  results[2].values.assign(columns, 0.0);
  for (int64_t row = 0; row < rstd.size(); ++row) {
    const double *g = &dy.values[row * columns], *in = &x.values[row * columns];
    double r = rstd.values[row], sum = 0, dot = 0;
    auto normal = [&](int64_t i) { return (in[i] - mean.values[row]) * r; };
    for (int64_t i = 0; i < columns; ++i) {
      sum += w.values[i] * g[i];
      dot += w.values[i] * g[i] * normal(i);
      results[1].values[i] += g[i] * normal(i);
      results[2].values[i] += g[i];
    }
    for (int64_t i = 0; i < columns; ++i)
      results[0].values[row * columns + i] = r * (w.values[i] * g[i] - (sum + normal(i) * dot) / columns);
  }
  return success();
}

OpClass LayerNormBackwardOp::getOpClass() { return OpClass::Composite; }

bool LayerNormBackwardOp::mayWidenResults() { return true; }

// Gradients of weights are sums over rows.
bool LayerNormBackwardOp::addsUpInMemory(unsigned result) { return result > 0; }

FailureOr<SmallVector<Value>> LayerNormBackwardOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value dy = b.load(getDy()), x = b.load(getInput());
  Value rows = b.expandLast(b.load(getRstd()), x);
  Value normal = b.mul(b.sub(x, b.expandLast(b.load(getMean()), x)), rows);
  Value scaled = b.mul(dy, b.expandLeading(b.load(getWeight()), x));
  Value dx = buildStandardizedBackward(b, scaled, normal, rows);
  SmallVector<int64_t> leading = countUp(getShape(getInput()).size() - 1);
  Value dweight = b.reduce(ReduceKind::Sum, b.mul(dy, normal), leading);
  Value dbias = b.reduce(ReduceKind::Sum, dy, leading);
  return SmallVector<Value>{b.store(dx, getDx()), b.store(dweight, getDweight()), b.store(dbias, getDbias())};
}

//===----------------------------------------------------------------------===//
// StandardizeOp
//===----------------------------------------------------------------------===//

LogicalResult StandardizeOp::verify() {
  StringRef code = "standardize_c1", statistics = "standardize_c2";
  if (failed(verifyMinRank(*this, code, "input", getInput(), 1)))
    return failure();
  return verifyAll(
      {verifyShape(*this, code, "result", getResult(), getShape(getInput()), "the input's shape"),
       verifyStatistic(*this, statistics, "mean", getMean(), getInput()),
       verifyStatistic(*this, statistics, "rstd", getRstd(), getInput())});
}

RuleAttr StandardizeOp::getShardingRule() { return buildNormRule(*this); }

LogicalResult StandardizeOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                           SmallVectorImpl<Value> &operandCotangents) {
  if (failed(refuseStatisticCotangents(*this, cotangents)))
    return failure();
  if (cotangents[0] && needed[0])
    operandCotangents[0] = builder.create<StandardizeBackwardOp>(
        getLoc(), getInput().getType(), cotangents[0], getInput(), getMean(), getRstd());
  return success();
}

LogicalResult StandardizeOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                       InterpreterContext &) {
  const Tensor &x = operands[0];
  int64_t columns = x.shape().back();
  for (int64_t row = 0; row < results[1].size(); ++row) {
    const double *in = &x.values[row * columns];
    auto [mean, rstd] = findMeanAndRstd(in, columns, getEps());
    results[1].values[row] = mean;
    results[2].values[row] = rstd;
    for (int64_t i = 0; i < columns; ++i)
      results[0].values[row * columns + i] = (in[i] - mean) * rstd;
  }
  return success();
}

OpClass StandardizeOp::getOpClass() { return OpClass::Composite; }

bool StandardizeOp::writesBeforeItReads() { return true; }

FailureOr<SmallVector<Value>> StandardizeOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value x = b.load(getInput());
  auto [y, mean, rstd] = buildStandardized(b, x, getEps());
  return SmallVector<Value>{b.store(y, getResult()), b.store(mean, getMean()), b.store(rstd, getRstd())};
}

//===----------------------------------------------------------------------===//
// StandardizeBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult StandardizeBackwardOp::verify() {
  StringRef code = "standardize_backward_c1";
  if (failed(verifyMinRank(*this, code, "input", getInput(), 1)))
    return failure();
  return verifyAll({verifyShape(*this, code, "dy", getDy(), getShape(getInput()), "the input's shape"),
                    verifyStatistic(*this, code, "mean", getMean(), getInput()),
                    verifyStatistic(*this, code, "rstd", getRstd(), getInput()),
                    verifyShape(*this, code, "dx", getDx(), getShape(getInput()), "the input's shape")});
}

RuleAttr StandardizeBackwardOp::getShardingRule() { return buildNormRule(*this, {{0}}); }

LogicalResult StandardizeBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                               InterpreterContext &) {
  const Tensor &dy = operands[0], &x = operands[1], &mean = operands[2], &rstd = operands[3];
  int64_t columns = x.shape().back();
  for (int64_t row = 0; row < rstd.size(); ++row) {
    const double *g = &dy.values[row * columns], *in = &x.values[row * columns];
    double r = rstd.values[row], sum = 0, dot = 0;
    auto normal = [&](int64_t i) { return (in[i] - mean.values[row]) * r; };
    for (int64_t i = 0; i < columns; ++i) {
      sum += g[i];
      dot += g[i] * normal(i);
    }
    for (int64_t i = 0; i < columns; ++i)
      results[0].values[row * columns + i] = r * (g[i] - (sum + normal(i) * dot) / columns);
  }
  return success();
}

OpClass StandardizeBackwardOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> StandardizeBackwardOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value dy = b.load(getDy()), x = b.load(getInput());
  Value rows = b.expandLast(b.load(getRstd()), x);
  Value normal = b.mul(b.sub(x, b.expandLast(b.load(getMean()), x)), rows);
  return SmallVector<Value>{b.store(buildStandardizedBackward(b, dy, normal, rows), getDx())};
}

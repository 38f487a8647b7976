//===- CrossEntropyOps.cpp - the loss -------------------------------------------------------------------===//
#include "ComputeBuilder.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include "par/Dialect/Par/IR/Targets.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/CrossEntropyOps.cpp.inc"

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// All but the classes.
static ArrayRef<int64_t> tokenShape(Value logits) { return getShape(logits).drop_back(); }

static LogicalResult verifyTokens(Operation *op, StringRef code, Value logits, int64_t classes,
                                  ArrayRef<std::pair<StringRef, Value>> perToken) {
  if (failed(verifyMinRank(op, code, "logits", logits, 1)))
    return failure();
  bool valid = true;
  for (auto [name, value] : perToken)
    valid &= succeeded(
        verifyShape(op, code, name, value, tokenShape(logits), "all but the last dimension of the logits"));
  if (classes <= 0)
    return op->emitOpError(code) << ": classes is " << classes << ", expected more than 0";
  return success(valid);
}

/// Per-token operands and results share the leading factors with the logits (operand `logits`, or result 0 if
/// −1); the classes are `kind`.
static RuleAttr buildTokenRule(Operation *op, int64_t logits, FactorKind kind,
                               ArrayRef<SmallVector<int64_t>> linear) {
  RuleBuilder rule(op);
  Value value = op->getOperand(logits);
  ArrayRef<int64_t> shape = getShape(value);
  int64_t rank = shape.size();
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool classes = dim == rank - 1;
    int64_t factor = rule.addFactor(shape[dim], classes ? kind : FactorKind::PassThrough);
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      if (static_cast<int64_t>(getShape(operand).size()) >=
              (classes ? rank : std::max<int64_t>(rank - 1, 1)) &&
          (!classes || getShape(operand).size() == shape.size()))
        rule.mapOperand(number, dim, factor);
    for (auto [number, result] : llvm::enumerate(op->getResults()))
      if (!classes || getShape(result).size() == shape.size())
        rule.mapResult(number, dim, factor);
  }
  for (ArrayRef<int64_t> set : linear)
    rule.addLinear(set);
  return rule.build();
}

//===----------------------------------------------------------------------===//
// CrossEntropyOp
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyTokens(*this, "cross_entropy_c1", getLogits(), 1,
                          {{"targets", getTargets()}, {"loss", getLoss()}, {"lse", getLse()}})))
    return failure();
  LogicalResult types = verifyElementType(*this, "cross_entropy_c1", "loss", getLoss(), "lse", getLse());
  int64_t size = getShape(getLogits()).back(), classes = getClasses();
  if (classes <= 0 || classes > size)
    return emitOpError("cross_entropy_c2: classes is ")
           << classes << ", expected 1 to the last dimension's size " << size;
  return types;
}

RuleAttr CrossEntropyOp::getShardingRule() { return buildTokenRule(*this, 0, FactorKind::Permutation, {}); }

/// `classes` says what is padding.
std::optional<double> CrossEntropyOp::getPaddingNeutral(unsigned) { return std::nullopt; }

/// loss = lse − picked where the target counts.
static Value buildLoss(OpBuilder &builder, Location loc, Value targets, Value lse, Value picked) {
  auto ids = cast<RankedTensorType>(targets.getType());
  Value counts = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, targets,
                                               buildSplat(builder, loc, ids, kIgnoredTarget));
  Value difference = builder.create<arith::SubFOp>(loc, lse, picked);
  return builder.create<arith::SelectOp>(
      loc, counts, difference, buildSplat(builder, loc, cast<RankedTensorType>(lse.getType()), 0.0));
}

FailureOr<SmallVector<Value>> CrossEntropyOp::localize(Localizer &localizer) {
  int64_t vocab = localizer.rule.getOperandFactor(0, getShape(getLogits()).size() - 1);
  if (!localizer.isSharded(vocab))
    return localizer.clone();
  OpBuilder &b = localizer.builder;
  Value logits = localizer.operands[0], targets = localizer.operands[1];
  Type type = localizer.resultTypes[1];
  Value offset = localizer.offset(vocab, getShape(logits).back());
  auto shard = b.create<CrossEntropyShardOp>(getLoc(), type, type, logits, targets, offset, getClasses());
  Value maximum = localizer.allReduce(ReduceKind::Max, shard.getLse(), vocab);
  // A rank that holds only padding has lse −∞ and adds exp(−∞) = 0.
  Value weight = b.create<math::ExpOp>(getLoc(), b.create<arith::SubFOp>(getLoc(), shard.getLse(), maximum));
  Value sum = localizer.allReduce(ReduceKind::Sum, weight, vocab);
  Value picked = localizer.allReduce(ReduceKind::Sum, shard.getPicked(), vocab);
  Value lse = b.create<arith::AddFOp>(getLoc(), maximum, b.create<math::LogOp>(getLoc(), sum));
  return SmallVector<Value>{buildLoss(b, getLoc(), targets, lse, picked), lse};
}

LogicalResult CrossEntropyOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                            SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[1])
    return emitOpError("the logarithm of the denominator has no derivative of its own; use the loss");
  if (cotangents[0] && needed[0])
    operandCotangents[0] =
        builder.create<CrossEntropyBackwardOp>(getLoc(), getLogits().getType(), cotangents[0], getLogits(),
                                               getTargets(), getLse(), nullptr, getClasses());
  return success();
}

/// log Σ exp over the first `count` of a row; −∞ for none.
static double logSumExp(const double *row, int64_t count) {
  double maximum = -kInfinity, sum = 0;
  for (int64_t i = 0; i < count; ++i)
    maximum = std::max(maximum, row[i]);
  if (maximum == -kInfinity)
    return -kInfinity;
  for (int64_t i = 0; i < count; ++i)
    sum += std::exp(row[i] - maximum);
  return maximum + std::log(sum);
}

LogicalResult CrossEntropyOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                        InterpreterContext &) {
  int64_t width = operands[0].shape().back(), classes = getClasses();
  for (int64_t token = 0; token < operands[1].size(); ++token) {
    const double *row = &operands[0].values[token * width];
    auto target = static_cast<int64_t>(operands[1].values[token]);
    double lse = logSumExp(row, classes);
    results[1].values[token] = lse;
    results[0].values[token] =
        target == kIgnoredTarget ? 0.0 : lse - (target >= 0 && target < classes ? row[target] : 0.0);
  }
  return success();
}

/// Per logit a maximum, a difference, an exponential and a sum.
static double countLogits(Value logits, double each) {
  return each * static_cast<double>(cast<RankedTensorType>(logits.getType()).getNumElements());
}
double CrossEntropyOp::getFlops() { return countLogits(getLogits(), 4); }
double CrossEntropyShardOp::getFlops() { return countLogits(getLogits(), 4); }
double CrossEntropyBackwardOp::getFlops() { return countLogits(getLogits(), 4); }

OpClass CrossEntropyOp::getOpClass() { return OpClass::Composite; }

/// Numbers of the classes held here: offset + index along the last dimension.
static Value buildClassNumbers(OpBuilder &builder, Location loc, RankedTensorType logits, Value offset) {
  auto type = logits.clone(builder.getI32Type());
  Value numbers = builder.create<IotaOp>(loc, type, logits.getRank() - 1);
  if (!offset)
    return numbers;
  Value offsets = builder.create<ExpandOp>(loc, type, offset, countUp(type.getRank()));
  return builder.create<arith::AddIOp>(loc, numbers, offsets);
}

/// Which of the numbers are classes; null where there is nothing else.
static Value buildValid(OpBuilder &builder, Location loc, Value numbers, Value offset, int64_t classes) {
  auto type = cast<RankedTensorType>(numbers.getType());
  if (!offset && classes == type.getShape().back())
    return nullptr;
  return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, numbers,
                                       buildSplat(builder, loc, type, classes));
}

/// log Σ exp over the valid classes, and the target's logit or 0.
static std::pair<Value, Value> buildShard(ComputeBuilder &b, Value logits, Value targets, Value offset,
                                          int64_t classes) {
  OpBuilder &builder = b.builder;
  auto type = cast<RankedTensorType>(logits.getType());
  Value numbers = buildClassNumbers(builder, b.loc, type, offset);
  auto ids = cast<RankedTensorType>(numbers.getType());
  Value x = b.load(logits);
  Value valid = buildValid(builder, b.loc, numbers, offset, classes);
  Value masked = valid ? builder.create<arith::SelectOp>(b.loc, valid, x, b.splatLike(x, -kInfinity)) : x;
  int64_t last = type.getRank() - 1;
  Value maximum = b.reduce(ReduceKind::Max, masked, {last});
  // Nothing valid: the maximum is −∞ and would make ∞ − ∞; any finite number in its place leaves the sum 0.
  Value any = builder.create<arith::CmpFOp>(b.loc, arith::CmpFPredicate::OGT, maximum,
                                            b.splatLike(maximum, -kInfinity));
  Value shift = builder.create<arith::SelectOp>(b.loc, any, maximum, b.splatLike(maximum, 0.0));
  Value sum = b.sumLast(b.exp(b.sub(masked, b.expandLast(shift, x))));
  Value logarithm = builder.create<math::LogOp>(b.loc, sum);
  Value finite = b.add(shift, logarithm);
  Value lse = builder.create<arith::SelectOp>(b.loc, any, finite, b.splatLike(finite, -kInfinity));
  Value wanted = builder.create<ExpandOp>(b.loc, ids, targets, ArrayRef<int64_t>{last});
  Value equal = builder.create<arith::CmpIOp>(b.loc, arith::CmpIPredicate::eq, numbers, wanted);
  Value hit = valid ? builder.create<arith::AndIOp>(b.loc, equal, valid) : equal;
  Value picked = b.sumLast(builder.create<arith::SelectOp>(b.loc, hit, x, b.splatLike(x, 0.0)));
  return {lse, picked};
}

/// Targets as i32, the type of class numbers.
static Value toI32(OpBuilder &builder, Location loc, Value targets) {
  auto type = cast<RankedTensorType>(targets.getType());
  if (type.getElementType().isInteger(32))
    return targets;
  return builder.create<arith::TruncIOp>(loc, type.clone(builder.getI32Type()), targets);
}

FailureOr<SmallVector<Value>> CrossEntropyOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value targets = toI32(builder, getLoc(), getTargets());
  auto [lse, picked] = buildShard(b, getLogits(), targets, nullptr, getClasses());
  Value loss = buildLoss(builder, getLoc(), targets, lse, picked);
  return SmallVector<Value>{b.store(loss, getLoss()), b.store(lse, getLse())};
}

//===----------------------------------------------------------------------===//
// CrossEntropyShardOp
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyShardOp::verify() {
  return verifyTokens(*this, "cross_entropy_shard_c1", getLogits(), getClasses(),
                      {{"targets", getTargets()}, {"lse", getLse()}, {"picked", getPicked()}});
}

RuleAttr CrossEntropyShardOp::getShardingRule() {
  return buildTokenRule(*this, 0, FactorKind::NeedReplication, {});
}

LogicalResult CrossEntropyShardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                             InterpreterContext &) {
  int64_t width = operands[0].shape().back(), offset = static_cast<int64_t>(operands[2].scalar());
  int64_t held = std::clamp<int64_t>(static_cast<int64_t>(getClasses()) - offset, 0, width);
  for (int64_t token = 0; token < operands[1].size(); ++token) {
    const double *row = &operands[0].values[token * width];
    int64_t index = static_cast<int64_t>(operands[1].values[token]) - offset;
    results[0].values[token] = logSumExp(row, held);
    results[1].values[token] = index >= 0 && index < held ? row[index] : 0.0;
  }
  return success();
}

OpClass CrossEntropyShardOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> CrossEntropyShardOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  auto [lse, picked] =
      buildShard(b, getLogits(), toI32(builder, getLoc(), getTargets()), getOffset(), getClasses());
  return SmallVector<Value>{b.store(lse, getLse()), b.store(picked, getPicked())};
}

//===----------------------------------------------------------------------===//
// CrossEntropyBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyBackwardOp::verify() {
  StringRef code = "cross_entropy_backward_c1";
  return verifyAll(
      {verifyShape(*this, code, "dlogits", getDlogits(), getShape(getLogits()), "the logits' shape"),
       verifyTokens(*this, code, getLogits(), getClasses(),
                    {{"dloss", getDloss()}, {"targets", getTargets()}, {"lse", getLse()}})});
}

RuleAttr CrossEntropyBackwardOp::getShardingRule() {
  return buildTokenRule(*this, 1, FactorKind::PassThrough, {{0}});
}

/// Tokens that are padding have dloss 0.
bool CrossEntropyBackwardOp::mapsZeroToZero() { return true; }

/// `classes` says what is padding.
bool CrossEntropyBackwardOp::clearsPadding(int64_t factor) {
  return factor == getShardingRule().getOperandFactor(1, getShape(getLogits()).size() - 1);
}

FailureOr<SmallVector<Value>> CrossEntropyBackwardOp::localize(Localizer &localizer) {
  int64_t vocab = localizer.rule.getOperandFactor(1, getShape(getLogits()).size() - 1);
  if (!localizer.isSharded(vocab))
    return localizer.clone();
  Value offset = localizer.offset(vocab, getShape(localizer.operands[1]).back());
  auto local = localizer.builder.create<CrossEntropyBackwardOp>(
      getLoc(), localizer.resultTypes[0], localizer.operands[0], localizer.operands[1], localizer.operands[2],
      localizer.operands[3], offset, getClasses());
  return SmallVector<Value>{local.getDlogits()};
}

LogicalResult CrossEntropyBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                                InterpreterContext &) {
  int64_t width = operands[1].shape().back(), classes = getClasses();
  int64_t offset = operands.size() > 4 ? static_cast<int64_t>(operands[4].scalar()) : 0;
  for (int64_t token = 0; token < operands[2].size(); ++token) {
    auto target = static_cast<int64_t>(operands[2].values[token]);
    for (int64_t i = 0; i < width; ++i) {
      bool counts = target != kIgnoredTarget && offset + i < classes;
      double probability =
          counts ? std::exp(operands[1].values[token * width + i] - operands[3].values[token]) : 0.0;
      results[0].values[token * width + i] =
          counts ? (probability - (offset + i == target ? 1.0 : 0.0)) * operands[0].values[token] : 0.0;
    }
  }
  return success();
}

OpClass CrossEntropyBackwardOp::getOpClass() { return OpClass::Composite; }

bool CrossEntropyBackwardOp::readsInPlace(unsigned operand) { return hasFactorsOfResult(*this, operand); }

FailureOr<SmallVector<Value>> CrossEntropyBackwardOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value x = b.load(getLogits()), targets = toI32(builder, getLoc(), getTargets());
  Value numbers = buildClassNumbers(builder, getLoc(), cast<RankedTensorType>(x.getType()), getOffset());
  auto ids = cast<RankedTensorType>(numbers.getType());
  int64_t last = ids.getRank() - 1;
  auto compare = [&](arith::CmpIPredicate predicate, Value left, Value right) -> Value {
    return builder.create<arith::CmpIOp>(getLoc(), predicate, left, right);
  };
  Value wanted = builder.create<ExpandOp>(getLoc(), ids, targets, ArrayRef<int64_t>{last});
  Value valid = buildValid(builder, getLoc(), numbers, getOffset(), getClasses());
  Value counts =
      compare(arith::CmpIPredicate::ne, wanted, buildSplat(builder, getLoc(), ids, kIgnoredTarget));
  if (valid)
    counts = builder.create<arith::AndIOp>(getLoc(), valid, counts);
  Value hit = compare(arith::CmpIPredicate::eq, numbers, wanted);
  Value probability = b.exp(b.sub(x, b.expandLast(b.load(getLse()), x)));
  Value onehot = builder.create<arith::SelectOp>(getLoc(), hit, b.splatLike(x, 1.0), b.splatLike(x, 0.0));
  Value gradient = b.mul(b.sub(probability, onehot), b.expandLast(b.load(getDloss()), x));
  Value result = builder.create<arith::SelectOp>(getLoc(), counts, gradient, b.splatLike(x, 0.0));
  return SmallVector<Value>{b.store(result, getDlogits())};
}

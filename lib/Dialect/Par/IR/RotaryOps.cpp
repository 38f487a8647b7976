//===- RotaryOps.cpp - rotary position embedding --------------------------------------------------------===//
#include "ComputeBuilder.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/RotaryOps.cpp.inc"

/// The dimension that positions number.
static constexpr int64_t kSequence = 1;

LogicalResult RotaryOp::verify() {
  if (failed(verifyMinRank(*this, "rotary_c1", "input", getInput(), 3)))
    return failure();
  int64_t size = getShape(getInput()).back(), count = getFrequencies().size();
  if (size % 2 != 0)
    return emitOpError("rotary_c1: the input's last dimension is ") << size << ", expected an even size";
  LogicalResult verdict =
      verifyShape(*this, "rotary_c3", "positions", getPositions(), getShape(getInput())[kSequence],
                  "a position per row of the input's dimension 1");
  if (count != size / 2)
    verdict = emitOpError("rotary_c2: ")
              << count << " frequencies, expected " << size / 2 << ": half of the input's last dimension";
  if (getResult().getType() != getInput().getType())
    verdict = emitOpError("rotary_c4: the result has type ")
              << getResult().getType() << ", expected the input's type " << getInput().getType();
  return verdict;
}

RuleAttr RotaryOp::getShardingRule() {
  RuleBuilder rule(*this);
  ArrayRef<int64_t> shape = getShape(getInput());
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    int64_t factor =
        rule.addFactor(shape[dim], dim == rank - 1 ? FactorKind::NeedReplication : FactorKind::PassThrough);
    rule.mapOperand(0, dim, factor).mapResult(0, dim, factor);
    if (dim == kSequence)
      rule.mapOperand(1, 0, factor);
  }
  return rule.addLinear({0}).build();
}

/// A rotation's transpose is the rotation by the negated angle.
LogicalResult RotaryOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] = builder.create<RotaryOp>(getLoc(), getInput().getType(), cotangents[0],
                                                    getPositions(), getFrequencies(), !getTransposed());
  return success();
}

bool RotaryOp::isCheapToRecompute() { return true; }

LogicalResult RotaryOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  const Tensor &x = operands[0], &positions = operands[1];
  ArrayRef<double> frequencies = getFrequencies();
  int64_t half = frequencies.size(), sequence = x.shape()[kSequence];
  int64_t heads = x.size() / (x.shape()[0] * sequence * 2 * half);
  double sign = getTransposed() ? -1.0 : 1.0;
  for (int64_t vector = 0; vector < x.size() / (2 * half); ++vector) {
    double position = positions.values[vector / heads % sequence];
    const double *in = &x.values[vector * 2 * half];
    double *out = &results[0].values[vector * 2 * half];
    for (int64_t i = 0; i < half; ++i) {
      double angle = sign * position * frequencies[i], cosine = std::cos(angle), sine = std::sin(angle);
      out[i] = in[i] * cosine - in[i + half] * sine;
      out[i + half] = in[i + half] * cosine + in[i] * sine;
    }
  }
  return success();
}

KernelKind RotaryOp::getKernelKind() { return KernelKind::Composite; }

/// tensor<n> with element i = frequencies[i], from an iota and splats alone, since kernels have no other
/// constants. A geometric series (the plain rotary embedding) is first·exp(i·log ratio); any other is a chain
/// of selections.
static Value buildFrequencies(ComputeBuilder &b, ArrayRef<double> frequencies) {
  int64_t count = frequencies.size();
  auto type = RankedTensorType::get({count}, b.getType());
  auto splat = [&](double value) { return buildSplat(b.builder, b.loc, type, value); };
  auto indexType = RankedTensorType::get({count}, b.builder.getI32Type());
  Value index = b.builder.create<IotaOp>(b.loc, indexType, 0);
  double first = frequencies.front(), ratio = count > 1 ? frequencies[1] / first : 1.0;
  constexpr double kRounding = 1e-9;
  bool geometric = first > 0 && ratio > 0;
  for (auto [i, frequency] : llvm::enumerate(frequencies))
    geometric &= std::abs(frequency / (first * std::pow(ratio, static_cast<double>(i))) - 1.0) < kRounding;
  if (geometric)
    return b.scale(b.exp(b.scale(b.load(index), std::log(ratio))), first);
  Value values = splat(frequencies.back());
  for (int64_t i = count - 2; i >= 0; --i) {
    Value limit = buildSplat(b.builder, b.loc, indexType, static_cast<double>(i));
    Value upTo = b.builder.create<arith::CmpIOp>(b.loc, arith::CmpIPredicate::sle, index, limit);
    values = b.builder.create<arith::SelectOp>(b.loc, upTo, splat(frequencies[i]), values);
  }
  return values;
}

FailureOr<SmallVector<Value>> RotaryOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  ArrayRef<int64_t> shape = getShape(getInput());
  int64_t rank = shape.size(), half = shape.back() / 2, sequence = shape[kSequence];
  Value frequencies = buildFrequencies(b, getFrequencies());
  Value angle = b.mul(b.expand(b.load(getPositions()), {sequence, half}, {1}),
                      b.expand(frequencies, {sequence, half}, {0}));
  // From [sequence, half] to the shape of half a tensor.
  SmallVector<int64_t> halfShape(shape), missing;
  halfShape.back() = half;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (dim != kSequence)
      missing.push_back(dim);
  Value cosine = b.expand(b.cos(angle), halfShape, missing),
        sine = b.expand(b.sin(angle), halfShape, missing);
  if (getTransposed())
    sine = b.neg(sine);
  Value x = b.load(getInput());
  auto halfType = RankedTensorType::get(halfShape, b.getType());
  SmallVector<int64_t> begin(rank, 0), middle(rank, 0);
  middle.back() = half;
  Value low = builder.create<SliceOp>(getLoc(), halfType, x, begin);
  Value high = builder.create<SliceOp>(getLoc(), halfType, x, middle);
  Value newLow = b.sub(b.mul(low, cosine), b.mul(high, sine));
  Value newHigh = b.add(b.mul(high, cosine), b.mul(low, sine));
  Value y = builder.create<ConcatOp>(getLoc(), x.getType(), ValueRange{newLow, newHigh}, rank - 1);
  return SmallVector<Value>{b.store(y, getResult())};
}

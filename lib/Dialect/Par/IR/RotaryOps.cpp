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

/// What is rotated: pairs, in rows that positions number.
static LogicalResult verifyPairs(Operation *op, StringRef code, Value input) {
  if (failed(verifyMinRank(op, code, "input", input, 3)))
    return failure();
  if (int64_t size = getShape(input).back(); size % 2 != 0)
    return op->emitOpError() << code << ": the input's last dimension is " << size
                             << ", expected an even size";
  return success();
}

static LogicalResult verifyUnchangedType(Operation *op, StringRef code, Value input) {
  if (Type type = op->getResult(0).getType(); type != input.getType())
    return op->emitOpError() << code << ": the result has type " << type << ", expected the input's type "
                             << input.getType();
  return success();
}

/// Dimensions of what is rotated; the operands behind it number its rows, or have a row for each.
static RuleBuilder &mapRows(RuleBuilder &rule, ArrayRef<int64_t> shape, unsigned operands) {
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    int64_t factor =
        rule.addFactor(shape[dim], dim == rank - 1 ? FactorKind::NeedReplication : FactorKind::PassThrough);
    rule.mapOperand(0, dim, factor).mapResult(0, dim, factor);
    for (unsigned operand = 1; dim == kSequence && operand < operands; ++operand)
      rule.mapOperand(operand, 0, factor);
  }
  return rule;
}

LogicalResult RotaryOp::verify() {
  if (failed(verifyPairs(*this, "rotary_c1", getInput())))
    return failure();
  int64_t size = getShape(getInput()).back(), count = getFrequencies().size();
  LogicalResult verdict =
      verifyShape(*this, "rotary_c3", "positions", getPositions(), getShape(getInput())[kSequence],
                  "a position per row of the input's dimension 1");
  if (count != size / 2)
    verdict = emitOpError("rotary_c2: ")
              << count << " frequencies, expected " << size / 2 << ": half of the input's last dimension";
  return verifyAll({verdict, verifyUnchangedType(*this, "rotary_c4", getInput())});
}

RuleAttr RotaryOp::getShardingRule() {
  RuleBuilder rule(*this);
  return mapRows(rule, getShape(getInput()), /*operands=*/2).addLinear({0}).build();
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

OpClass RotaryOp::getOpClass() { return OpClass::Composite; }

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

/// cos and sin of position · frequency: [sequence, half].
static std::pair<Value, Value> buildTables(ComputeBuilder &b, Value positions, ArrayRef<double> frequencies) {
  int64_t sequence = getShape(positions)[0], half = frequencies.size();
  Value ofColumns = buildFrequencies(b, frequencies);
  Value angle =
      b.mul(b.expand(b.load(positions), {sequence, half}, {1}), b.expand(ofColumns, {sequence, half}, {0}));
  return {b.cos(angle), b.sin(angle)};
}

/// `input` rotated by cosines and sines of [sequence, half].
static Value buildRotation(ComputeBuilder &b, Value input, std::pair<Value, Value> tables, bool transposed) {
  ArrayRef<int64_t> shape = getShape(input);
  int64_t rank = shape.size(), half = shape.back() / 2;
  // From [sequence, half] to the shape of half a tensor.
  SmallVector<int64_t> halfShape(shape), missing;
  halfShape.back() = half;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (dim != kSequence)
      missing.push_back(dim);
  Value cosine = b.expand(tables.first, halfShape, missing),
        sine = b.expand(tables.second, halfShape, missing);
  if (transposed)
    sine = b.neg(sine);
  Value x = b.load(input);
  auto halfType = RankedTensorType::get(halfShape, b.getType());
  SmallVector<int64_t> begin(rank, 0), middle(rank, 0);
  middle.back() = half;
  Value low = b.builder.create<SliceOp>(b.loc, halfType, x, begin);
  Value high = b.builder.create<SliceOp>(b.loc, halfType, x, middle);
  Value newLow = b.sub(b.mul(low, cosine), b.mul(high, sine));
  Value newHigh = b.add(b.mul(high, cosine), b.mul(low, sine));
  return b.builder.create<ConcatOp>(b.loc, x.getType(), ValueRange{newLow, newHigh}, rank - 1);
}

FailureOr<SmallVector<Value>> RotaryOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value y = buildRotation(b, getInput(), buildTables(b, getPositions(), getFrequencies()), getTransposed());
  return SmallVector<Value>{b.store(y, getResult())};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

LogicalResult RotaryTablesOp::verify() {
  SmallVector<int64_t> shape(getShape(getPositions()));
  shape.push_back(static_cast<int64_t>(getFrequencies().size()));
  constexpr StringLiteral reason = "a row per position and a column per frequency";
  return verifyAll({verifyMinRank(*this, "rotary_tables_c1", "positions", getPositions(), 1),
                    verifyShape(*this, "rotary_tables_c1", "cosines", getCosines(), shape, reason),
                    verifyShape(*this, "rotary_tables_c1", "sines", getSines(), shape, reason)});
}

RuleAttr RotaryTablesOp::getShardingRule() {
  RuleBuilder rule(*this);
  ArrayRef<int64_t> shape = getShape(getCosines());
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    int64_t factor =
        rule.addFactor(shape[dim], dim == rank - 1 ? FactorKind::NeedReplication : FactorKind::PassThrough);
    if (dim < rank - 1)
      rule.mapOperand(0, dim, factor);
    rule.mapResult(0, dim, factor).mapResult(1, dim, factor);
  }
  return rule.build();
}

LogicalResult RotaryTablesOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                        InterpreterContext &) {
  ArrayRef<double> frequencies = getFrequencies();
  size_t next = 0;
  for (double position : operands[0].values)
    for (double frequency : frequencies) {
      results[0].values[next] = std::cos(position * frequency);
      results[1].values[next++] = std::sin(position * frequency);
    }
  return success();
}

OpClass RotaryTablesOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> RotaryTablesOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  auto [cosines, sines] = buildTables(b, getPositions(), getFrequencies());
  return SmallVector<Value>{b.store(cosines, getCosines()), b.store(sines, getSines())};
}

//===----------------------------------------------------------------------===//
// Rotation by tables
//===----------------------------------------------------------------------===//

LogicalResult RotateOp::verify() {
  if (failed(verifyPairs(*this, "rotate_c1", getInput())))
    return failure();
  ArrayRef<int64_t> shape = getShape(getInput());
  int64_t expected[] = {shape[kSequence], shape.back() / 2};
  constexpr StringLiteral reason = "rows of the input's dimension 1 and half of its last one";
  return verifyAll({verifyShape(*this, "rotate_c2", "cosines", getCosines(), expected, reason),
                    verifyShape(*this, "rotate_c2", "sines", getSines(), expected, reason),
                    verifyUnchangedType(*this, "rotate_c3", getInput())});
}

RuleAttr RotateOp::getShardingRule() {
  RuleBuilder rule(*this);
  mapRows(rule, getShape(getInput()), /*operands=*/3);
  int64_t column = rule.addFactor(getShape(getInput()).back() / 2, FactorKind::NeedReplication);
  return rule.mapOperand(1, 1, column).mapOperand(2, 1, column).addLinear({0}).build();
}

LogicalResult RotateOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  const Tensor &x = operands[0], &cosines = operands[1], &sines = operands[2];
  int64_t half = cosines.shape()[1], sequence = x.shape()[kSequence];
  int64_t heads = x.size() / (x.shape()[0] * sequence * 2 * half);
  for (int64_t vector = 0; vector < x.size() / (2 * half); ++vector) {
    int64_t row = vector / heads % sequence;
    const double *in = &x.values[vector * 2 * half];
    double *out = &results[0].values[vector * 2 * half];
    for (int64_t i = 0; i < half; ++i) {
      double real = cosines.values[row * half + i], imaginary = sines.values[row * half + i];
      if (getTransposed())
        imaginary = -imaginary;
      out[i] = in[i] * real - in[i + half] * imaginary;
      out[i + half] = in[i + half] * real + in[i] * imaginary;
    }
  }
  return success();
}

OpClass RotateOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> RotateOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value y = buildRotation(b, getInput(), {b.load(getCosines()), b.load(getSines())}, getTransposed());
  return SmallVector<Value>{b.store(y, getResult())};
}

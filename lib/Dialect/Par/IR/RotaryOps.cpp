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

/// Each row of the input has room for `pairs`, which are rotated.
static LogicalResult verifyPairs(Operation *op, StringRef rank, StringRef code, Value input, int64_t pairs) {
  if (failed(verifyMinRank(op, rank, "input", input, 3)))
    return failure();
  if (int64_t size = getShape(input).back(); pairs < 1 || pairs > size / 2)
    return op->emitOpError() << code << ": " << pairs << " frequencies, expected 1 to " << size / 2
                             << ": half of the input's last dimension";
  return success();
}

/// Whether positions, or tables of their cosines, are those of each entry of the batch.
static bool isPerEntry(Operation *op) {
  int64_t columns = isa<RotaryOp>(op) ? 0 : 1;
  return static_cast<int64_t>(getShape(op->getOperand(1)).size()) - columns > kSequence;
}

/// The shape of positions: those of all sequences, or of each entry of the batch.
static ArrayRef<int64_t> getPositionShape(Value input, bool isPerEntry) {
  ArrayRef<int64_t> rows = getShape(input).take_front(kSequence + 1);
  return isPerEntry ? rows : rows.drop_front(kSequence);
}

static LogicalResult verifyUnchangedType(Operation *op, StringRef code, Value input) {
  if (Type type = op->getResult(0).getType(); type != input.getType())
    return op->emitOpError() << code << ": the result has type " << type << ", expected the input's type "
                             << input.getType();
  return success();
}

/// Dimensions of what is rotated; the operands behind it number its rows, or have a row for each.
static RuleBuilder &mapRows(RuleBuilder &rule, Operation *op) {
  ArrayRef<int64_t> shape = getShape(op->getOperand(0));
  bool perEntry = isPerEntry(op);
  for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim) {
    int64_t factor =
        rule.addFactor(shape[dim], dim == rank - 1 ? FactorKind::NeedReplication : FactorKind::PassThrough);
    rule.mapOperand(0, dim, factor).mapResult(0, dim, factor);
    for (unsigned operand = 1; operand < op->getNumOperands(); ++operand)
      if (dim == kSequence || (perEntry && dim < kSequence))
        rule.mapOperand(operand, perEntry ? dim : 0, factor);
  }
  return rule;
}

LogicalResult RotaryOp::verify() {
  if (failed(verifyPairs(*this, "rotary_c1", "rotary_c2", getInput(), getFrequencies().size())))
    return failure();
  return verifyAll({verifyShape(*this, "rotary_c3", "positions", getPositions(),
                                getPositionShape(getInput(), isPerEntry(*this)),
                                "a position per row of the input's dimension 1"),
                    verifyUnchangedType(*this, "rotary_c4", getInput())});
}

RuleAttr RotaryOp::getShardingRule() {
  RuleBuilder rule(*this);
  return mapRows(rule, *this).addLinear({0}).build();
}

/// A rotation's transpose is the rotation by the negated angle.
LogicalResult RotaryOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[0] && needed[0])
    operandCotangents[0] =
        builder.create<RotaryOp>(getLoc(), getInput().getType(), cotangents[0], getPositions(),
                                 getFrequencies(), !getTransposed(), getFactor());
  return success();
}

bool RotaryOp::isCheapToRecompute() { return true; }

/// Calls `rotate` with each row's input, output and number among those that positions number.
static void
forEachRow(Operation *op, const Tensor &x, Tensor &y,
           function_ref<void(ArrayRef<double> in, MutableArrayRef<double> out, int64_t row)> rotate) {
  ArrayRef<int64_t> shape = x.shape();
  int64_t size = shape.back(), rows = shape[0] * shape[kSequence];
  int64_t heads = x.size() / (rows * size);
  for (int64_t vector = 0; vector < rows * heads; ++vector) {
    int64_t row = vector / heads;
    rotate(ArrayRef<double>(x.values).slice(vector * size, size),
           MutableArrayRef<double>(y.values).slice(vector * size, size),
           isPerEntry(op) ? row : row % shape[kSequence]);
  }
}

/// Rotates pair `i` of `pairs`.
static void rotatePair(ArrayRef<double> in, MutableArrayRef<double> out, int64_t i, int64_t pairs,
                       double cosine, double sine) {
  out[i] = in[i] * cosine - in[i + pairs] * sine;
  out[i + pairs] = in[i + pairs] * cosine + in[i] * sine;
}

LogicalResult RotaryOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  ArrayRef<double> frequencies = getFrequencies();
  double sign = getTransposed() ? -1.0 : 1.0, factor = getFactor().convertToDouble();
  forEachRow(
      *this, operands[0], results[0], [&](ArrayRef<double> in, MutableArrayRef<double> out, int64_t row) {
        llvm::copy(in, out.begin());
        for (auto [i, frequency] : llvm::enumerate(frequencies)) {
          double angle = sign * operands[1].values[row] * frequency;
          rotatePair(in, out, i, frequencies.size(), factor * std::cos(angle), factor * std::sin(angle));
        }
      });
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

/// factor · cos and sin of position · frequency: a row per position, a column per frequency.
static std::pair<Value, Value> buildTables(ComputeBuilder &b, Value positions, ArrayRef<double> frequencies,
                                           double factor) {
  SmallVector<int64_t> shape(getShape(positions));
  int64_t columns = shape.size();
  shape.push_back(frequencies.size());
  Value ofColumns = buildFrequencies(b, frequencies);
  Value angle =
      b.mul(b.expand(b.load(positions), shape, {columns}), b.expand(ofColumns, shape, countUp(columns)));
  Value cosines = b.cos(angle), sines = b.sin(angle);
  if (factor == 1.0)
    return {cosines, sines};
  return {b.scale(cosines, factor), b.scale(sines, factor)};
}

/// `input` rotated by tables of cosines and sines.
static Value buildRotation(ComputeBuilder &b, Value input, std::pair<Value, Value> tables, bool transposed) {
  ArrayRef<int64_t> shape = getShape(input), tableShape = getShape(tables.first);
  int64_t rank = shape.size(), pairs = tableShape.back();
  // From the shape of a table to that of half of what is rotated.
  SmallVector<int64_t> halfShape(shape), missing;
  halfShape.back() = pairs;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    if (dim > kSequence || (dim < kSequence && tableShape.size() == 2))
      missing.push_back(dim);
  Value cosine = b.expand(tables.first, halfShape, missing),
        sine = b.expand(tables.second, halfShape, missing);
  if (transposed)
    sine = b.neg(sine);
  Value x = b.load(input);
  auto slice = [&](int64_t begin, int64_t size) {
    SmallVector<int64_t> part(shape), offsets(rank, 0);
    part.back() = size, offsets.back() = begin;
    return b.builder.create<SliceOp>(b.loc, RankedTensorType::get(part, b.getType()), x, offsets);
  };
  Value low = slice(0, pairs), high = slice(pairs, pairs);
  SmallVector<Value> parts{b.sub(b.mul(low, cosine), b.mul(high, sine)),
                           b.add(b.mul(high, cosine), b.mul(low, sine))};
  if (int64_t rest = shape.back() - 2 * pairs)
    parts.push_back(slice(2 * pairs, rest));
  return b.builder.create<ConcatOp>(b.loc, x.getType(), parts, rank - 1);
}

FailureOr<SmallVector<Value>> RotaryOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value y = buildRotation(b, getInput(),
                          buildTables(b, getPositions(), getFrequencies(), getFactor().convertToDouble()),
                          getTransposed());
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
  double factor = getFactor().convertToDouble();
  size_t next = 0;
  for (double position : operands[0].values)
    for (double frequency : frequencies) {
      results[0].values[next] = factor * std::cos(position * frequency);
      results[1].values[next++] = factor * std::sin(position * frequency);
    }
  return success();
}

OpClass RotaryTablesOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> RotaryTablesOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  auto [cosines, sines] = buildTables(b, getPositions(), getFrequencies(), getFactor().convertToDouble());
  return SmallVector<Value>{b.store(cosines, getCosines()), b.store(sines, getSines())};
}

//===----------------------------------------------------------------------===//
// Rotation by tables
//===----------------------------------------------------------------------===//

LogicalResult RotateOp::verify() {
  if (failed(verifyMinRank(*this, "rotate_c2", "cosines", getCosines(), 2)) ||
      failed(verifyPairs(*this, "rotate_c1", "rotate_c2", getInput(), getShape(getCosines()).back())))
    return failure();
  SmallVector<int64_t> expected(getPositionShape(getInput(), isPerEntry(*this)));
  expected.push_back(getShape(getCosines()).back());
  constexpr StringLiteral reason = "rows of the input's dimension 1 and a column per pair";
  return verifyAll({verifyShape(*this, "rotate_c2", "cosines", getCosines(), expected, reason),
                    verifyShape(*this, "rotate_c2", "sines", getSines(), expected, reason),
                    verifyUnchangedType(*this, "rotate_c3", getInput())});
}

RuleAttr RotateOp::getShardingRule() {
  RuleBuilder rule(*this);
  mapRows(rule, *this);
  int64_t dim = getShape(getCosines()).size() - 1;
  int64_t column = rule.addFactor(getShape(getCosines()).back(), FactorKind::NeedReplication);
  return rule.mapOperand(1, dim, column).mapOperand(2, dim, column).addLinear({0}).build();
}

LogicalResult RotateOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                  InterpreterContext &) {
  const Tensor &cosines = operands[1], &sines = operands[2];
  int64_t pairs = cosines.shape().back();
  double sign = getTransposed() ? -1.0 : 1.0;
  forEachRow(*this, operands[0], results[0],
             [&](ArrayRef<double> in, MutableArrayRef<double> out, int64_t row) {
               llvm::copy(in, out.begin());
               for (int64_t i = 0; i < pairs; ++i)
                 rotatePair(in, out, i, pairs, cosines.values[row * pairs + i],
                            sign * sines.values[row * pairs + i]);
             });
  return success();
}

OpClass RotateOp::getOpClass() { return OpClass::Composite; }

FailureOr<SmallVector<Value>> RotateOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value y = buildRotation(b, getInput(), {b.load(getCosines()), b.load(getSines())}, getTransposed());
  return SmallVector<Value>{b.store(y, getResult())};
}

//===- RmsNormOps.cpp - normalisation by the root of the mean square ------------------------------------===//
#include "ComputeBuilder.h"
#include "NormOps.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/RmsNormOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

namespace {
/// The dimensions of an input are rows or columns. A row is normalised over its columns, which are the
/// weight's dimensions.
struct RowsAndColumns {
  ArrayRef<int64_t> shape;
  int64_t leading;

  RowsAndColumns(Value input, Value weight)
      : shape(getShape(input)), leading(shape.size() - getShape(weight).size()) {}

  ArrayRef<int64_t> rows() const { return shape.take_front(leading); }
  ArrayRef<int64_t> columns() const { return shape.drop_front(leading); }
  SmallVector<int64_t> rowDims() const { return countUp(leading); }
  SmallVector<int64_t> columnDims() const {
    return llvm::to_vector(llvm::seq<int64_t>(leading, static_cast<int64_t>(shape.size())));
  }
};

/// The sharding rule of both ops: a factor per dimension of the input.
class NormRule {
public:
  /// `rows`: the kind of rows' factors.
  NormRule(Operation *op, const RowsAndColumns &dims, FactorKind rows) : rule(op) {
    int64_t rank = dims.shape.size();
    for (int64_t dim = 0; dim < rank; ++dim) {
      // Rows of the last dimension are kept whole; over others sums of squares are exchanged.
      FactorKind columns = dim == rank - 1 ? FactorKind::NeedReplication : FactorKind::Permutation;
      factors.push_back(rule.addFactor(dims.shape[dim], dim < dims.leading ? rows : columns));
    }
    leading = dims.leading;
  }

  NormRule &operand(int64_t number, int64_t begin, int64_t end) {
    for (int64_t dim = begin; dim < end; ++dim)
      rule.mapOperand(number, dim - begin, factors[dim]);
    return *this;
  }
  NormRule &result(int64_t number, int64_t begin, int64_t end) {
    for (int64_t dim = begin; dim < end; ++dim)
      rule.mapResult(number, dim - begin, factors[dim]);
    return *this;
  }

  RuleBuilder rule;
  SmallVector<int64_t> factors;
  int64_t leading;
};
} // namespace

/// Weight and statistics fit the input; `code` is the constraint of all shapes but `statistics`.
static LogicalResult verifyNorm(Operation *op, StringRef code, StringRef statistics, Value input,
                                Value weight, Value rstd) {
  if (failed(verifyMinRank(op, code, "input", input, 1)) ||
      failed(verifyMinRank(op, code, "weight", weight, 1)))
    return failure();
  ArrayRef<int64_t> shape = getShape(input);
  size_t rank = std::min(getShape(weight).size(), shape.size());
  if (failed(verifyShape(op, code, "weight", weight, shape.take_back(rank),
                         rank == 1 ? "the input's last dimension" : "the input's last dimensions")))
    return failure();
  return verifyShape(op, statistics, "rstd", rstd, shape.drop_back(rank),
                     rank == 1 ? "all but the input's last dimension"
                               : "all but the input's normalised dimensions");
}

/// The elements of a row, without padding.
template <typename Op>
static double countColumns(Op op) {
  std::optional<uint64_t> count = op.getCount();
  return count ? static_cast<double>(*count)
               : static_cast<double>(ShapedType::getNumElements(getShape(op.getWeight())));
}

/// rms_norm_c3, and rms_norm_backward_c1 where the forward op's holds.
template <typename Op>
static LogicalResult verifyCount(Op op, StringRef code) {
  ArrayRef<int64_t> shape = getShape(op.getWeight());
  int64_t elements = ShapedType::getNumElements(shape);
  if (!op.getCount() && shape.size() > 1)
    return op.emitOpError() << code
                            << ": count is missing, expected the elements of a row without padding, since a "
                            << "weight of " << shape.size() << " dimensions may be split";
  if (std::optional<uint64_t> count = op.getCount(); count && (*count < 1 || *count > uint64_t(elements)))
    return op.emitOpError() << code << ": count is " << *count << ", expected from 1 to " << elements
                            << ", the number of the weight's elements";
  return success();
}

/// The mean over the columns from their sum. A count that is no power of two is exact, its reciprocal is not.
template <typename Op>
static Value buildMean(ComputeBuilder &b, Op op, Value sum) {
  double count = countColumns(op);
  return op.getCount() ? b.div(sum, b.splatLike(sum, count)) : b.scale(sum, 1.0 / count);
}

/// Σ over columns of `value`, on this rank.
static Value sumColumns(ComputeBuilder &b, Value value, const RowsAndColumns &dims) {
  return b.reduce(ReduceKind::Sum, value, dims.columnDims());
}

/// Builds the factor of normalised rows, weight + offset, in the shape of `like`.
static Value spreadWeight(ComputeBuilder &b, Value weight, const APFloat &offset, Value like) {
  Value w = b.load(weight);
  if (double added = offset.convertToDouble(); added != 0.0)
    w = b.add(w, b.splatLike(w, added));
  return b.expandLeading(w, like);
}

/// `sum`, or if columns are split its sum over the ranks that share a row.
static Value exchangeSum(Localizer &localizer, Value sum, const NormRule &rule) {
  for (int64_t factor : ArrayRef<int64_t>(rule.factors).drop_front(rule.leading))
    if (localizer.isSharded(factor))
      sum = localizer.allReduce(ReduceKind::Sum, sum, factor);
  return sum;
}

static bool splitsColumns(const Localizer &localizer, const NormRule &rule) {
  return llvm::any_of(ArrayRef<int64_t>(rule.factors).drop_front(rule.leading),
                      [&](int64_t factor) { return localizer.isSharded(factor); });
}

//===----------------------------------------------------------------------===//
// RmsNormOp
//===----------------------------------------------------------------------===//

LogicalResult RmsNormOp::verify() {
  LogicalResult norm = verifyNorm(*this, "rms_norm_c1", "rms_norm_c2", getInput(), getWeight(), getRstd());
  if (failed(norm) || failed(verifyCount(*this, "rms_norm_c3")))
    return failure();
  return verifyShape(*this, "rms_norm_c1", "result", getResult(), getShape(getInput()), "the input's shape");
}

static NormRule makeRule(RmsNormOp op) {
  RowsAndColumns dims(op.getInput(), op.getWeight());
  int64_t rank = dims.shape.size();
  NormRule rule(op, dims, FactorKind::PassThrough);
  rule.operand(0, 0, rank).operand(1, dims.leading, rank).result(0, 0, rank).result(1, 0, dims.leading);
  return rule;
}

RuleAttr RmsNormOp::getShardingRule() { return makeRule(*this).rule.build(); }

LogicalResult RmsNormOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandCotangents) {
  if (failed(refuseStatisticCotangents(*this, cotangents)))
    return failure();
  if (!cotangents[0])
    return success();
  auto backward = builder.create<RmsNormBackwardOp>(
      getLoc(), TypeRange{getInput().getType(), getWeight().getType()}, cotangents[0], getInput(),
      getWeight(), getRstd(), getOffsetAttr(), getCountAttr());
  setNeeded(backward.getResults(), needed, operandCotangents);
  return success();
}

LogicalResult RmsNormOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                   InterpreterContext &) {
  const Tensor &x = operands[0], &w = operands[1];
  double eps = getEps().convertToDouble(), offset = getOffset().convertToDouble(),
         count = countColumns(*this);
  int64_t columns = w.size();
  for (int64_t row = 0; row < results[1].size(); ++row) {
    const double *in = &x.values[row * columns];
    double squares = 0;
    for (int64_t i = 0; i < columns; ++i)
      squares += in[i] * in[i];
    double rstd = 1.0 / std::sqrt(squares / count + eps);
    results[1].values[row] = rstd;
    for (int64_t i = 0; i < columns; ++i)
      results[0].values[row * columns + i] = (w.values[i] + offset) * in[i] * rstd;
  }
  return success();
}

OpClass RmsNormOp::getOpClass() { return OpClass::Composite; }

bool RmsNormOp::writesBeforeItReads() { return true; }

/// y and rstd of the rows that `squares`, sums over all columns, belong to.
static SmallVector<Value> buildNorm(ComputeBuilder &b, RmsNormOp op, Value x, Value weight, Value squares) {
  RowsAndColumns dims(op.getInput(), op.getWeight());
  Value mean = buildMean(b, op, squares);
  Value deviation = b.sqrt(b.add(mean, b.splatLike(mean, op.getEps().convertToDouble())));
  Value rstd = b.div(b.splatLike(deviation, 1.0), deviation);
  Value normal = b.mul(x, b.expand(rstd, getShape(x), dims.columnDims()));
  Value y = b.mul(normal, spreadWeight(b, weight, op.getOffset(), x));
  return {b.store(y, op.getResult()), b.store(rstd, op.getRstd())};
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  Value x = b.load(getInput());
  Value squares = sumColumns(b, b.mul(x, x), RowsAndColumns(getInput(), getWeight()));
  return buildNorm(b, *this, x, getWeight(), squares);
}

/// One number per row travels, never a row.
FailureOr<SmallVector<Value>> RmsNormOp::localize(Localizer &localizer) {
  NormRule rule = makeRule(*this);
  if (!splitsColumns(localizer, rule))
    return localizer.clone();
  ComputeBuilder b(localizer.builder, *this);
  Value x = b.load(localizer.operands[0]);
  Value squares = sumColumns(b, b.mul(x, x), RowsAndColumns(getInput(), getWeight()));
  return buildNorm(b, *this, x, localizer.operands[1], exchangeSum(localizer, squares, rule));
}

//===----------------------------------------------------------------------===//
// RmsNormBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult RmsNormBackwardOp::verify() {
  StringRef code = "rms_norm_backward_c1";
  if (failed(verifyNorm(*this, code, code, getInput(), getWeight(), getRstd())) ||
      failed(verifyCount(*this, code)))
    return failure();
  RowsAndColumns dims(getInput(), getWeight());
  return verifyAll({verifyShape(*this, code, "dy", getDy(), dims.shape, "the input's shape"),
                    verifyShape(*this, code, "dx", getDx(), dims.shape, "the input's shape"),
                    verifyShape(*this, code, "dweight", getDweight(), dims.columns(), "the weight's shape")});
}

/// dweight is a sum over rows.
static NormRule makeRule(RmsNormBackwardOp op) {
  RowsAndColumns dims(op.getInput(), op.getWeight());
  int64_t rank = dims.shape.size();
  NormRule rule(op, dims, FactorKind::Reduction);
  rule.operand(0, 0, rank).operand(1, 0, rank).operand(2, dims.leading, rank).operand(3, 0, dims.leading);
  rule.result(0, 0, rank).result(1, dims.leading, rank);
  rule.rule.addLinear({0});
  return rule;
}

RuleAttr RmsNormBackwardOp::getShardingRule() { return makeRule(*this).rule.build(); }

LogicalResult RmsNormBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                           InterpreterContext &) {
  const Tensor &dy = operands[0], &x = operands[1], &w = operands[2], &rstd = operands[3];
  double offset = getOffset().convertToDouble(), count = countColumns(*this);
  int64_t columns = w.size();
  results[1].values.assign(columns, 0.0);
  for (int64_t row = 0; row < rstd.size(); ++row) {
    const double *g = &dy.values[row * columns], *in = &x.values[row * columns];
    double r = rstd.values[row], dot = 0;
    for (int64_t i = 0; i < columns; ++i) {
      dot += (w.values[i] + offset) * g[i] * in[i] * r;
      results[1].values[i] += g[i] * in[i] * r;
    }
    for (int64_t i = 0; i < columns; ++i)
      results[0].values[row * columns + i] = r * ((w.values[i] + offset) * g[i] - in[i] * r * dot / count);
  }
  return success();
}

OpClass RmsNormBackwardOp::getOpClass() { return OpClass::Composite; }

bool RmsNormBackwardOp::mayWidenResults() { return true; }

// The gradient of the weight is a sum over rows.
bool RmsNormBackwardOp::addsUpInMemory(unsigned result) { return result > 0; }

/// dx and dweight; `exchange` completes a sum over the columns at hand.
static SmallVector<Value> buildNormBackward(ComputeBuilder &b, RmsNormBackwardOp op, ValueRange operands,
                                            function_ref<Value(Value)> exchange) {
  RowsAndColumns dims(op.getInput(), op.getWeight());
  Value dy = b.load(operands[0]), x = b.load(operands[1]), rstd = b.load(operands[3]);
  Value rows = b.expand(rstd, getShape(x), dims.columnDims());
  Value normal = b.mul(x, rows);
  Value scaled = b.mul(dy, spreadWeight(b, operands[2], op.getOffset(), x));
  Value dot = exchange(sumColumns(b, b.mul(scaled, normal), dims));
  Value mean = b.expand(buildMean(b, op, dot), getShape(x), dims.columnDims());
  Value dx = b.mul(rows, b.sub(scaled, b.mul(normal, mean)));
  Value dweight = b.reduce(ReduceKind::Sum, b.mul(dy, normal), dims.rowDims());
  return {b.store(dx, op.getDx()), b.store(dweight, op.getDweight())};
}

FailureOr<SmallVector<Value>> RmsNormBackwardOp::decompose(OpBuilder &builder) {
  ComputeBuilder b(builder, *this);
  return buildNormBackward(b, *this, getOperands(), [](Value sum) { return sum; });
}

FailureOr<SmallVector<Value>> RmsNormBackwardOp::localize(Localizer &localizer) {
  NormRule rule = makeRule(*this);
  if (!splitsColumns(localizer, rule))
    return localizer.clone();
  ComputeBuilder b(localizer.builder, *this);
  return buildNormBackward(b, *this, localizer.operands,
                           [&](Value sum) { return exchangeSum(localizer, sum, rule); });
}

//===- AttentionOps.cpp - scaled dot-product attention with grouped heads -------------------------------===//
#include "AttentionReference.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include <cmath>

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/AttentionOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// attention_c3, and attention_backward_c1 where the forward op's holds.
template <typename Op>
static LogicalResult verifyDropout(Op op, StringRef code) {
  double p = op.getDropout().convertToDouble();
  if (!(p >= 0.0 && p < 1.0))
    return op.emitOpError() << code << ": dropout is " << p << ", expected 0 <= dropout < 1";
  int64_t present = !!op.getKey() + !!op.getSite() + !!op.getRow() + !!op.getOffsets();
  int64_t expected = p > 0.0 ? 4 : 0;
  if (present != expected)
    return op.emitOpError() << code << ": " << present
                            << " of key, site, row and offsets are given, expected " << expected
                            << " with dropout " << p;
  if (p == 0.0)
    return success();
  int64_t strides = op.getStrides() ? op.getStrides()->size() : 0;
  if (strides != AttentionOp::kDropoutDims)
    return op.emitOpError() << code << ": " << strides << " strides, expected " << AttentionOp::kDropoutDims
                            << ": batch, q rows, kv_heads, group, k rows";
  return verifyAll({verifyShape(op, code, "key", op.getKey(), {2}, "the key's two words"),
                    verifyShape(op, code, "offsets", op.getOffsets(), {AttentionOp::kDropoutDims},
                                "batch, q rows, kv_heads, group, k rows")});
}

/// The shape of a table of the rows of `rows`: a number per row, or per entry of the batch and row.
template <typename Op>
static SmallVector<int64_t> getTableShape(Op op, ArrayRef<int64_t> rows) {
  if (op.hasRowsPerEntry())
    return {rows[0], rows[1]};
  return {rows[1]};
}

/// attention_c2 and attention_c5.
template <typename Op>
static LogicalResult verifyTables(Op op, StringRef positions, StringRef documents) {
  SmallVector<int64_t> q = getTableShape(op, getShape(op.getQ())), k = getTableShape(op, getShape(op.getK()));
  if (bool(op.getQDocuments()) != bool(op.getKDocuments()))
    return op.emitOpError() << documents
                            << ": only one of q_documents and k_documents is given, expected both";
  LogicalResult verdict = verifyAll(
      {verifyShape(op, positions, "q_positions", op.getQPositions(), q, "a position per row of q"),
       verifyShape(op, positions, "k_positions", op.getKPositions(), k, "a position per row of k")});
  if (!op.getQDocuments())
    return verdict;
  return verifyAll(
      {verdict, verifyShape(op, documents, "q_documents", op.getQDocuments(), q, "the shape of q_positions"),
       verifyShape(op, documents, "k_documents", op.getKDocuments(), k, "the shape of k_positions")});
}

/// attention_c6.
template <typename Op>
static LogicalResult verifyLimits(Op op, StringRef code) {
  // Kernels compute in f32: a cap that is 0 or infinite there is none.
  double cap = op.getCap().convertToDouble();
  if (!(cap == 0.0 || (cap > 0.0 && std::isnormal(static_cast<float>(cap)))))
    return op.emitOpError() << code << ": cap is " << cap << ", expected 0 or a positive, finite number";
  if (int64_t window = op.getWindow(); window < 0)
    return op.emitOpError() << code << ": window is " << window << ", expected 0 or more";
  return success();
}

namespace {
/// The codes that an op's constraints have.
struct ConstraintCodes {
  StringRef shapes, positions, dropout, documents, limits;
};
} // namespace

/// Shapes of q, k, v, tables and dropout.
template <typename Op>
static LogicalResult verifyInputs(Op op, const ConstraintCodes &codes) {
  StringRef shapes = codes.shapes;
  ArrayRef<int64_t> q = getShape(op.getQ()), k = getShape(op.getK()), v = getShape(op.getV());
  if (q.size() != 5)
    return op.emitOpError() << shapes << ": q is " << printShape(q)
                            << ", expected [batch, q rows, kv_heads, group, head_dim]";
  for (auto [name, shape] : {std::pair(StringLiteral("k"), k), std::pair(StringLiteral("v"), v)})
    if (shape.size() != 4)
      return op.emitOpError() << shapes << ": " << name << " is " << printShape(shape)
                              << ", expected [batch, k rows, kv_heads, head_dim]";
  return verifyAll({verifyShape(op, shapes, "k", op.getK(), {q[0], k[1], q[2], q[4]},
                                "batch, kv_heads and head_dim are those of q"),
                    verifyShape(op, shapes, "v", op.getV(), {k[0], k[1], k[2], v[3]},
                                "the shape of k but for the last dimension"),
                    verifyTables(op, codes.positions, codes.documents), verifyLimits(op, codes.limits),
                    verifyDropout(op, codes.dropout)});
}

template <typename Op>
static LogicalResult verifyDiagonal(Op op) {
  if (!op.getDiagonal())
    return success();
  int64_t qRows = getShape(op.getQ())[1], kRows = getShape(op.getK())[1];
  if (qRows != kRows)
    return op.emitOpError("attention_c4: `diagonal` with ")
           << qRows << " rows of q and " << kRows << " of k, expected as many";
  if (op.getQDocuments() || op.hasRowsPerEntry())
    return op.emitOpError("attention_c4: `diagonal` with ")
           << (op.getQDocuments() ? "documents" : "positions of each entry of the batch")
           << ", expected positions for all of it alone";
  return success();
}

/// An interpreter sees the positions.
template <typename Op>
static LogicalResult checkDiagonal(Op op, const AttentionReference &reference) {
  if (!op.getDiagonal())
    return success();
  double first = reference.queries.positions[0];
  for (ArrayRef<double> positions : {reference.queries.positions, reference.keys.positions})
    for (auto [row, position] : llvm::enumerate(positions))
      if (position != first + static_cast<double>(row))
        return op.emitOpError("attention_c4: `diagonal`, but row ")
               << row << " has position " << position << ", expected " << first + static_cast<double>(row);
  return success();
}

/// The shape of out: that of q with the size of values.
template <typename Op>
static SmallVector<int64_t> getOutShape(Op op) {
  SmallVector<int64_t> shape(getShape(op.getQ()));
  shape.back() = getShape(op.getV()).back();
  return shape;
}
constexpr StringLiteral kOutShape = "the shape of q with the last dimension of v";

/// Shape of lse: [batch, kv_heads, group, q rows].
static SmallVector<int64_t> getLseShape(ArrayRef<int64_t> q) { return {q[0], q[2], q[3], q[1]}; }

LogicalResult AttentionOp::verify() {
  ConstraintCodes codes{"attention_c1", "attention_c2", "attention_c3", "attention_c5", "attention_c6"};
  if (failed(verifyInputs(*this, codes)) || failed(verifyDiagonal(*this)))
    return failure();
  ArrayRef<int64_t> q = getShape(getQ());
  LogicalResult sinks = !getSinks() ? success()
                                    : verifyShape(*this, "attention_c1", "sinks", getSinks(), {q[2], q[3]},
                                                  "[kv_heads, group]");
  return verifyAll({sinks, verifyShape(*this, "attention_c1", "out", getOut(), getOutShape(*this), kOutShape),
                    verifyShape(*this, "attention_c1", "lse", getLse(), getLseShape(q),
                                "[batch, kv_heads, group, q rows]")});
}

LogicalResult AttentionBackwardOp::verify() {
  StringRef code = "attention_backward_c1";
  if (failed(verifyInputs(*this, {code, code, code, code, code})) || failed(verifyDiagonal(*this)))
    return failure();
  ArrayRef<int64_t> q = getShape(getQ()), k = getShape(getK()), v = getShape(getV());
  SmallVector<int64_t> out = getOutShape(*this);
  return verifyAll(
      {verifyShape(*this, code, "dout", getDout(), out, kOutShape),
       verifyShape(*this, code, "out", getOut(), out, kOutShape),
       verifyShape(*this, code, "lse", getLse(), getLseShape(q), "[batch, kv_heads, group, q rows]"),
       verifyShape(*this, code, "dq", getDq(), q, "the shape of q"),
       verifyShape(*this, code, "dk", getDk(), k, "the shape of k"),
       verifyShape(*this, code, "dv", getDv(), v, "the shape of v")});
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

/// A sink's probability is exp(sink − lse), and its score's gradient −Σ probability · (dout · out) over the
/// rows of its head: it has no value.
static Value buildSinkGradient(OpBuilder &builder, AttentionOp op, Value dout) {
  Location loc = op.getLoc();
  auto lse = cast<RankedTensorType>(op.getLse().getType());
  Type wide = lse.getElementType();
  ArrayRef<int64_t> q = getShape(op.getQ());
  Value out = convertFloat(builder, loc, op.getOut(), wide);
  Value product = builder.create<arith::MulFOp>(loc, convertFloat(builder, loc, dout, wide), out);
  auto perRow = RankedTensorType::get(q.drop_back(), wide);
  Value inner = builder.create<ReduceOp>(loc, perRow, ReduceKind::Sum, product, ArrayRef<int64_t>{4});
  // From [batch, q rows, kv_heads, group] to lse's order.
  inner = builder.create<TransposeOp>(loc, lse, inner, ArrayRef<int64_t>{0, 2, 3, 1});
  Value sinks = convertFloat(builder, loc, op.getSinks(), wide);
  sinks = builder.create<ExpandOp>(loc, lse, sinks, ArrayRef<int64_t>{0, 3});
  Value probability =
      builder.create<math::ExpOp>(loc, builder.create<arith::SubFOp>(loc, sinks, op.getLse()));
  Value lost = builder.create<arith::NegFOp>(loc, builder.create<arith::MulFOp>(loc, probability, inner));
  auto perHead = RankedTensorType::get({q[2], q[3]}, wide);
  Value gradient = builder.create<ReduceOp>(loc, perHead, ReduceKind::Sum, lost, ArrayRef<int64_t>{0, 3});
  return convertFloat(builder, loc, gradient, getElementTypeOrSelf(op.getSinks().getType()));
}

LogicalResult AttentionOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[1])
    return emitOpError("result 1 (lse) cannot be differentiated; use only result 0 in the loss");
  if (!cotangents[0])
    return success();
  auto backward = builder.create<AttentionBackwardOp>(
      getLoc(), TypeRange{getQ().getType(), getK().getType(), getV().getType()}, cotangents[0], getQ(),
      getK(), getV(), getOut(), getLse(), getQPositions(), getKPositions(), getQDocuments(), getKDocuments(),
      getKey(), getSite(), getRow(), getOffsets(), getScaleAttr(), getCausalAttr(), getWindowAttr(),
      getCapAttr(), getDropoutAttr(), getStridesAttr(), getDiagonalAttr(),
      getSinks() ? builder.getUnitAttr() : UnitAttr());
  for (auto [operand, result] : llvm::enumerate(backward.getResults()))
    if (needed[operand])
      operandCotangents[operand] = result;
  if (!getSinks())
    return success();
  unsigned sinks = getSinksMutable()[0].getOperandNumber();
  if (needed[sinks])
    operandCotangents[sinks] = buildSinkGradient(builder, *this, cotangents[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

/// The values of an operand; none where it is absent.
static ArrayRef<double> valuesOf(MutableOperandRange range, ArrayRef<Tensor> operands) {
  return range.empty() ? ArrayRef<double>() : ArrayRef<double>(operands[range[0].getOperandNumber()].values);
}

template <typename Op>
static AttentionReference makeReference(Op op, ArrayRef<Tensor> operands) {
  AttentionReference reference;
  ArrayRef<int64_t> q = getShape(op.getQ());
  reference.batch = q[0], reference.qRows = q[1], reference.kvHeads = q[2], reference.group = q[3];
  reference.headDim = q[4], reference.valueDim = getShape(op.getV()).back();
  reference.kRows = getShape(op.getK())[1];
  reference.scale = op.getScale().convertToDouble();
  reference.cap = op.getCap().convertToDouble();
  reference.causal = op.getCausal();
  reference.window = op.getWindow();
  reference.rowsPerEntry = op.hasRowsPerEntry();
  reference.queries = {operands[op.getQPositionsMutable().getOperandNumber()].values,
                       valuesOf(op.getQDocumentsMutable(), operands)};
  reference.keys = {operands[op.getKPositionsMutable().getOperandNumber()].values,
                    valuesOf(op.getKDocumentsMutable(), operands)};
  reference.dropout = op.getDropout().convertToDouble();
  if (reference.dropout == 0.0)
    return reference;
  ArrayRef<double> key = valuesOf(op.getKeyMutable(), operands);
  reference.key = {static_cast<uint32_t>(static_cast<int64_t>(key[0])),
                   static_cast<uint32_t>(static_cast<int64_t>(key[1]))};
  reference.site = static_cast<uint32_t>(static_cast<int64_t>(valuesOf(op.getSiteMutable(), operands)[0]));
  reference.row = static_cast<int64_t>(valuesOf(op.getRowMutable(), operands)[0]);
  for (int64_t dim = 0; dim < AttentionOp::kDropoutDims; ++dim) {
    reference.offsets[dim] = static_cast<int64_t>(valuesOf(op.getOffsetsMutable(), operands)[dim]);
    reference.strides[dim] = (*op.getStrides())[dim];
  }
  return reference;
}

LogicalResult AttentionOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                     InterpreterContext &) {
  AttentionReference reference = makeReference(*this, operands);
  reference.sinks = valuesOf(getSinksMutable(), operands);
  reference.forward(operands[0], operands[1], operands[2], results[0], results[1]);
  return checkDiagonal(*this, reference);
}

LogicalResult AttentionBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                             InterpreterContext &) {
  AttentionReference reference = makeReference(*this, operands);
  reference.backward(operands.take_front(6), results);
  return checkDiagonal(*this, reference);
}

//===----------------------------------------------------------------------===//
// Code and cost
//===----------------------------------------------------------------------===//

OpClass AttentionOp::getOpClass() { return OpClass::Library; }
OpClass AttentionBackwardOp::getOpClass() { return OpClass::Library; }

static constexpr StringLiteral kWorkName = "rank.attention";
StringRef AttentionOp::getWorkName() { return kWorkName; }
StringRef AttentionBackwardOp::getWorkName() { return kWorkName; }

WorkKind AttentionOp::getWorkKind() { return WorkKind::Attention; }
WorkKind AttentionBackwardOp::getWorkKind() { return WorkKind::Attention; }

/// q, k and v, which one product makes, and their gradients, of which one product makes its operand's.
SmallVector<unsigned> AttentionOp::getRowOperands() { return {0, 1, 2}; }
SmallVector<unsigned> AttentionBackwardOp::getRowOperands() { return {1, 2, 3}; }
SmallVector<unsigned> AttentionBackwardOp::getRowResults() { return {0, 1, 2}; }

bool AttentionOp::seesLaterRows() { return !getCausal(); }
bool AttentionBackwardOp::seesLaterRows() { return !getCausal(); }

template <typename Op>
static void markDiagonal(Op op, function_ref<bool(Value, Value)> areOneSequence) {
  bool isSquare = getShape(op.getQ())[1] == getShape(op.getK())[1];
  if (isSquare && !op.getQDocuments() && !op.hasRowsPerEntry() &&
      areOneSequence(op.getQPositions(), op.getKPositions()))
    op.setDiagonal(true);
}

void AttentionOp::noteSequences(function_ref<bool(Value, Value)> areOneSequence) {
  markDiagonal(*this, areOneSequence);
}
void AttentionBackwardOp::noteSequences(function_ref<bool(Value, Value)> areOneSequence) {
  markDiagonal(*this, areOneSequence);
}

bool AttentionOp::drops() { return static_cast<bool>(getKey()); }

void AttentionOp::stopDropping() {
  // One after the other: a range knows the operands as they were when it was asked for.
  getKeyMutable().clear();
  getSiteMutable().clear();
  getRowMutable().clear();
  getOffsetsMutable().clear();
  setDropout(APFloat(0.0));
  removeStridesAttr();
}

/// Pairs of a row of q and a row of k that see each other, for rows of q spread evenly over those of k (which
/// holds for the whole sequence and, on average over the ranks, for its shards): of n² pairs a causal mask
/// keeps half, and a window of w < n drops the (n − w)²/2 that lie further back.
static double countVisiblePairs(ArrayRef<int64_t> q, ArrayRef<int64_t> k, bool causal, int64_t window) {
  double n = static_cast<double>(k[1]), rows = static_cast<double>(q[1]);
  double pairs = causal ? n * n / 2 : n * n;
  if (window > 0 && window < k[1])
    pairs -= (n - window) * (n - window) / 2;
  return pairs * rows / n;
}

/// Products over the visible pairs of all heads: `keys` of the size of keys, `values` of that of values; a
/// multiply-add counts two. Documents, whose lengths nobody knows, do not count.
template <typename Op>
static double countGemmFlops(Op op, double keys, double values) {
  ArrayRef<int64_t> q = getShape(op.getQ());
  double pairs = countVisiblePairs(q, getShape(op.getK()), op.getCausal(), op.getWindow());
  double width = keys * static_cast<double>(q[4]) + values * static_cast<double>(getShape(op.getV()).back());
  return 2.0 * static_cast<double>(q[0] * q[2] * q[3]) * width * pairs;
}

/// q·kᵀ and P·v.
double AttentionOp::getFlops() { return countGemmFlops(*this, 1, 1); }
/// q·kᵀ again, dS·k and dSᵀ·q; Pᵀ·dout and dout·vᵀ.
double AttentionBackwardOp::getFlops() { return countGemmFlops(*this, 3, 2); }
/// A model's FLOPs count two products for each of the two forward, whoever asks for them.
double AttentionOp::countGradientPasses(int64_t operands) { return operands > 0 ? 2 : 0; }

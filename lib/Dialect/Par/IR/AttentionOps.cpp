//===- AttentionOps.cpp - scaled dot-product attention with grouped heads -------------------------------===//
#include "AttentionReference.h"
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"

using namespace mlir;
using namespace mlir::par;

#define GET_OP_CLASSES
#include "par/Dialect/Par/IR/AttentionOps.cpp.inc"

/// Dimensions that dropout numbers: batch, q rows, kv_heads, group, k rows.
static constexpr int64_t kDropoutDims = 5;

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
  if (strides != kDropoutDims)
    return op.emitOpError() << code << ": " << strides << " strides, expected " << kDropoutDims
                            << ": batch, q rows, kv_heads, group, k rows";
  return verifyAll({verifyShape(op, code, "key", op.getKey(), {2}, "the key's two words"),
                    verifyShape(op, code, "offsets", op.getOffsets(), {kDropoutDims},
                                "batch, q rows, kv_heads, group, k rows")});
}

/// Shapes of q, k, v and positions, and dropout.
template <typename Op>
static LogicalResult verifyInputs(Op op, StringRef shapes, StringRef positions, StringRef dropout) {
  ArrayRef<int64_t> q = getShape(op.getQ()), k = getShape(op.getK());
  if (q.size() != 5)
    return op.emitOpError() << shapes << ": q is " << printShape(q)
                            << ", expected [batch, q rows, kv_heads, group, head_dim]";
  if (k.size() != 4)
    return op.emitOpError() << shapes << ": k is " << printShape(k)
                            << ", expected [batch, k rows, kv_heads, head_dim]";
  return verifyAll(
      {verifyShape(op, shapes, "k", op.getK(), {q[0], k[1], q[2], q[4]},
                   "batch, kv_heads and head_dim are those of q"),
       verifyShape(op, shapes, "v", op.getV(), k, "the shape of k"),
       verifyShape(op, positions, "q_positions", op.getQPositions(), {q[1]}, "a position per row of q"),
       verifyShape(op, positions, "k_positions", op.getKPositions(), {k[1]}, "a position per row of k"),
       verifyDropout(op, dropout)});
}

template <typename Op>
static LogicalResult verifyDiagonal(Op op) {
  int64_t qRows = getShape(op.getQ())[1], kRows = getShape(op.getK())[1];
  if (op.getDiagonal() && qRows != kRows)
    return op.emitOpError("attention_c4: `diagonal` with ")
           << qRows << " rows of q and " << kRows << " of k, expected as many";
  return success();
}

/// An interpreter sees the positions.
template <typename Op>
static LogicalResult checkDiagonal(Op op, const AttentionReference &reference) {
  if (!op.getDiagonal())
    return success();
  double first = reference.qPositions[0];
  for (ArrayRef<double> positions :
       {ArrayRef<double>(reference.qPositions), ArrayRef<double>(reference.kPositions)})
    for (auto [row, position] : llvm::enumerate(positions))
      if (position != first + static_cast<double>(row))
        return op.emitOpError("attention_c4: `diagonal`, but row ")
               << row << " has position " << position << ", expected " << first + static_cast<double>(row);
  return success();
}

/// Shape of lse: [batch, kv_heads, group, q rows].
static SmallVector<int64_t> getLseShape(ArrayRef<int64_t> q) { return {q[0], q[2], q[3], q[1]}; }

LogicalResult AttentionOp::verify() {
  if (failed(verifyInputs(*this, "attention_c1", "attention_c2", "attention_c3")) ||
      failed(verifyDiagonal(*this)))
    return failure();
  ArrayRef<int64_t> q = getShape(getQ());
  return verifyAll({verifyShape(*this, "attention_c1", "out", getOut(), q, "the shape of q"),
                    verifyShape(*this, "attention_c1", "lse", getLse(), getLseShape(q),
                                "[batch, kv_heads, group, q rows]")});
}

LogicalResult AttentionBackwardOp::verify() {
  StringRef code = "attention_backward_c1";
  if (failed(verifyInputs(*this, code, code, code)) || failed(verifyDiagonal(*this)))
    return failure();
  ArrayRef<int64_t> q = getShape(getQ()), k = getShape(getK());
  return verifyAll(
      {verifyShape(*this, code, "dout", getDout(), q, "the shape of q"),
       verifyShape(*this, code, "out", getOut(), q, "the shape of q"),
       verifyShape(*this, code, "lse", getLse(), getLseShape(q), "[batch, kv_heads, group, q rows]"),
       verifyShape(*this, code, "dq", getDq(), q, "the shape of q"),
       verifyShape(*this, code, "dk", getDk(), k, "the shape of k"),
       verifyShape(*this, code, "dv", getDv(), k, "the shape of v")});
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

namespace {
/// Factors of both ops; a query row, head and batch entry are computed apart from all others.
struct AttentionFactors {
  RuleBuilder &rule;
  int64_t batch, qRows, kvHeads, group, headDim, kRows;

  /// `shared`: kind of the factors that k and v lack.
  AttentionFactors(RuleBuilder &rule, ArrayRef<int64_t> q, ArrayRef<int64_t> k, FactorKind shared)
      : rule(rule) {
    batch = rule.addFactor(q[0]);
    qRows = rule.addFactor(q[1], shared);
    kvHeads = rule.addFactor(q[2]);
    group = rule.addFactor(q[3], shared);
    headDim = rule.addFactor(q[4], FactorKind::NeedReplication);
    kRows = rule.addFactor(k[1], FactorKind::NeedReplication);
  }

  SmallVector<int64_t> query() const { return {batch, qRows, kvHeads, group, headDim}; }
  SmallVector<int64_t> keys() const { return {batch, kRows, kvHeads, headDim}; }
  SmallVector<int64_t> lse() const { return {batch, kvHeads, group, qRows}; }

  void operand(int64_t number, ArrayRef<int64_t> factors) {
    for (auto [dim, factor] : llvm::enumerate(factors))
      rule.mapOperand(number, dim, factor);
  }
  void result(int64_t number, ArrayRef<int64_t> factors) {
    for (auto [dim, factor] : llvm::enumerate(factors))
      rule.mapResult(number, dim, factor);
  }
  /// Positions and the operands of dropout, beginning at operand `first`.
  void positionsAndDropout(int64_t first, bool dropout) {
    operand(first, {qRows});
    operand(first + 1, {kRows});
    if (!dropout)
      return;
    operand(first + 2, {rule.addFactor(2, FactorKind::NeedReplication)});
    operand(first + 5, {rule.addFactor(kDropoutDims, FactorKind::NeedReplication)});
  }
};
} // namespace

/// No linear set: out is linear in v, but lse is not.
RuleAttr AttentionOp::getShardingRule() {
  RuleBuilder rule(*this);
  AttentionFactors factors(rule, getShape(getQ()), getShape(getK()), FactorKind::PassThrough);
  factors.operand(0, factors.query());
  factors.operand(1, factors.keys());
  factors.operand(2, factors.keys());
  factors.positionsAndDropout(3, static_cast<bool>(getKey()));
  factors.result(0, factors.query());
  factors.result(1, factors.lse());
  return rule.build();
}

/// dk and dv are sums over the rows and the group of q.
RuleAttr AttentionBackwardOp::getShardingRule() {
  RuleBuilder rule(*this);
  AttentionFactors factors(rule, getShape(getQ()), getShape(getK()), FactorKind::Reduction);
  factors.operand(0, factors.query());
  factors.operand(1, factors.query());
  factors.operand(2, factors.keys());
  factors.operand(3, factors.keys());
  factors.operand(4, factors.query());
  factors.operand(5, factors.lse());
  factors.positionsAndDropout(6, static_cast<bool>(getKey()));
  factors.result(0, factors.query());
  factors.result(1, factors.keys());
  factors.result(2, factors.keys());
  return rule.addLinear({0}).build();
}

/// tensor<5xi32>: global index of the first row of this rank in every dimension that dropout numbers.
static Value buildShardOffsets(Localizer &localizer, int64_t qOperand) {
  OpBuilder &builder = localizer.builder;
  Location loc = localizer.op->getLoc();
  auto one = RankedTensorType::get({1}, builder.getI32Type());
  SmallVector<Value> parts;
  for (int64_t dim = 0; dim < kDropoutDims - 1; ++dim) {
    int64_t factor = localizer.rule.getOperandFactor(qOperand, dim);
    Value offset = localizer.offset(factor, getShape(localizer.operands[qOperand])[dim]);
    parts.push_back(builder.create<ReshapeOp>(loc, one, offset));
  }
  // Rows of k are never split.
  parts.push_back(buildSplat(builder, loc, one, 0));
  return builder.create<ConcatOp>(loc, RankedTensorType::get({kDropoutDims}, builder.getI32Type()), parts, 0);
}

/// Where rows of q are split, those of a rank are no diagonal of their own with all rows of k.
template <typename Op>
static FailureOr<SmallVector<Value>> cloneAttention(Localizer &localizer, int64_t qOperand) {
  FailureOr<SmallVector<Value>> results = localizer.clone();
  if (succeeded(results) && localizer.isSharded(localizer.rule.getOperandFactor(qOperand, /*dim=*/1)))
    results->front().getDefiningOp<Op>().setDiagonal(false);
  return results;
}

/// Positions travel as operands; only the counters of dropout depend on where the shard lies.
template <typename Op>
static FailureOr<SmallVector<Value>> localizeAttention(Localizer &localizer, int64_t qOperand, bool dropout) {
  bool moved = llvm::any_of(llvm::seq<int64_t>(0, kDropoutDims - 1), [&](int64_t dim) {
    return localizer.isSharded(localizer.rule.getOperandFactor(qOperand, dim));
  });
  if (!dropout || !moved)
    return cloneAttention<Op>(localizer, qOperand);
  SmallVector<Value> operands(localizer.operands);
  Value offsets = buildShardOffsets(localizer, qOperand);
  Location loc = localizer.op->getLoc();
  if (offsets.getType() != operands.back().getType())
    offsets = localizer.builder.create<arith::ExtSIOp>(loc, operands.back().getType(), offsets);
  operands.back() = localizer.builder.create<arith::AddIOp>(loc, operands.back(), offsets);
  Localizer shifted(localizer.builder, localizer.op, localizer.rule, localizer.mesh, operands,
                    localizer.resultTypes, localizer.factorAxes);
  return cloneAttention<Op>(shifted, qOperand);
}

FailureOr<SmallVector<Value>> AttentionOp::localize(Localizer &localizer) {
  return localizeAttention<AttentionOp>(localizer, 0, static_cast<bool>(getKey()));
}

FailureOr<SmallVector<Value>> AttentionBackwardOp::localize(Localizer &localizer) {
  return localizeAttention<AttentionBackwardOp>(localizer, 1, static_cast<bool>(getKey()));
}

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::differentiate(OpBuilder &builder, ValueRange cotangents, ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandCotangents) {
  if (cotangents[1])
    return emitOpError("result 1 (lse) cannot be differentiated; use only result 0 in the loss");
  if (!cotangents[0])
    return success();
  auto backward = builder.create<AttentionBackwardOp>(
      getLoc(), TypeRange{getQ().getType(), getK().getType(), getV().getType()}, cotangents[0], getQ(),
      getK(), getV(), getOut(), getLse(), getQPositions(), getKPositions(), getKey(), getSite(), getRow(),
      getOffsets(), getScaleAttr(), getCausalAttr(), getWindowAttr(), getDropoutAttr(), getStridesAttr(),
      getDiagonalAttr());
  for (auto [operand, result] : llvm::enumerate(backward.getResults()))
    if (needed[operand])
      operandCotangents[operand] = result;
  return success();
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

/// `firstPosition`: number of the operand q_positions.
template <typename Op>
static AttentionReference makeReference(Op op, ArrayRef<Tensor> operands, int64_t firstPosition) {
  AttentionReference reference;
  ArrayRef<int64_t> q = getShape(op.getQ());
  reference.batch = q[0], reference.qRows = q[1], reference.kvHeads = q[2], reference.group = q[3];
  reference.headDim = q[4], reference.kRows = getShape(op.getK())[1];
  reference.scale = op.getScale().convertToDouble();
  reference.causal = op.getCausal();
  reference.window = op.getWindow();
  reference.qPositions = operands[firstPosition].values;
  reference.kPositions = operands[firstPosition + 1].values;
  reference.dropout = op.getDropout().convertToDouble();
  if (reference.dropout == 0.0)
    return reference;
  ArrayRef<Tensor> counters = operands.drop_front(firstPosition + 2);
  reference.key = {static_cast<uint32_t>(static_cast<int64_t>(counters[0].values[0])),
                   static_cast<uint32_t>(static_cast<int64_t>(counters[0].values[1]))};
  reference.site = static_cast<uint32_t>(static_cast<int64_t>(counters[1].scalar()));
  reference.row = static_cast<int64_t>(counters[2].scalar());
  for (int64_t dim = 0; dim < kDropoutDims; ++dim) {
    reference.offsets[dim] = static_cast<int64_t>(counters[3].values[dim]);
    reference.strides[dim] = (*op.getStrides())[dim];
  }
  return reference;
}

LogicalResult AttentionOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                     InterpreterContext &) {
  AttentionReference reference = makeReference(*this, operands, 3);
  reference.forward(operands[0], operands[1], operands[2], results[0], results[1]);
  return checkDiagonal(*this, reference);
}

LogicalResult AttentionBackwardOp::interpret(ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results,
                                             InterpreterContext &) {
  AttentionReference reference = makeReference(*this, operands, 6);
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
  if (isSquare && areOneSequence(op.getQPositions(), op.getKPositions()))
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

/// One GEMM over the visible pairs of all heads; a multiply-add counts two.
template <typename Op>
static double countGemmFlops(Op op) {
  ArrayRef<int64_t> q = getShape(op.getQ());
  double pairs = countVisiblePairs(q, getShape(op.getK()), op.getCausal(), op.getWindow());
  return 2.0 * static_cast<double>(q[0] * q[2] * q[3] * q[4]) * pairs;
}

/// q·kᵀ and P·v.
double AttentionOp::getFlops() { return 2.0 * countGemmFlops(*this); }
/// q·kᵀ again, Pᵀ·dout, dout·vᵀ, dS·k and dSᵀ·q.
double AttentionBackwardOp::getFlops() { return 5.0 * countGemmFlops(*this); }
/// A model's FLOPs count two products for each of the two forward, whoever asks for them.
double AttentionOp::countGradientPasses(int64_t operands) { return operands > 0 ? 2 : 0; }

//===- AttentionSharding.cpp - attention on shards ------------------------------------------------------===//
#include "VerifyShape.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Par/IR/RuleBuilder.h"

using namespace mlir;
using namespace mlir::par;

static constexpr int64_t kDropoutDims = AttentionOp::kDropoutDims;

namespace {
/// Factors of both ops; a query row, head and batch entry are computed apart from all others.
template <typename Op>
class AttentionFactors {
public:
  /// `shared`: kind of the factors that k and v lack.
  AttentionFactors(Op op, FactorKind shared) : op(op), rule(op) {
    ArrayRef<int64_t> q = getShape(op.getQ());
    batch = rule.addFactor(q[0]);
    qRows = rule.addFactor(q[1], shared);
    kvHeads = rule.addFactor(q[2]);
    group = rule.addFactor(q[3], shared);
    headDim = rule.addFactor(q[4], FactorKind::NeedReplication);
    kRows = rule.addFactor(getShape(op.getK())[1], FactorKind::NeedReplication);
    // Values of the size of keys share its factor.
    bool isOneSize = getShape(op.getV()).back() == q[4];
    valueDim = isOneSize ? headDim : rule.addFactor(getShape(op.getV()).back(), FactorKind::NeedReplication);
  }

  SmallVector<int64_t> query() const { return {batch, qRows, kvHeads, group, headDim}; }
  SmallVector<int64_t> out() const { return {batch, qRows, kvHeads, group, valueDim}; }
  SmallVector<int64_t> keys() const { return {batch, kRows, kvHeads, headDim}; }
  SmallVector<int64_t> values() const { return {batch, kRows, kvHeads, valueDim}; }
  SmallVector<int64_t> lse() const { return {batch, kvHeads, group, qRows}; }
  SmallVector<int64_t> sinks() const { return {kvHeads, group}; }

  void operand(OpOperand &operand, ArrayRef<int64_t> factors) {
    for (auto [dim, factor] : llvm::enumerate(factors))
      rule.mapOperand(operand.getOperandNumber(), dim, factor);
  }
  /// One that may be absent.
  void operand(MutableOperandRange range, ArrayRef<int64_t> factors) {
    for (OpOperand &present : range)
      operand(present, factors);
  }
  void result(int64_t number, ArrayRef<int64_t> factors) {
    for (auto [dim, factor] : llvm::enumerate(factors))
      rule.mapResult(number, dim, factor);
  }
  /// Maps the operands that both ops have.
  void inputs() {
    operand(op.getQMutable(), query());
    operand(op.getKMutable(), keys());
    operand(op.getVMutable(), values());
    SmallVector<int64_t> ofQ{qRows}, ofK{kRows};
    if (op.hasRowsPerEntry())
      ofQ.insert(ofQ.begin(), batch), ofK.insert(ofK.begin(), batch);
    operand(op.getQPositionsMutable(), ofQ);
    operand(op.getKPositionsMutable(), ofK);
    operand(op.getQDocumentsMutable(), ofQ);
    operand(op.getKDocumentsMutable(), ofK);
    if (!op.getKey())
      return;
    operand(op.getKeyMutable(), {rule.addFactor(2, FactorKind::NeedReplication)});
    operand(op.getOffsetsMutable(), {rule.addFactor(kDropoutDims, FactorKind::NeedReplication)});
  }

  Op op;
  RuleBuilder rule;
  int64_t batch, qRows, kvHeads, group, headDim, kRows, valueDim;
};
} // namespace

/// No linear set: out is linear in v, but lse is not.
RuleAttr AttentionOp::getShardingRule() {
  AttentionFactors<AttentionOp> factors(*this, FactorKind::PassThrough);
  factors.inputs();
  factors.operand(getSinksMutable(), factors.sinks());
  factors.result(0, factors.out());
  factors.result(1, factors.lse());
  return factors.rule.build();
}

/// dk and dv are sums over the rows and the group of q.
RuleAttr AttentionBackwardOp::getShardingRule() {
  AttentionFactors<AttentionBackwardOp> factors(*this, FactorKind::Reduction);
  factors.inputs();
  factors.operand(getDoutMutable(), factors.out());
  factors.operand(getOutMutable(), factors.out());
  factors.operand(getLseMutable(), factors.lse());
  factors.result(0, factors.query());
  factors.result(1, factors.keys());
  factors.result(2, factors.values());
  return factors.rule.addLinear({0}).build();
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

/// Clones the op. If rows of q are split, those of a rank are no diagonal of their own with all rows of k.
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

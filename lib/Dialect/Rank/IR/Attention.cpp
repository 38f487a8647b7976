//===- Attention.cpp - what a call of attention is told -------------------------------------------------===//
#include "par/Dialect/Rank/IR/Structure.h"

using namespace mlir;
using namespace mlir::par::rank;
using mlir::par::AttentionBackwardOp;

/// Positions and documents of rows: runtimes and kernels read numbers of 32 bits.
template <typename Op>
static bool hasTables(Op op) {
  return llvm::all_of(
      ArrayRef<Value>{op.getQPositions(), op.getKPositions(), op.getQDocuments(), op.getKDocuments()},
      [](Value table) { return !table || getElementTypeOrSelf(table.getType()).isInteger(32); });
}

/// `all`: the tensors that have one type.
template <typename Op>
static AttentionAttr describe(Op op, ArrayRef<Value> all, Block &body) {
  std::optional<LibraryRows> rows = describeRows(op, body);
  Type type = op.getQ().getType().getElementType();
  auto hasType = [&](Value tensor) { return getElementTypeOrSelf(tensor.getType()) == type; };
  if (!rows || !llvm::all_of(all, hasType) || !(type.isF32() || type.isBF16()) || !hasTables(op))
    return {};
  SmallVector<RowsAttr> lie(rows->operands);
  llvm::append_range(lie, rows->results);
  lie.resize(6); // forward there are no gradients
  ArrayRef<int64_t> q = op.getQ().getType().getShape(), k = op.getK().getType().getShape();
  return AttentionAttr::get(op.getContext(), type, q[0], q[1], k[1], q[2], q[3], q[4],
                            op.getV().getType().getShape().back(), lie[0], lie[1], lie[2], lie[3], lie[4],
                            lie[5]);
}

Attribute AttentionOp::describe() {
  Block &body = getBody().front();
  Operation *content = getContent();
  if (auto op = dyn_cast_or_null<par::AttentionOp>(content))
    return ::describe(op, {op.getQ(), op.getK(), op.getV(), op.getOut()}, body);
  if (auto op = dyn_cast_or_null<AttentionBackwardOp>(content))
    return ::describe(op, {op.getQ(), op.getK(), op.getV(), op.getOut(), op.getDq(), op.getDk(), op.getDv()},
                      body);
  return {};
}

StringRef AttentionOp::getRequirement() {
  return "an attention in one type, f32 or bf16, whose rows lie in inputs and outputs";
}

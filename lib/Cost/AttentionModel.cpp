//===- AttentionModel.cpp - how long devices take for attention -----------------------------------------===//
#include "AttentionModel.h"

using namespace mlir;
using namespace mlir::par;

template <typename Op>
static AttentionShape describe(Op op, rank::AttentionAttr sizes) {
  AttentionShape shape;
  shape.type = sizes.getType().isBF16() ? FloatKind::BF16 : FloatKind::F32;
  shape.batch = sizes.getBatch();
  shape.heads = sizes.getKvHeads() * sizes.getGroup();
  shape.queryRows = sizes.getQRows();
  shape.keyRows = sizes.getKRows();
  shape.headDim = sizes.getHeadDim();
  shape.valueDim = sizes.getValueDim();
  shape.causal = op.getCausal();
  shape.backward = std::is_same_v<Op, AttentionBackwardOp>;
  return shape;
}

DeviceTime par::modelAttention(rank::LibraryWorkInterface work) {
  rank::AttentionAttr sizes = cast<rank::AttentionOp>(*work).getStructure();
  Operation *content = work.getContent();
  auto forward = dyn_cast<AttentionOp>(content);
  return AttentionTime{forward ? describe(forward, sizes)
                               : describe(cast<AttentionBackwardOp>(content), sizes)};
}

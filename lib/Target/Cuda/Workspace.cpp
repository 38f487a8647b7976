//===- Workspace.cpp - memory that cuBLASLt and cuDNN need ----------------------------------------===//
#include "CudaTarget.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/Dialect/Par/IR/ParPlan.h"

using namespace mlir;
using namespace mlir::par;

/// Splits of k keep sums in f32 beside the result: room for 8 of them, and no more than the 32 MiB that
/// NVIDIA recommends for Hopper.
static int64_t getProductBytes(const GemmShape &gemm) {
  constexpr int64_t most = int64_t(32) << 20, splits = 8;
  double bytes = 4.0 * splits * double(gemm.m) * double(gemm.n) * double(gemm.batch);
  return bytes < double(most) ? static_cast<int64_t>(bytes) : most;
}

/// What cuDNN 9.19 and 9.26 ask for (compared for GPT-2 and Llama shapes): forward next to nothing; backward
/// dq in f32, a sum per row, and where heads share keys dk and dv of every query head; on sm_80 always, in
/// f32.
template <typename Op>
static int64_t getAttentionBytes(Op op, bool isBackward) {
  constexpr int64_t little = 256;
  ArrayRef<int64_t> q = op.getQ().getType().getShape(), k = op.getK().getType().getShape();
  int64_t batch = q[0], heads = q[2] * q[3], dim = q[4];
  if (!isBackward)
    return little;
  PlanAttr plan = getPlan(op->template getParentOfType<ModuleOp>());
  bool isOlder = plan && plan.getPlan().chip == ChipKind::Sm80;
  int64_t ofQuery = batch * q[1] * heads, ofKeys = batch * k[1] * heads;
  int64_t keys = isOlder ? 2 * 4 * ofKeys * dim : q[3] > 1 ? 2 * 2 * ofKeys * dim : 0;
  return 4 * ofQuery * dim + 4 * ofQuery + keys + little;
}

SmallVector<int64_t> CudaTarget::getWorkspaceBytes(ArrayRef<Operation *> ops) const {
  SmallVector<int64_t> bytes;
  for (Operation *op : ops) {
    if (auto backward = dyn_cast<AttentionBackwardOp>(op))
      bytes.push_back(getAttentionBytes(backward, true));
    else if (auto attention = dyn_cast<par::AttentionOp>(op))
      bytes.push_back(getAttentionBytes(attention, false));
    else if (auto einsum = dyn_cast<EinsumOp>(op))
      if (std::optional<GemmShape> gemm = matchGemm(einsum))
        bytes.push_back(getProductBytes(*gemm));
  }
  return bytes;
}

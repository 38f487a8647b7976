//===- Workspace.cpp - memory that library calls need ---------------------------------------------------===//
#include "CpuTarget.h"
#include "par/Dialect/Par/IR/EinsumGemm.h"
#include "par/runtime.h"

using namespace mlir;
using namespace mlir::par;

static bool isBf16(Value value) { return getElementTypeOrSelf(value.getType()).isBF16(); }

/// bf16 is widened a few rows of the batch at a time: enough of them that threads, which share kv heads, have
/// work.
template <typename Op>
static int64_t getWideningBytes(Op op, bool backward) {
  constexpr int64_t enough = 8;
  ArrayRef<int64_t> q = op.getQ().getType().getShape(), k = op.getK().getType().getShape();
  par_attention what{};
  what.batch = q[0], what.q_rows = q[1], what.k_rows = k[1];
  what.kv_heads = q[2], what.group = q[3], what.head_dim = q[4];
  int64_t kvHeads = std::max<int64_t>(q[2], 1), rows = std::min(q[0], (enough + kvHeads - 1) / kvHeads);
  return rows * par_attention_bf16_workspace(&what, backward);
}

SmallVector<int64_t> CpuTarget::getWorkspaceBytes(ArrayRef<Operation *> ops) const {
  SmallVector<int64_t> bytes;
  for (Operation *op : ops) {
    if (auto backward = dyn_cast<AttentionBackwardOp>(op)) {
      if (isBf16(backward.getQ()))
        bytes.push_back(getWideningBytes(backward, true));
    } else if (auto attention = dyn_cast<par::AttentionOp>(op)) {
      if (isBf16(attention.getQ()))
        bytes.push_back(getWideningBytes(attention, false));
    } else if (auto einsum = dyn_cast<EinsumOp>(op);
               einsum && isBf16(einsum.getInputs()[0]) && isBf16(einsum.getResult())) {
      if (std::optional<GemmShape> gemm = matchGemm(einsum))
        bytes.push_back(par_gemm_bf16_workspace(gemm->m, gemm->n, gemm->batch));
    }
  }
  return bytes;
}

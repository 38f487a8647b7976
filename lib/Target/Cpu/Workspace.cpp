//===- Workspace.cpp - memory that library calls need ---------------------------------------------------===//
#include "CpuTarget.h"
#include "par/runtime.h"

using namespace mlir;
using namespace mlir::par;

/// bf16 is widened a few rows of the batch at a time: enough of them that threads, which share kv heads, have
/// work.
static int64_t getWideningBytes(rank::AttentionAttr structure) {
  constexpr int64_t enough = 8;
  par_attention what{};
  what.batch = structure.getBatch();
  what.q_rows = structure.getQRows(), what.k_rows = structure.getKRows();
  what.kv_heads = structure.getKvHeads(), what.group = structure.getGroup();
  what.head_dim = structure.getHeadDim();
  int64_t kvHeads = std::max<int64_t>(what.kv_heads, 1);
  int64_t rows = std::min<int64_t>(what.batch, (enough + kvHeads - 1) / kvHeads);
  return rows * par_attention_bf16_workspace(&what, static_cast<bool>(structure.getDq()));
}

SmallVector<int64_t> CpuTarget::getWorkspaceBytes(rank::WorkOpInterface work) const {
  SmallVector<int64_t> bytes;
  if (auto attention = dyn_cast<rank::AttentionOp>(*work)) {
    if (attention.getStructure().getType().isBF16())
      bytes.push_back(getWideningBytes(attention.getStructure()));
  } else if (auto gemm = dyn_cast<rank::GemmOp>(*work)) {
    for (auto product : gemm.getProducts().getAsRange<rank::ProductAttr>())
      if (product.getFrom().isBF16() && product.getTo().isBF16())
        bytes.push_back(par_gemm_bf16_workspace(product.getM(), product.getN(), product.getBatch()));
  }
  return bytes;
}

//===- Workspace.cpp - memory that cuBLASLt and kernels need -------------------------------===//
#include "Attention/AttentionPlan.h"
#include "CudaTarget.h"
#include "KernelPlan.h"
#include "par/Conversion/ScalarEvaluator.h"

using namespace mlir;
using namespace mlir::par;

/// Splits of k keep sums in f32 beside the result: room for 8 of them, and no more than the 32 MiB that
/// NVIDIA recommends for Hopper.
static int64_t getProductBytes(rank::ProductAttr product) {
  constexpr int64_t most = int64_t(32) << 20, splits = 8;
  double bytes = 4.0 * splits * double(product.getM()) * double(product.getN()) * double(product.getBatch());
  return bytes < double(most) ? static_cast<int64_t>(bytes) : most;
}

/// Sums of slices. The region stays as it is: other passes look at it. What cannot be generated is said when
/// it is to be.
static SmallVector<int64_t> getKernelBytes(rank::KernelOp kernel) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<rank::KernelOp> copy = kernel.clone();
  Block &block = copy->getBody().front();
  if (failed(decomposeKernel(block)))
    return {};
  KernelPlan plan = planKernel(block);
  if (!plan.hasScratch())
    return {};
  return SmallVector<int64_t>(plan.sums.size(), 4 * plan.slices * plan.countColumnSums());
}

SmallVector<int64_t> CudaTarget::getWorkspaceBytes(rank::WorkOpInterface work) const {
  if (auto kernel = dyn_cast<rank::KernelOp>(*work))
    return getKernelBytes(kernel);
  SmallVector<int64_t> bytes;
  if (auto attention = dyn_cast<rank::AttentionOp>(*work)) {
    if (attention.getStructure().getDq())
      bytes.push_back(getAttentionScratchBytes(attention.getStructure()));
  } else if (auto gemm = dyn_cast<rank::GemmOp>(*work)) {
    for (auto product : gemm.getProducts().getAsRange<rank::ProductAttr>())
      bytes.push_back(getProductBytes(product));
  }
  return bytes;
}

//===- Workspace.cpp - memory that libraries and kernels need -------------------------------===//
#include "Attention/AttentionPlan.h"
#include "Attention/LibraryAttention.h"
#include "CudaTarget.h"
#include "KernelPlan.h"
#include "RoundParts.h"
#include "par/Conversion/ScalarEvaluator.h"
#include "par/Dialect/Rank/IR/Epilogue.h"

using namespace mlir;
using namespace mlir::par;

/// Splits of k keep sums in f32 beside the result: room for 8 of them, and no more than the 32 MiB that
/// NVIDIA recommends for Hopper.
static int64_t getProductBytes(rank::ProductAttr product) {
  constexpr int64_t most = int64_t(32) << 20, splits = 8;
  double bytes = 4.0 * splits * double(product.getM()) * double(product.getN()) * double(product.getBatch());
  return bytes < double(most) ? static_cast<int64_t>(bytes) : most;
}

/// What a question about a kernel's plan has for an answer, `otherwise` where it cannot be generated: that is
/// said when it is to be. The region stays as it is: other passes look at it.
template <typename Answer>
static Answer askPlan(rank::KernelOp kernel, Answer otherwise,
                      function_ref<Answer(const KernelPlan &)> question) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<rank::KernelOp> copy = kernel.clone();
  Block &block = copy->getBody().front();
  return failed(decomposeForDevice(block)) ? otherwise : question(planKernel(block));
}

/// Sums of slices.
static SmallVector<int64_t> getKernelBytes(rank::KernelOp kernel) {
  return askPlan<SmallVector<int64_t>>(kernel, {}, [](const KernelPlan &plan) {
    return plan.hasScratch()
               ? SmallVector<int64_t>(plan.sums.size(), 4 * plan.slices * plan.countColumnSums())
               : SmallVector<int64_t>();
  });
}

int64_t CudaTarget::countLaunches(rank::WorkOpInterface work) const {
  if (auto attention = dyn_cast<rank::AttentionOp>(*work)) // gradients of queries, then those of keys
    return attention.getStructure().getDq() ? 2 : 1;
  auto kernel = dyn_cast<rank::KernelOp>(*work);
  if (!kernel)
    return 1;
  return askPlan<int64_t>(kernel, 1, [](const KernelPlan &plan) {
    return plan.hasScratch() || plan.kind == PlanKind::Scatter ? 2 : 1;
  });
}

SmallVector<int64_t> CudaTarget::getWorkspaceBytes(rank::WorkOpInterface work) const {
  if (auto kernel = dyn_cast<rank::KernelOp>(*work))
    return getKernelBytes(kernel);
  SmallVector<int64_t> bytes;
  if (auto attention = dyn_cast<rank::AttentionOp>(*work)) {
    if (attention.getStructure().getDq())
      bytes.push_back(getAttentionScratchBytes(attention.getStructure()));
    if (int64_t library = getLibraryBytes(attention))
      bytes.push_back(library);
  } else if (auto gemm = dyn_cast<rank::GemmOp>(*work)) {
    for (auto product : gemm.getProducts().getAsRange<rank::ProductAttr>())
      bytes.push_back(getProductBytes(product));
    if (OwningOpRef<rank::KernelOp> epilogue = rank::separateEpilogue(gemm))
      llvm::append_range(bytes, getKernelBytes(*epilogue));
  }
  return bytes;
}

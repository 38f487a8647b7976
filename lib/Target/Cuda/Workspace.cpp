//===- Workspace.cpp - memory that libraries and kernels need -------------------------------===//
#include "CudaTarget.h"
#include "KernelStrategy.h"
#include "RoundParts.h"
#include "par/Dialect/Rank/IR/Epilogue.h"
#include "par/Target/LibraryCall.h"

using namespace mlir;
using namespace mlir::par;

/// Splits of k keep sums in f32 beside the result: room for 8 of them, and no more than the 32 MiB that
/// NVIDIA recommends for Hopper.
static int64_t getProductBytes(rank::ProductAttr product) {
  constexpr int64_t most = int64_t(32) << 20, splits = 8;
  double bytes = 4.0 * splits * double(product.getM()) * double(product.getN()) * double(product.getBatch());
  return bytes < double(most) ? static_cast<int64_t>(bytes) : most;
}

/// A copy of the kernel with the region that strategies look at; null where it cannot be generated: that is
/// said when it is to be. The kernel's own region stays as it is: other passes look at it.
static OwningOpRef<rank::KernelOp> simplify(rank::KernelOp kernel) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<rank::KernelOp> copy = kernel.clone();
  return succeeded(decomposeForDevice(copy->getBody().front())) ? std::move(copy) : nullptr;
}

static bool hasAny(Block &block, ArrayRef<OpClass> classes) {
  return llvm::any_of(block, [&](Operation &op) { return llvm::is_contained(classes, getOpClass(&op)); });
}

/// Launches leave each other nothing but sums, which composite ops may be made of.
static SmallVector<int64_t> getKernelBytes(rank::KernelOp kernel) {
  if (!hasAny(kernel.getBody().front(), {OpClass::Reduction, OpClass::Contraction, OpClass::Composite}))
    return {};
  OwningOpRef<rank::KernelOp> simple = simplify(kernel);
  if (!simple || !hasAny(simple->getBody().front(), {OpClass::Reduction, OpClass::Contraction}))
    return {};
  return selectStrategy(simple->getBody().front())->getWorkspaceBytes();
}

int64_t CudaTarget::countLaunches(rank::WorkOpInterface work) const {
  if (auto library = dyn_cast<rank::LibraryWorkInterface>(*work)) {
    const LibraryCall *call = findLibraryCall(kind, library);
    return call ? call->countLaunches(library) : 1;
  }
  auto kernel = dyn_cast<rank::KernelOp>(*work);
  OwningOpRef<rank::KernelOp> simple = kernel ? simplify(kernel) : nullptr;
  return simple ? selectStrategy(simple->getBody().front())->countLaunches() : 1;
}

SmallVector<int64_t> CudaTarget::getWorkspaceBytes(rank::WorkOpInterface work) const {
  if (auto kernel = dyn_cast<rank::KernelOp>(*work))
    return getKernelBytes(kernel);
  if (auto library = dyn_cast<rank::LibraryWorkInterface>(*work))
    return getLibraryBytes(library);
  SmallVector<int64_t> bytes;
  if (auto gemm = dyn_cast<rank::GemmOp>(*work)) {
    for (auto product : gemm.getProducts().getAsRange<rank::ProductAttr>())
      bytes.push_back(getProductBytes(product));
    if (OwningOpRef<rank::KernelOp> epilogue = rank::separateEpilogue(gemm))
      llvm::append_range(bytes, getKernelBytes(*epilogue));
  }
  return bytes;
}

//===- Workspace.cpp - memory that library calls need ---------------------------------------------------===//
#include "CpuTarget.h"
#include "par/runtime.h"

using namespace mlir;
using namespace mlir::par;

SmallVector<int64_t> CpuTarget::getWorkspaceBytes(rank::WorkOpInterface work) const {
  if (auto library = dyn_cast<rank::LibraryWorkInterface>(*work))
    return getLibraryBytes(library);
  SmallVector<int64_t> bytes;
  if (auto gemm = dyn_cast<rank::GemmOp>(*work))
    for (auto product : gemm.getProducts().getAsRange<rank::ProductAttr>())
      if (product.getFrom().isBF16() && product.getTo().isBF16())
        bytes.push_back(par_gemm_bf16_workspace(product.getM(), product.getN(), product.getBatch()));
  return bytes;
}

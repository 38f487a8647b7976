//===- LowerKernels.cpp - kernels of a GPU as a module of the LLVM dialect ------------------------===//
#include "../Kernels/LowerKernels.h"
#include "CudaTarget.h"
#include "ExpandPower.h"
#include "HardwareMath.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::par;

/// A GPU has no library of C.
static LogicalResult checkCalls(ModuleOp kernels) {
  SymbolTable symbols(kernels);
  WalkResult result = kernels.walk([&](LLVM::CallOp call) -> WalkResult {
    auto callee = call.getCallee() ? symbols.lookup<LLVM::LLVMFuncOp>(*call.getCallee()) : LLVM::LLVMFuncOp();
    if (callee && !callee.isExternal())
      return WalkResult::advance();
    return call.emitError("kernel generation: a GPU has no function ")
           << call.getCallee().value_or("behind a pointer");
  });
  return failure(result.wasInterrupted());
}

/// The NVPTX backend drops llvm.prefetch. Into the second-level cache: registers and the first one have other
/// work.
static void writePrefetches(ModuleOp kernels) {
  kernels.walk([](LLVM::Prefetch prefetch) {
    OpBuilder builder(prefetch);
    Location loc = prefetch.getLoc();
    Value address = builder.create<LLVM::PtrToIntOp>(loc, builder.getI64Type(), prefetch.getAddr());
    auto dialect = LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
    builder.create<LLVM::InlineAsmOp>(loc, TypeRange(), address, "prefetch.global.L2 [$0];", "l",
                                      /*has_side_effects=*/true, /*is_align_stack=*/false, dialect,
                                      /*operand_attrs=*/ArrayAttr());
    prefetch.erase();
  });
}

LogicalResult CudaTarget::lowerKernels(ModuleOp kernels) const {
  if (failed(expandPower(kernels)) || failed(useHardwareMath(kernels)) || failed(lowerLoopsToLLVM(kernels)))
    return failure();
  writePrefetches(kernels);
  Builder builder(kernels.getContext());
  for (auto function : kernels.getOps<LLVM::LLVMFuncOp>()) {
    auto how = function->getAttrOfType<DictionaryAttr>(kLaunchAttr);
    if (!how)
      continue;
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    SmallVector<int32_t> block(how.getAs<DenseI64ArrayAttr>(launch::kBlock).asArrayRef());
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), builder.getDenseI32ArrayAttr(block));
  }
  return checkCalls(kernels);
}

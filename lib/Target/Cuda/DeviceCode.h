//===- DeviceCode.h - PTX of a module of kernels ----------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_DEVICECODE_H
#define PAR_LIB_TARGET_CUDA_DEVICECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Target/TargetMachine.h"

namespace mlir::par {

/// Of the PTX that is written: what a driver of CUDA 12.1 reads. Kernels have more than 4 KiB of parameters.
inline constexpr llvm::StringLiteral kPtxVersion = "8.1";

llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createDeviceMachine(llvm::StringRef chip);

/// The optimised module that the NVPTX back end gets, of a module in the LLVM dialect.
llvm::Expected<std::unique_ptr<llvm::Module>>
buildDeviceModule(ModuleOp kernels, llvm::TargetMachine &machine, llvm::LLVMContext &context);

/// The PTX of such a module's bitcode. Read back, a module is not always the same to the back end as before
/// it was written: only from its bytes is the PTX the same each time.
llvm::Expected<std::string> printPtx(llvm::MemoryBufferRef bitcode);

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_DEVICECODE_H

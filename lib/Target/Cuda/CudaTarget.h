//===- CudaTarget.h - NVIDIA GPUs with the runtime in runtime/cuda ----------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CUDA_CUDATARGET_H
#define PAR_LIB_TARGET_CUDA_CUDATARGET_H

#include "par/Target/Target.h"

namespace mlir::par {

class CudaTarget : public Target {
public:
  CudaTarget();
  ArrayRef<ChipKind> getChips() const override;
  bool joinsProducts(Type element) const override { return false; }
  SmallVector<int64_t> getWorkspaceBytes(rank::WorkOpInterface work) const override;
  int64_t countLaunches(rank::WorkOpInterface work) const override;
  FailureOr<func::FuncOp> writeKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                      ArrayRef<StringAttr> axes) const override;
  LogicalResult lowerKernels(ModuleOp kernels) const override;
  void describeMachine(const Plan &plan, llvm::json::Object &manifest) const override;
  StringRef getDeviceText() const override { return "ptx"; }
  llvm::Error writeProgram(ModuleOp module, const Plan &plan, StringRef manifestHash,
                           StringRef path) const override;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CUDA_CUDATARGET_H

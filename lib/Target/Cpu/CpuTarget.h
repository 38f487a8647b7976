//===- CpuTarget.h - processors with the runtime in runtime/cpu -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_TARGET_CPU_CPUTARGET_H
#define PAR_LIB_TARGET_CPU_CPUTARGET_H

#include "par/Target/Target.h"

namespace mlir::par {

class CpuTarget : public Target {
public:
  CpuTarget();
  ArrayRef<ChipKind> getChips() const override;
  bool joinsProducts(Type element) const override { return element.isF32(); }
  SmallVector<int64_t> getWorkspaceBytes(rank::WorkOpInterface work) const override;
  FailureOr<func::FuncOp> writeKernel(OpBuilder &builder, rank::WorkOpInterface work, StringRef name,
                                      ArrayRef<StringAttr> axes) const override;
  LogicalResult lowerKernels(ModuleOp kernels) const override;
  void describeMachine(const Plan &plan, llvm::json::Object &manifest) const override;
  llvm::Error writeProgram(ModuleOp module, const Plan &plan, StringRef manifestHash,
                           StringRef path) const override;
};

} // namespace mlir::par

#endif // PAR_LIB_TARGET_CPU_CPUTARGET_H

//===- WorkCalls.h - what computes, as calls of the runtime -----------------------------*- C++ -*-===//
#ifndef PAR_LIB_CONVERSION_RANKTOLLVM_WORKCALLS_H
#define PAR_LIB_CONVERSION_RANKTOLLVM_WORKCALLS_H

#include "par/Target/CallBuilder.h"
#include "par/Target/Target.h"

namespace mlir::par {

/// How a program names what the runtime is to compute.
class WorkCalls {
public:
  WorkCalls(CallBuilder &calls, TargetKind target) : calls(calls), target(target) {}
  virtual ~WorkCalls() = default;

  /// Takes the lowered kernels into the program.
  virtual void addKernels(ModuleOp kernels) = 0;
  /// `name` is that of its function among the kernels (KernelNames.h).
  virtual LogicalResult callKernel(rank::WorkOpInterface work, StringRef name) = 0;
  /// `epilogue`: that of the kernel that computes it where the product is computed alone; empty for none.
  virtual LogicalResult callProducts(rank::GemmOp work, StringRef epilogue) = 0;
  virtual LogicalResult callLibrary(rank::LibraryWorkInterface work, StringRef name) = 0;
  /// After all functions.
  virtual void finish() {}

protected:
  CallBuilder &calls;
  const TargetKind target;
};

/// Addresses of kernels, and records that describe what libraries compute: all of it is the host's.
std::unique_ptr<WorkCalls> createDirectCalls(CallBuilder &calls, TargetKind target);
/// Numbers in lists of the manifest. The kernels become the module `device` in the program, which has the
/// lists as `rank.kernels`, `rank.products` and the names of its libraries' lists (LibraryCall.h).
std::unique_ptr<WorkCalls> createNumberedCalls(CallBuilder &calls, TargetKind target);

} // namespace mlir::par

#endif // PAR_LIB_CONVERSION_RANKTOLLVM_WORKCALLS_H

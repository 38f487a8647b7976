//===- WorkList.h - what a program's work costs -----------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_EMIT_WORKLIST_H
#define PAR_LIB_EMIT_WORKLIST_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Target/Target.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// The manifest's `work`: kernels, products, attention, collectives and copies in the order of their numbers
/// (`rank-plan-memory`). `times` says how often a training step runs a function.
llvm::json::Array describeWork(ModuleOp module, llvm::function_ref<int64_t(rank::FuncOp)> times);

/// The manifest's `step_work`: what a training step comes to by class, most bytes first. Launches are counted
/// where kernels are a device's programs.
llvm::json::Array summarizeWork(ModuleOp module, const Target &target,
                                llvm::function_ref<int64_t(rank::FuncOp)> times);

/// "gemm", "kernel rms_norm", "all_reduce tp": the class under which profiles and reports count an op.
std::string getWorkClass(Operation *op);

} // namespace mlir::par

#endif // PAR_LIB_EMIT_WORKLIST_H

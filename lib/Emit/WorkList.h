//===- WorkList.h - what a program's work costs -----------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_EMIT_WORKLIST_H
#define PAR_LIB_EMIT_WORKLIST_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// The manifest's `work`: kernels, products, attention, collectives and copies in the order of their numbers
/// (`rank-plan-memory`). `times` says how often a training step runs a function.
llvm::json::Array describeWork(ModuleOp module, llvm::function_ref<int64_t(rank::FuncOp)> times);

/// "gemm", "kernel rms_norm", "all_reduce tp": the class under which profiles and reports count an op.
std::string getWorkClass(Operation *op);

} // namespace mlir::par

#endif // PAR_LIB_EMIT_WORKLIST_H

//===- CheckNames.h - patterns of a plan against a model's parameters -------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_CHECKNAMES_H
#define PAR_COMPILE_CHECKNAMES_H

#include "mlir/IR/BuiltinOps.h"
#include "par/Compile/CheckPlan.h"

namespace mlir::par {

/// Refuses patterns of --freeze and --weight-decay-on that are like no parameter of the module, which is as
/// it was before the phase that they act in, and freezing all. `model`: the file, for the error.
llvm::Error checkNames(ModuleOp module, const Plan &plan, const PlanWords &words, llvm::StringRef model);

} // namespace mlir::par

#endif // PAR_COMPILE_CHECKNAMES_H

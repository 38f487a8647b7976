//===- GraphInput.h - what a given graph must be ----------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_COMPILE_GRAPHINPUT_H
#define PAR_LIB_COMPILE_GRAPHINPUT_H

#include "CommandLine.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::par {

/// Checks that the graph is in the state that `--from` says and that the flags do not contradict it, and
/// completes the plan of the options: what was decided before comes from the graph's own plan and types.
llvm::Error takeGraph(ModuleOp module, CompileOptions &options);

/// Sets the plan's model, which must be the one that a plan from a file was made for.
llvm::Error takeModel(ModuleOp module, CompileOptions &options);

} // namespace mlir::par

#endif // PAR_LIB_COMPILE_GRAPHINPUT_H

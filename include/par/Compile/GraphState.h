//===- GraphState.h - which phases a graph went through ---------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_GRAPHSTATE_H
#define PAR_COMPILE_GRAPHSTATE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::par {

/// By what is in it: graphs are also written by hand.
bool isPropagated(ModuleOp module);
/// Into chunks.
bool isCut(ModuleOp module);
bool isDifferentiated(ModuleOp module);
bool isPartitioned(ModuleOp module);
bool isOverlapped(ModuleOp module);

/// Completes `par.model` by what a graph computes, and hashes it: what a plan's `model` is.
std::string hashModel(ModuleOp module);

/// The type of the argument that takes the tokens, over all ranks; null if there is none.
RankedTensorType findTokens(ModuleOp module);

} // namespace mlir::par

#endif // PAR_COMPILE_GRAPHSTATE_H

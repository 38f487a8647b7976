//===- GraphState.h - which phases a graph went through ---------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_GRAPHSTATE_H
#define PAR_COMPILE_GRAPHSTATE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "par/Plan/Plan.h"

#include <set>

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

/// Checks that a graph can be planned from its beginning and goes with the flags that were `given`, and
/// completes `plan` by its sizes and types: its batch is that of the graph, for each micro-batch.
llvm::Error takeWholeGraph(ModuleOp module, const std::string &model,
                           const std::vector<std::string> &overrides, const std::set<std::string> &given,
                           Plan &plan);

} // namespace mlir::par

#endif // PAR_COMPILE_GRAPHSTATE_H

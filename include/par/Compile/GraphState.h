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

/// Inputs that the runtime feeds a graph, over all ranks and for a micro-batch; null where it reads none.
struct GraphRows {
  RankedTensorType tokens, targets;
  /// The type of an input that is supplied for each micro-batch: its first dimension counts rows.
  RankedTensorType any;

  /// Tokens of a row; 0 in a graph that reads neither tokens nor targets.
  int64_t getSeq() const { return tokens ? tokens.getDimSize(1) : targets ? targets.getDimSize(1) : 0; }
};
GraphRows findRows(ModuleOp module);

/// Whether the graph keeps documents apart: it reads those of tokens.
bool readsDocuments(ModuleOp module);

/// How many tokens exist, as `par.model` says; 0: it does not, and no op needs to know. An error if one does:
/// lookups and picks read memory by number.
llvm::Expected<int64_t> getVocab(ModuleOp module, const GraphRows &rows);

/// Checks what no op can check by itself: inputs that are read in rows have those of one batch, and nothing
/// is looked up by numbers of an open input that only the runtime's own inputs are checked for.
llvm::Error checkOpenInputs(ModuleOp module);

/// Checks that a graph can be planned from its beginning and goes with the flags that were `given`, and
/// completes `plan` by its sizes and types: its batch is that of the graph, for each micro-batch.
llvm::Error takeWholeGraph(ModuleOp module, const std::string &model,
                           const std::vector<std::string> &overrides, const std::set<std::string> &given,
                           Plan &plan);

} // namespace mlir::par

#endif // PAR_COMPILE_GRAPHSTATE_H

//===- Stages.h - what the stages of a pipeline run -------------------------------------------*- C++ -*-===//
#ifndef PAR_LIB_EMIT_STAGES_H
#define PAR_LIB_EMIT_STAGES_H

#include "StageLayers.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::par {

/// What the ranks at one coordinate of the pipeline run; without a pipeline, all ranks.
struct Stage {
  rank::ScheduleOp train;
  llvm::StringMap<int64_t> calls; ///< how often a training step runs each function
  FunctionLayers layers = {};

  /// How often a training step runs an op of a function.
  int64_t countRuns(rank::WorkOpInterface op) const {
    return calls.lookup(op->getParentOfType<rank::FuncOp>().getSymName());
  }

  /// The layers whose function the op is in; empty: it is in none's.
  std::set<int64_t> getLayers(rank::WorkOpInterface op) const {
    return layers.lookup(op->getParentOfType<rank::FuncOp>().getSymName());
  }
};

/// Of a work that is one.
inline CollectiveOpInterface getCollective(rank::WorkOpInterface op) {
  return cast<CollectiveOpInterface>(op.getBody().front().front());
}

/// Why a collective is there, as par-partition wrote it; empty: nobody said.
inline std::string getCause(rank::WorkOpInterface op) {
  auto cause = op->getAttrOfType<StringAttr>(ParDialect::kCauseAttr);
  return cause ? cause.getValue().str() : "";
}

} // namespace mlir::par

#endif // PAR_LIB_EMIT_STAGES_H

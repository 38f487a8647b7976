//===- Traffic.h - what ranks send each other in a step ----------------------------------------*- C++
//-*-===//
#ifndef PAR_LIB_EMIT_TRAFFIC_H
#define PAR_LIB_EMIT_TRAFFIC_H

#include "Stages.h"
#include "llvm/Support/JSON.h"

namespace mlir::par {

/// The manifest's `collectives`: by the user's axes, with bytes per rank and step, stage by stage.
llvm::json::Array describeTraffic(ModuleOp module, ArrayRef<Stage> stages);

} // namespace mlir::par

#endif // PAR_LIB_EMIT_TRAFFIC_H

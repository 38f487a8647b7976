//===- LoadModel.h - a model as a module, by flags --------------------------------------------*- C++ -*-===//
#ifndef PAR_COMPILE_LOADMODEL_H
#define PAR_COMPILE_LOADMODEL_H

#include "par/Compile/CheckPlan.h"
#include "par/Source/ModelSource.h"

namespace mlir::par {

/// The model that a tool is given, and which sizes are the user's.
struct ModelRequest {
  std::string model;                     ///< its path
  std::vector<std::string> overrides;    ///< as SourceOptions
  bool hasBatch = false, hasSeq = false; ///< the plan's are the user's; else the source's default, and 8
                                         ///< sequences for every data-parallel rank
  bool logits = true;                    ///< as SourceOptions
};

/// Reads the model and builds its module, for the batch of the plan where that is open. Completes the plan's
/// `seq` and `batch`. Null after one error through `context`.
OwningOpRef<ModuleOp> loadModel(MLIRContext &context, ModelSource &source, const ModelRequest &request,
                                const PlanWords &words, Plan &plan);

} // namespace mlir::par

#endif // PAR_COMPILE_LOADMODEL_H

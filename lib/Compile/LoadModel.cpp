//===- LoadModel.cpp - a model as a module, by flags ----------------------------------------------------===//
#include "par/Compile/LoadModel.h"

using namespace mlir;
using namespace mlir::par;

/// A graph has its batch; what else is checked of it depends on the tool.
static LogicalResult decideBatch(MLIRContext &context, const ModelRequest &request, const PlanWords &words,
                                 Plan &plan) {
  if (!request.hasBatch)
    plan.batch = 8 * plan.countRanks(AxisRole::Batch);
  if (llvm::Error problem = checkBatch(plan, words))
    return emitError(UnknownLoc::get(&context)) << llvm::toString(std::move(problem));
  return success();
}

OwningOpRef<ModuleOp> par::loadModel(MLIRContext &context, ModelSource &source, const ModelRequest &request,
                                     const PlanWords &words, Plan &plan) {
  if (!source.isGraph() && failed(decideBatch(context, request, words, plan)))
    return nullptr;
  SourceOptions wanted{request.model, request.overrides};
  if (request.hasSeq)
    wanted.seq = plan.seq;
  wanted.dtype = plan.dtype;
  wanted.documents = plan.documents;
  wanted.logits = request.logits;
  if (failed(source.read(context, wanted)))
    return nullptr;
  plan.seq = wanted.seq.value_or(plan.seq);
  return source.build(context, plan.getGraphBatch());
}

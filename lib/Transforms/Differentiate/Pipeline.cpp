//===- Pipeline.cpp - the differentiation phase ---------------------------------------------------------===//
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "par/Transforms/Differentiate/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::par;

Type par::parseStateType(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("f32", Float32Type::get(context))
      .Case("bf16", BFloat16Type::get(context))
      .Default(nullptr);
}

void par::buildDifferentiatePipeline(OpPassManager &manager, const DifferentiatePipelineOptions &options) {
  // Before differentiation replaces the forward functions.
  if (options.evaluation)
    manager.addPass(createBuildEvaluation());
  // Since it decides which values differentiation moves from forward to backward functions.
  SmallVector<int64_t> limits(options.recomputeLimit.begin(), options.recomputeLimit.end());
  manager.addPass(createSelectResiduals(SelectResidualsOptions{options.recompute, limits, options.explain}));
  manager.addPass(createDifferentiate(DifferentiateOptions{options.split, options.gradType}));
  // Last, since updates of layers are grouped by the calls of the differentiated forward functions.
  manager.addPass(createBuildOptimizer(
      BuildOptimizerOptions{options.optimizer, options.momentType,
                            SmallVector<std::string>(options.decayOn.begin(), options.decayOn.end())}));
  // Changes what forward and backward functions read: when both exist.
  if (options.holdGathered)
    manager.addPass(createHoldGathered());
  manager.addPass(createVerifyDifferentiated());
}

void par::registerDifferentiatePipeline() {
  PassPipelineRegistration<DifferentiatePipelineOptions>(
      "par-differentiate-pipeline",
      "forward graph to forward, backward, reduce, norm and update (docs/IR.md section 3)",
      buildDifferentiatePipeline);
}

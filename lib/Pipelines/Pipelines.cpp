//===- Pipelines.cpp - the phases, as par-compile and par-opt run them ----------------------------------===//
#include "par/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "par/Conversion/Passes.h"
#include "par/Plan/Plan.h"
#include "par/Transforms/Annotate/Passes.h"
#include "par/Transforms/Lower/Passes.h"
#include "par/Transforms/Overlap/Passes.h"
#include "par/Transforms/Partition/Passes.h"
#include "par/Transforms/Propagate/Passes.h"

using namespace mlir;
using namespace mlir::par;

namespace {
/// Refuses a module, for what is wrong with a pipeline is only said when it runs.
struct Refuse : PassWrapper<Refuse, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Refuse)
  explicit Refuse(std::string problem) : problem(std::move(problem)) {}

  void runOnOperation() override {
    getOperation().emitError(problem);
    signalPassFailure();
  }

  std::string problem;
};
} // namespace

/// The passes that a plan names as its strategy (par-compile has checked them already).
static void addStrategy(OpPassManager &manager, const std::string &strategy) {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (!strategy.empty() && failed(parsePassPipeline(strategy, manager, stream)))
    manager.addPass(std::make_unique<Refuse>(
        "strategy " + strategy + ": " + StringRef(problem).split("error: ").second.split('\n').first.str()));
}

void par::buildAnnotatePipeline(OpPassManager &manager, const AnnotatePipelineOptions &options) {
  // First: what depends on trained parameters decides which layers are one function.
  if (!options.freeze.empty())
    manager.addPass(createFreezeParameters(
        FreezeParametersOptions{SmallVector<std::string>(options.freeze.begin(), options.freeze.end())}));
  // Everything after speaks of the mesh's axes.
  manager.addPass(createSetMesh(SetMeshOptions{options.mesh}));
  // First: par's own strategies keep what it annotates.
  addStrategy(manager, options.strategy);
  if (options.searchSharding)
    manager.addPass(
        createSearchSharding(SearchShardingOptions{options.parameterLimit, options.flops, options.memory,
                                                   options.link, options.latency, options.explain}));
  else
    // May refine tp in the mesh: before anything names its axes.
    manager.addPass(createShardTensor());
  manager.addPass(createShardData());
  // Puts its constraints around products with parameters that are split over tp.
  if (options.sequenceParallel)
    manager.addPass(createShardSequence());
  // Last: storage is minor to what parameters compute with.
  manager.addPass(createShardZero(ShardZeroOptions{options.zero}));
}

void par::buildPropagatePipeline(OpPassManager &manager, const PropagatePipelineOptions &options) {
  manager.addPass(createPropagateShardings(PropagateShardingsOptions{/*explain=*/false, options.origins}));
  if (options.verify)
    manager.addPass(createVerifyShardings());
}

void par::buildPartitionPipeline(OpPassManager &manager, const PartitionPipelineOptions &options) {
  manager.addPass(createInsertReshards());
  // Here alone sums and what completes them are in the IR.
  if (options.verify)
    manager.addPass(createVerifyShardings(VerifyShardingsOptions{/*derived=*/true}));
  // After reshards: whether a dimension is padded depends on the sharding that an op's factor finally has.
  manager.addPass(createPadForSharding());
  manager.addPass(createPartitionGraph(PartitionGraphOptions{options.explain}));
  manager.addNestedPass<func::FuncOp>(createOptimizeCollectives());
  // After optimisation, which knows pairs of single ones.
  manager.addNestedPass<func::FuncOp>(createJoinCollectives(JoinCollectivesOptions{options.bucketBytes}));
  // Last of those: the transposes it adds would hide pairs of collectives, and what may be joined without
  // copies.
  manager.addNestedPass<func::FuncOp>(createNormalizeCollectives());
  // Collectives have their form: a function of two, or one that is gone, is no concern of theirs.
  manager.addPass(createSelectBackward(SelectBackwardOptions{options.schedule}));
  // It knows of one backward function per chunk.
  manager.addPass(createDeferLoss(DeferLossOptions{options.largestValue}));
  manager.addPass(createVerifyPartitioned());
}

void par::buildOverlapPipeline(OpPassManager &manager, const OverlapPipelineOptions &options) {
  // Before collectives start: reductions then find the layers that they can overlap with.
  manager.addPass(createFuseReduction(FuseReductionOptions{options.microBatches}));
  manager.addPass(createOverlapCollectives(OverlapCollectivesOptions{options.prefetchLimit}));
  manager.addPass(createVerifyOverlapped());
}

void par::buildLowerPipeline(OpPassManager &manager, const LowerPipelineOptions &options) {
  // Once functions are local: shardings have no part in it.
  if (options.offload)
    manager.addPass(createOffloadState(OffloadStateOptions{options.updateOnHost, options.overlapOffload}));
  // Before sums are widened: the type of the vectors' sum is then a matter of its own.
  manager.addNestedPass<func::FuncOp>(createFlattenRows());
  // Before values are computed in parts, which are added up in the type of their sum, and before kernels are
  // formed: rounding is a kernel of its own.
  manager.addNestedPass<func::FuncOp>(createWidenSums());
  manager.addPass(createSplitLargeValues(SplitLargeValuesOptions{options.largestValue, options.leastRows}));
  manager.addNestedPass<func::FuncOp>(createJoinPads());
  // Behind what makes functions of functions: parts may have positions of their own.
  manager.addPass(createHoistConstants());
  // Values have the sizes by now that are computed at once, and no op has its kernel yet.
  manager.addNestedPass<func::FuncOp>(createFormEpilogues());
  manager.addNestedPass<func::FuncOp>(createFormKernels());
  // It moves kernels of products as wholes.
  manager.addNestedPass<func::FuncOp>(createJoinProducts());
  manager.addPass(createToRank(ToRankOptions{options.microBatches, options.schedule}));
  if (options.verify)
    manager.addPass(createVerifySchedule());
  // Needs every buffer and call.
  manager.addPass(createPlanMemory());
  manager.addPass(createNumberWork());
  // Of what runs: last.
  if (options.verify)
    manager.addPass(createVerifyProgram());
}

void par::buildEmitPipeline(OpPassManager &manager) { manager.addPass(createRankToLLVM()); }

static void buildEmitCudaPipeline(OpPassManager &manager, const EmitCudaPipelineOptions &options) {
  manager.addPass(createSetTarget(SetTargetOptions{getName(TargetKind::Cuda).str(), options.chip}));
  buildEmitPipeline(manager);
}

void par::registerPipelines() {
  PassPipelineRegistration<AnnotatePipelineOptions>(
      "par-annotate-pipeline", "mesh and strategies: tensor, data and sequence parallelism, ZeRO",
      buildAnnotatePipeline);
  PassPipelineRegistration<PropagatePipelineOptions>("par-propagate-pipeline",
                                                     "shardings complete and closed", buildPropagatePipeline);
  PassPipelineRegistration<PartitionPipelineOptions>(
      "par-partition-pipeline", "global tensors to local ones and collectives", buildPartitionPipeline);
  PassPipelineRegistration<OverlapPipelineOptions>(
      "par-overlap-pipeline", "collectives run beside computation", buildOverlapPipeline);
  PassPipelineRegistration<LowerPipelineOptions>("par-lower-pipeline",
                                                 "local tensors to buffers of one arena", buildLowerPipeline);
  PassPipelineRegistration<>("par-emit-pipeline", "rank programs to LLVM, kernels for the plan's target",
                             buildEmitPipeline);
  PassPipelineRegistration<EmitCudaPipelineOptions>(
      "par-emit-cuda-pipeline", "rank programs to LLVM, kernels to NVVM", buildEmitCudaPipeline);
}

//===- Driver.cpp - runs the phases of a plan -----------------------------------------------------------===//
#include "par/Compile/Driver.h"
#include "mlir/IR/Verifier.h"
#include "par/Compile/PlanFlags.h"
#include "par/Dialect/Par/IR/ParPlan.h"
#include "par/Pipelines/Pipelines.h"
#include "par/Target/Target.h"
#include "par/Transforms/Cut/Passes.h"
#include "par/Transforms/Differentiate/Passes.h"
#include "par/Transforms/Propagate/Passes.h"

using namespace mlir;
using namespace mlir::par;

static void buildAnnotate(OpPassManager &manager, const Plan &plan, const PhaseOptions &options) {
  AnnotatePipelineOptions annotate;
  annotate.mesh = printMesh(plan.mesh);
  annotate.sequenceParallel = plan.sequenceParallel;
  annotate.strategy = plan.strategy;
  annotate.zero = plan.zero;
  annotate.freeze = plan.freeze;
  annotate.searchSharding = plan.shardingSearch;
  annotate.parameterLimit = plan.parameterLimit.value_or(0);
  annotate.explain = options.explain;
  // Those of the target alone: a plan means the same whatever cluster predictions are for.
  if (const Target *target = findTarget(plan.target)) {
    annotate.flops = target->rates.flops;
    annotate.memory = target->rates.memory;
    annotate.link = target->rates.link;
    annotate.latency = target->rates.latency;
  }
  buildAnnotatePipeline(manager, annotate);
}

static void buildPropagate(OpPassManager &manager, const PhaseOptions &options) {
  PropagatePipelineOptions propagate;
  propagate.origins = options.origins;
  propagate.verify = options.verify;
  buildPropagatePipeline(manager, propagate);
}

/// Without stages a plan does not say which chunks there are.
static void addVerifyCut(OpPassManager &manager, const Plan &plan) {
  VerifyCutOptions cut;
  cut.stages = plan.countStages();
  cut.chunks = plan.chunks;
  cut.schedule = cut.stages > 1 ? getName(plan.schedule).str() : "";
  cut.microBatches = plan.microBatches;
  manager.addPass(createVerifyCut(cut));
}

static void buildCut(OpPassManager &manager, const Plan &plan, const PhaseOptions &options) {
  CutPipelineOptions cut;
  cut.stages = plan.countStages();
  cut.chunks = plan.chunks;
  cut.schedule = getName(plan.schedule).str();
  cut.microBatches = plan.microBatches;
  cut.cuts = plan.cuts;
  cut.explain = options.explain;
  manager.addPass(createCutPipeline(cut));
  if (options.verify)
    addVerifyCut(manager, plan);
}

static void buildDifferentiate(OpPassManager &manager, const Plan &plan, const PhaseOptions &options) {
  DifferentiatePipelineOptions differentiate;
  differentiate.optimizer = getName(plan.optimizer).str();
  differentiate.gradType = getName(plan.gradType).str();
  differentiate.decayOn = plan.weightDecayOn;
  differentiate.momentType = getName(plan.momentType).str();
  differentiate.holdGathered = plan.zero3Gather == GatherTime::PerStep;
  differentiate.recompute = getName(plan.recompute).str();
  differentiate.recomputeLimit = plan.recomputeLimit;
  differentiate.evaluation = options.evaluation;
  differentiate.split = splitsBackward(plan.schedule);
  buildDifferentiatePipeline(manager, differentiate);
}

static void buildPartition(OpPassManager &manager, const Plan &plan, const PhaseOptions &options) {
  // What differentiation wrote has shardings only where it copied them. They are checked with its sums.
  PropagatePipelineOptions propagate;
  propagate.origins = options.origins;
  propagate.verify = false;
  buildPropagatePipeline(manager, propagate);
  PartitionPipelineOptions partition;
  partition.explain = options.collectives;
  partition.verify = options.verify;
  partition.schedule = getName(plan.schedule).str();
  if (plan.bucketBytes)
    partition.bucketBytes = *plan.bucketBytes;
  buildPartitionPipeline(manager, partition);
}

static void buildOverlap(OpPassManager &manager, const Plan &plan) {
  OverlapPipelineOptions overlap;
  overlap.microBatches = plan.microBatches;
  overlap.prefetchLimit = plan.prefetchLimit.value_or(-1);
  buildOverlapPipeline(manager, overlap);
}

static void buildLower(OpPassManager &manager, const Plan &plan, const PhaseOptions &options) {
  LowerPipelineOptions lower;
  lower.microBatches = plan.microBatches;
  lower.schedule = getName(plan.schedule).str();
  lower.offload = plan.offload != OffloadKind::None;
  lower.overlapOffload = plan.overlap;
  lower.updateOnHost = plan.offload == OffloadKind::HostUpdate;
  lower.verify = options.verify;
  buildLowerPipeline(manager, lower);
}

void Driver::build(OpPassManager &manager, CompilePhase phase) const {
  switch (phase) {
  case CompilePhase::Import:
    return; // Whoever has a module has imported it.
  case CompilePhase::Annotate:
    return buildAnnotate(manager, plan, options);
  case CompilePhase::Propagate:
    return buildPropagate(manager, options);
  case CompilePhase::Cut:
    return buildCut(manager, plan, options);
  case CompilePhase::Differentiate:
    return buildDifferentiate(manager, plan, options);
  case CompilePhase::Partition:
    return buildPartition(manager, plan, options);
  case CompilePhase::Overlap:
    return buildOverlap(manager, plan);
  case CompilePhase::Lower:
    return buildLower(manager, plan, options);
  case CompilePhase::Emit:
    return buildEmitPipeline(manager);
  }
}

LogicalResult Driver::verifyGiven(ModuleOp module, CompilePhase done) const {
  PassManager manager(module.getContext());
  if (done == CompilePhase::Propagate)
    manager.addPass(createVerifyShardings());
  else if (done == CompilePhase::Cut)
    addVerifyCut(manager, plan);
  return manager.run(module);
}

LogicalResult Driver::run(ModuleOp module, CompilePhase phase) const {
  PassManager manager(module.getContext());
  // Once per phase: between all passes it takes a fifth of the time of a plan for a thousand parameters.
  // par-opt verifies after each, and every pass has tests there.
  manager.enableVerifier(false);
  build(manager, phase);
  if (manager.size() && (failed(manager.run(module)) || (options.verify && failed(verify(module)))))
    return failure();
  setPlan(module, plan, phase);
  return success();
}

LogicalResult Driver::run(ModuleOp module, CompilePhase first, CompilePhase last,
                          llvm::function_ref<LogicalResult(CompilePhase)> finished) const {
  for (auto phase = first; phase <= last; phase = static_cast<CompilePhase>(static_cast<int>(phase) + 1))
    if (hasPhase(phase) && (failed(run(module, phase)) || (finished && failed(finished(phase)))))
      return failure();
  return success();
}

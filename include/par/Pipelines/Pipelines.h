//===- Pipelines.h - the phases, as par-compile and par-opt run them --------------------------*- C++ -*-===//
#ifndef PAR_PIPELINES_PIPELINES_H
#define PAR_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::par {

struct AnnotatePipelineOptions : PassPipelineOptions<AnnotatePipelineOptions> {
  Option<std::string> mesh{*this, "mesh", llvm::cl::desc("axes, for example dp=2,tp=4"), llvm::cl::init("")};
  ListOption<std::string> freeze{*this, "freeze",
                                 llvm::cl::desc("patterns of names of parameters that are not trained")};
  Option<std::string> strategy{*this, "strategy", llvm::cl::desc("passes that annotate before par's own do"),
                               llvm::cl::init("")};
  Option<bool> sequenceParallel{*this, "sequence-parallel",
                                llvm::cl::desc("split between products along seq over tp"),
                                llvm::cl::init(false)};
  Option<int64_t> zero{*this, "zero", llvm::cl::desc("ZeRO stage, 0 to 3"), llvm::cl::init(0)};
  Option<bool> searchSharding{*this, "search-sharding",
                              llvm::cl::desc("split parameters over tp without names of their dimensions"),
                              llvm::cl::init(false)};
  Option<int64_t> parameterLimit{
      *this, "parameter-limit",
      llvm::cl::desc("of search-sharding: most bytes of parameters on a rank; 0: near the least"),
      llvm::cl::init(0)};
  Option<double> flops{*this, "flops", llvm::cl::desc("of search-sharding: of products, per second"),
                       llvm::cl::init(400e12)};
  Option<double> memory{*this, "memory", llvm::cl::desc("of search-sharding: bytes of memory per second"),
                        llvm::cl::init(3.35e12)};
  Option<double> link{*this, "link", llvm::cl::desc("of search-sharding: bytes between ranks per second"),
                      llvm::cl::init(100e9)};
  Option<double> latency{*this, "latency",
                         llvm::cl::desc("of search-sharding: seconds until a collective has begun"),
                         llvm::cl::init(10e-6)};
  Option<bool> explain{*this, "explain", llvm::cl::desc("a remark with what search-sharding found"),
                       llvm::cl::init(false)};
};
struct PropagatePipelineOptions : PassPipelineOptions<PropagatePipelineOptions> {
  Option<bool> origins{*this, "origins", llvm::cl::desc("say at every op where its axes come from"),
                       llvm::cl::init(true)};
  Option<bool> verify{*this, "verify", llvm::cl::desc("check that shardings are closed and agree"),
                      llvm::cl::init(true)};
};
struct PartitionPipelineOptions : PassPipelineOptions<PartitionPipelineOptions> {
  Option<bool> explain{*this, "explain", llvm::cl::desc("a remark per collective"), llvm::cl::init(false)};
  Option<int64_t> bucketBytes{*this, "bucket-bytes",
                              llvm::cl::desc("collectives up to this size travel together"),
                              llvm::cl::init(int64_t(4) << 20)};
  Option<std::string> schedule{*this, "schedule",
                               llvm::cl::desc("order of a step's forward and backward parts"),
                               llvm::cl::init("1f1b")};
  Option<int64_t> largestValue{
      *this, "largest-value",
      llvm::cl::desc(
          "bytes of logits above which the loss is computed where its gradient is; -1 = the target's"),
      llvm::cl::init(-1)};
  Option<bool> verify{*this, "verify",
                      llvm::cl::desc("check that sums are completed before others need them"),
                      llvm::cl::init(true)};
};
struct OverlapPipelineOptions : PassPipelineOptions<OverlapPipelineOptions> {
  Option<int64_t> microBatches{*this, "micro-batches", llvm::cl::desc("micro-batches of a step"),
                               llvm::cl::init(1)};
  Option<int64_t> prefetchLimit{*this, "prefetch-limit",
                                llvm::cl::desc("bytes gathered ahead or kept for reductions; -1 = a layer's"),
                                llvm::cl::init(-1)};
};
struct LowerPipelineOptions : PassPipelineOptions<LowerPipelineOptions> {
  Option<int64_t> microBatches{*this, "micro-batches", llvm::cl::desc("micro-batches of a step"),
                               llvm::cl::init(1)};
  Option<std::string> schedule{*this, "schedule",
                               llvm::cl::desc("order of a step's forward and backward parts"),
                               llvm::cl::init("1f1b")};
  Option<bool> offload{*this, "offload", llvm::cl::desc("keep moments and masters in host memory"),
                       llvm::cl::init(false)};
  Option<bool> updateOnHost{*this, "update-on-host",
                            llvm::cl::desc("with offload: the update runs on the host"),
                            llvm::cl::init(false)};
  Option<bool> overlapOffload{*this, "overlap-offload",
                              llvm::cl::desc("with offload: copies run beside the update"),
                              llvm::cl::init(false)};
  Option<int64_t> largestValue{
      *this, "largest-value",
      llvm::cl::desc("bytes above which a product is computed in parts; -1 = the target's"),
      llvm::cl::init(-1)};
  Option<int64_t> leastRows{*this, "least-rows",
                            llvm::cl::desc("fewest rows of such a part; -1 = the target's"),
                            llvm::cl::init(-1)};
  Option<bool> verify{*this, "verify", llvm::cl::desc("prove the schedule and the use of memory"),
                      llvm::cl::init(true)};
};
struct EmitCudaPipelineOptions : PassPipelineOptions<EmitCudaPipelineOptions> {
  Option<std::string> chip{*this, "chip", llvm::cl::desc("sm_80, sm_90 or sm_90a"), llvm::cl::init("sm_90")};
};

/// docs/IR.md, section 1 → 2: the mesh and every strategy's shardings.
void buildAnnotatePipeline(OpPassManager &manager, const AnnotatePipelineOptions &options);
/// Shardings complete and closed; before differentiation for the forward graph, after it for the rest.
void buildPropagatePipeline(OpPassManager &manager, const PropagatePipelineOptions &options = {});
/// Section 3 → 4.
void buildPartitionPipeline(OpPassManager &manager, const PartitionPipelineOptions &options);
/// Section 4 stays the form; collectives are started and waited for.
void buildOverlapPipeline(OpPassManager &manager, const OverlapPipelineOptions &options);
/// Section 4 → 5.
void buildLowerPipeline(OpPassManager &manager, const LowerPipelineOptions &options);

/// Section 5 → 6, for the target of the module's plan.
void buildEmitPipeline(OpPassManager &manager);

/// Registers par-annotate-pipeline, par-propagate-pipeline, par-partition-pipeline, par-overlap-pipeline,
/// par-lower-pipeline, par-emit-pipeline, and par-emit-cuda-pipeline, which is the same for a GPU whatever
/// the module's plan says.
void registerPipelines();

} // namespace mlir::par

#endif // PAR_PIPELINES_PIPELINES_H

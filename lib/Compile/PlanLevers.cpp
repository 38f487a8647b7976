//===- PlanLevers.cpp - what a plan can change to need less memory --------------------------------------===//
#include "par/Compile/PlanLevers.h"

using namespace mlir::par;

using Changes = std::vector<PlanChange>;

static Changes stopOverlap(const Plan &from) {
  if (!from.overlap)
    return {};
  return {[](Plan &plan) {
    plan.overlap = false;
    plan.prefetchLimit = std::nullopt;
  }};
}

/// Stages have one chunk each; cuts are where it is best.
static Changes reorder(const Plan &from) {
  Changes changes;
  if (from.countStages() == 1)
    return changes;
  for (ScheduleKind kind : {ScheduleKind::ZbH1, ScheduleKind::OneFOneB})
    if (from.schedule != kind)
      changes.push_back([kind](Plan &plan) {
        if (plan.chunks > 1)
          plan.cuts.clear();
        plan.schedule = kind;
        plan.chunks = 1;
      });
  return changes;
}

static Changes splitBatch(const Plan &from) {
  Changes changes;
  int64_t rows = from.batch / from.countRanks(AxisRole::Batch);
  for (int64_t parts = from.microBatches * 2; parts <= rows && rows % parts == 0; parts *= 2)
    changes.push_back([parts](Plan &plan) { plan.microBatches = parts; });
  return changes;
}

/// When parameters are gathered is decided where they are.
static void setZero(Plan &plan, int64_t stage) {
  plan.zero = stage;
  if (stage < 3)
    plan.zero3Gather = GatherTime::PerMicroBatch;
}

static Changes shardState(const Plan &from) {
  Changes changes;
  for (int64_t stage = from.zero + 1; from.countRanks(AxisRole::Batch) > 1 && stage <= 3; ++stage)
    changes.push_back([stage](Plan &plan) { setZero(plan, stage); });
  return changes;
}

static std::optional<Plan> replicateState(const Plan &from) {
  if (from.zero == 0)
    return std::nullopt;
  Plan plan = from;
  setZero(plan, from.zero - 1);
  return plan;
}

static Changes splitSequence(const Plan &from) {
  if (from.countRanks(AxisRole::Tensor) == 1 || from.sequenceParallel)
    return {};
  return {[](Plan &plan) { plan.sequenceParallel = true; }};
}

/// The values of a field behind that of the plan.
template <typename Kind>
static Changes raise(const Plan &from, Kind Plan::*field, std::initializer_list<Kind> kinds) {
  Changes changes;
  for (Kind kind : kinds)
    if (from.*field < kind)
      changes.push_back([field, kind](Plan &plan) { plan.*field = kind; });
  return changes;
}

/// `auto` has sought its own limit already.
static Changes recompute(const Plan &from) {
  return raise(from, &Plan::recompute, {RecomputeKind::Selective, RecomputeKind::Full});
}

static std::optional<Plan> saveMore(const Plan &from) {
  if (from.recompute != RecomputeKind::Selective && from.recompute != RecomputeKind::Full)
    return std::nullopt;
  Plan plan = from;
  plan.recompute = from.recompute == RecomputeKind::Full ? RecomputeKind::Selective : RecomputeKind::None;
  return plan;
}

static Changes offload(const Plan &from) {
  return raise(from, &Plan::offload, {OffloadKind::DeviceUpdate, OffloadKind::HostUpdate});
}

/// A step back keeps state on the device: where the update runs matters little beside the copies.
static std::optional<Plan> keepState(const Plan &from) {
  if (from.offload == OffloadKind::None)
    return std::nullopt;
  Plan plan = from;
  plan.offload = OffloadKind::None;
  return plan;
}

static Changes roundGradients(const Plan &from) {
  return from.gradType == FloatKind::BF16 ? Changes()
                                          : Changes{[](Plan &plan) { plan.gradType = FloatKind::BF16; }};
}

static Changes roundMoments(const Plan &from) {
  bool hasMoments = from.optimizer != OptimizerKind::Sgd;
  return !hasMoments || from.momentType == FloatKind::BF16
             ? Changes()
             : Changes{[](Plan &plan) { plan.momentType = FloatKind::BF16; }};
}

/// Most ranks that an axis is proposed with.
static constexpr int64_t kMostRanks = 16;

static Changes splitTensors(const Plan &from) {
  Changes changes;
  for (int64_t ranks = from.countRanks(AxisRole::Tensor) * 2; ranks <= kMostRanks; ranks *= 2)
    changes.push_back([ranks](Plan &plan) { resizeAxis(plan.mesh, getAxisName(AxisRole::Tensor), ranks); });
  return changes;
}

/// Each stage has fewer layers, but the first one holds as many micro-batches more.
static Changes splitLayers(const Plan &from) {
  Changes changes;
  for (int64_t stages = from.countStages() * 2; stages <= kMostRanks; stages *= 2)
    changes.push_back([stages](Plan &plan) {
      resizeAxis(plan.mesh, getAxisName(AxisRole::Pipeline), stages);
      plan.cuts.clear();
      plan.recomputeLimit.resize(std::min<size_t>(plan.recomputeLimit.size(), 1));
    });
  return changes;
}

llvm::ArrayRef<PlanLever> mlir::par::getPlanLevers() {
  static const PlanLever levers[] = {{"overlap", stopOverlap},
                                     {"schedule", reorder},
                                     {"micro_batches", splitBatch},
                                     {"zero", shardState, replicateState},
                                     {"sequence_parallel", splitSequence},
                                     {"recompute", recompute, saveMore},
                                     {"offload", offload, keepState},
                                     {getAxisName(AxisRole::Tensor), splitTensors},
                                     {getAxisName(AxisRole::Pipeline), splitLayers},
                                     {"grad_dtype", roundGradients, nullptr, /*keepsTraining=*/false},
                                     {"moment_dtype", roundMoments, nullptr, /*keepsTraining=*/false}};
  return levers;
}

const PlanLever &mlir::par::getPlanLever(llvm::StringRef name) {
  const PlanLever *lever =
      llvm::find_if(getPlanLevers(), [&](const PlanLever &one) { return one.name == name; });
  assert(lever != getPlanLevers().end() && "a field without a lever");
  return *lever;
}

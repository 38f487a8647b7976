//===- CheckPins.cpp - what is given to a search makes sense --------------------------------------------===//
#include "par/Planner/CheckPins.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Cost/Cluster.h"
#include "par/Support/MakeError.h"

using namespace mlir::par;
using llvm::Error;
using llvm::Twine;

static Error checkRanks(const PlanRequest &request) {
  if (request.ranks <= Cluster::kMostRanks)
    return Error::success();
  return makeError("--ranks " + Twine(request.ranks) + ": more than " + Twine(Cluster::kMostRanks) +
                   " ranks");
}

/// Of these the search has no bounds: they work out lists of their own.
static Error checkSearched(const PlanRequest &request) {
  const Plan &plan = request.plan;
  for (auto [field, isAuto] : {std::pair("schedule", plan.schedule == ScheduleKind::Auto),
                               std::pair("recompute", plan.recompute == RecomputeKind::Auto)})
    if (isAuto)
      return makeError(
          printFlag(plan, field) +
          " is not searched; give it to par-compile with --mesh in place of --ranks, or leave it out");
  return Error::success();
}

/// ZeRO beside groups of one rank.
static Error checkGroups(const PlanRequest &request) {
  bool hasData = !request.isPinned(AxisRole::Batch) || request.countDataRanks() > 1;
  if (!request.isPinned("zero") || request.plan.zero == 0 || !request.isReplicated() || !hasData)
    return Error::success();
  return makeError(
      printFlag(request.plan, "zero") +
      " divides state over dp_shard, but dp_shard is pinned to 1; give a larger one or --zero 0, or "
      "pin less");
}

/// The plan with what is open as it goes with what is pinned: of a pipeline as far as that is decided.
static Plan complete(const PlanRequest &request) {
  Plan plan = request.plan;
  bool hasStages = request.isPinned(AxisRole::Pipeline);
  bool hasLists = request.isPinned("schedule") && request.isPinned("chunks");
  bool isPlain = plan.schedule == ScheduleKind::OneFOneB && plan.chunks == 1;
  if (!request.isPinned("zero") && plan.zero3Gather == GatherTime::PerStep)
    plan.zero = 3;
  if (!request.isPinned("overlap") && plan.prefetchLimit)
    plan.overlap = true;
  if (!hasStages)
    plan.mesh = makeMesh({{AxisRole::Pipeline, hasLists && !isPlain ? 2 : 1}});
  if (!hasLists && (plan.countStages() > 1 || !hasStages))
    plan.schedule = ScheduleKind::OneFOneB, plan.chunks = 1;
  if (!hasStages || (!hasLists && plan.countStages() > 1))
    plan.cuts.clear();
  if (!hasStages || !request.isPinned("micro_batches"))
    plan.microBatches = plan.countStages();
  plan.mesh = makeMesh({{AxisRole::Pipeline, plan.countStages()}});
  return plan;
}

Error mlir::par::checkPins(const PlanRequest &request) {
  for (auto check : {checkRanks, checkSearched, checkGroups})
    if (Error error = check(request))
      return error;
  if (Error error = checkSizes(request.plan, PlanWords()))
    return error;
  return checkPlan(complete(request), PlanWords(), /*hasMemoryLimit=*/false);
}

Error mlir::par::checkPinnedUnits(const PlanRequest &request, int64_t units) {
  const Plan &plan = request.plan;
  if (units == 0)
    return Error::success(); // the import has said why
  int64_t chunks = request.isPinned("chunks") ? plan.chunks : 1;
  int64_t stages = request.isPinned(AxisRole::Pipeline) ? plan.countStages() : (chunks > 1 ? 2 : 1);
  if (chunks > units / stages)
    return makeError("pp=" + Twine(stages) + " with --chunks " + Twine(chunks) + ": the model has " +
                     Twine(units) + " units, and a chunk has one or more; give fewer, or pin less");
  if (!plan.cuts.empty() && plan.cuts.back() >= units)
    return makeError(printFlag(plan, "cuts") + ": the model has " + Twine(units) +
                     " units, so that chunks begin at 1 to " + Twine(units - 1) +
                     "; par-compile --explain lists them");
  return Error::success();
}

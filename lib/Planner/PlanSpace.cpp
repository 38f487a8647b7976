//===- PlanSpace.cpp - the plans that are weighed -------------------------------------------------------===//
#include "par/Planner/PlanSpace.h"
#include "par/Compile/CheckPlan.h"
#include "par/Compile/PlanFlags.h"
#include "par/Compile/PlanLevers.h"
#include "par/Schedule/Schedule.h"

using namespace mlir::par;

static std::vector<int64_t> getDivisors(int64_t number) {
  std::vector<int64_t> low, high;
  for (int64_t i = 1; i * i <= number; ++i)
    if (number % i == 0) {
      low.push_back(i);
      if (i * i != number)
        high.push_back(number / i);
    }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// The plan with its data-parallel ranks in groups of so many.
static Plan divide(Plan plan, int64_t ranks) {
  divideState(plan.mesh, getAxisName(AxisRole::Batch), ranks);
  return plan;
}

/// What overlap can hide: collectives within a stage, or copies to the host and back.
static bool hasTransfers(const Plan &plan) {
  return plan.countRanks() > plan.countStages() || plan.offload != OffloadKind::None;
}

bool PlanRequest::hasPinnedGroups() const { return isPinned(getGroupAxis()); }

int64_t PlanRequest::countGroupRanks() const { return plan.getAxis(getGroupAxis()); }

int64_t PlanRequest::countDataRanks() const {
  llvm::StringRef axis = getAxisName(AxisRole::Batch);
  auto [replicas, parts] = getStateParts(axis);
  return std::max(plan.getAxis(axis), plan.getAxis(replicas) * plan.getAxis(parts));
}

bool PlanRequest::isReplicated() const {
  bool isRefined = llvm::any_of(plan.mesh, [](auto &axis) { return !getWholeAxis(axis.first).empty(); });
  return isRefined && countGroupRanks() == 1;
}

namespace {
/// One decision after the other, each for all that were made before.
class Enumeration {
public:
  Enumeration(const PlanRequest &request, int64_t units, llvm::function_ref<void(const Plan &)> see,
              llvm::function_ref<void(const Plan &, llvm::Error)> refuse)
      : request(request), units(units), see(see), refuse(refuse), plan(request.plan),
        hasGiven(!request.pinned.empty() || plan.prefetchLimit) {}

  void run() { chooseMesh(); }

private:
  template <typename T>
  void choose(llvm::StringRef name, T &field, const std::vector<T> &values, void (Enumeration::*next)()) {
    if (request.isPinned(name)) {
      (this->*next)();
      return;
    }
    T before = field;
    for (const T &value : values) {
      field = value;
      (this->*next)();
    }
    field = before;
  }

  bool mayBe(AxisRole role, int64_t size) const {
    return !request.isPinned(role) || request.plan.countRanks(role) == size;
  }
  /// Data parallelism, in groups that are pinned.
  bool mayBeData(int64_t size) const {
    return (!request.isPinned(AxisRole::Batch) || request.countDataRanks() == size) &&
           size % request.countGroupRanks() == 0;
  }

  void chooseMesh() {
    for (int64_t pp : getDivisors(request.ranks)) {
      if (pp > units || !mayBe(AxisRole::Pipeline, pp))
        continue;
      for (int64_t tp : getDivisors(request.ranks / pp)) {
        int64_t dp = request.ranks / pp / tp;
        if (!mayBe(AxisRole::Tensor, tp) || !mayBeData(dp) || plan.batch % dp ||
            (tp > kMostTensorRanks && !request.isPinned(AxisRole::Tensor)))
          continue;
        stages = pp, data = dp, tensor = tp;
        plan.shardingSearch = request.searchesSplits && tp > 1;
        plan.mesh = makeMesh({{AxisRole::Pipeline, pp}, {AxisRole::Batch, dp}, {AxisRole::Tensor, tp}});
        llvm::erase_if(plan.mesh,
                       [](auto &axis) { return axis.second == 1 && !hasRole(axis.first, AxisRole::Batch); });
        if (int64_t group = request.countGroupRanks(); group > 1 && group < dp)
          plan = divide(plan, group);
        choose("micro_batches", plan.microBatches, getDivisors(plan.batch / dp), &Enumeration::checkRows);
      }
    }
  }

  void checkRows() {
    if (plan.microBatches > 0 && plan.batch / data % plan.microBatches == 0)
      choose("sequence_parallel", plan.sequenceParallel,
             tensor > 1 ? std::vector<bool>{true, false} : std::vector<bool>{false},
             &Enumeration::chooseZero);
  }

  void chooseZero() {
    bool isDivided = data > 1 && !request.isReplicated();
    if (plan.zero > 0 && data > 1 && !isDivided)
      return;
    choose("zero", plan.zero, isDivided ? std::vector<int64_t>{0, 1, 2, 3} : std::vector<int64_t>{0},
           &Enumeration::chooseGather);
  }

  void chooseGather() {
    std::vector<GatherTime> times = {GatherTime::PerMicroBatch};
    if (plan.zero == 3 && plan.microBatches > 1)
      times.push_back(GatherTime::PerStep);
    choose("zero3_gather", plan.zero3Gather, times, &Enumeration::chooseSchedule);
  }

  void chooseSchedule() {
    std::vector<ScheduleKind> kinds = {ScheduleKind::OneFOneB};
    if (stages > 1)
      kinds.insert(kinds.end(), {ScheduleKind::Interleaved, ScheduleKind::ZbH1, ScheduleKind::ZbH2,
                                 ScheduleKind::ZbV, ScheduleKind::DualPipeV});
    choose("schedule", plan.schedule, kinds, &Enumeration::chooseChunks);
  }

  void chooseChunks() {
    std::vector<int64_t> counts = {getUsualChunks(getName(plan.schedule))};
    if (plan.schedule == ScheduleKind::Interleaved)
      for (int64_t chunks = 3; chunks * stages <= units; ++chunks)
        counts.push_back(chunks);
    choose("chunks", plan.chunks, counts, &Enumeration::checkUnits);
  }

  void checkUnits() {
    if (plan.chunks <= units / stages && (plan.cuts.empty() || plan.cuts.back() < units))
      choose("overlap", plan.overlap,
             hasTransfers(plan) ? std::vector<bool>{false, true} : std::vector<bool>{false},
             &Enumeration::finish);
  }

  /// What the search itself has chosen only lacks a schedule here and there.
  llvm::Error check() const {
    if (hasGiven)
      return checkPlan(plan, PlanWords(), /*hasMemoryLimit=*/false);
    return placeChunksOf(getName(plan.schedule), {stages, plan.microBatches, plan.chunks}).takeError();
  }

  void finish() {
    if (llvm::Error error = check())
      refuse(plan, std::move(error));
    else
      see(plan);
  }

  /// A group beyond two nodes of today's has never paid.
  static constexpr int64_t kMostTensorRanks = 16;

  const PlanRequest &request;
  const int64_t units;
  llvm::function_ref<void(const Plan &)> see;
  llvm::function_ref<void(const Plan &, llvm::Error)> refuse;
  Plan plan;
  const bool hasGiven; ///< parts of plans that may contradict others
  int64_t stages = 1, data = 1, tensor = 1;
};
} // namespace

bool mlir::par::isGroup(int64_t ranks, int64_t data, int64_t tensor, int64_t nodeRanks) {
  int64_t together = ranks * tensor;
  return ranks > 1 && ranks < data && data % ranks == 0 &&
         (together % nodeRanks == 0 || nodeRanks % together == 0);
}

std::vector<Plan> mlir::par::listGroups(const PlanRequest &request, int64_t nodeRanks, const Plan &plan) {
  std::vector<Plan> plans = {plan};
  if (plan.zero == 0 || request.hasPinnedGroups())
    return plans;
  int64_t data = plan.countRanks(AxisRole::Batch);
  for (int64_t ranks : getDivisors(data))
    if (isGroup(ranks, data, plan.countRanks(AxisRole::Tensor), nodeRanks))
      plans.push_back(divide(plan, ranks));
  return plans;
}

std::vector<Plan> mlir::par::findSmallerPlans(const PlanRequest &request, const Plan &plan) {
  std::vector<Plan> plans;
  // What is offloaded is offloaded with each way to recompute that is too large without.
  if (plan.offload != OffloadKind::None && request.mayOffload())
    return plans;
  auto addNext = [&](llvm::StringRef lever) {
    std::vector<PlanChange> changes = getPlanLever(lever).tighten(plan);
    if (!changes.empty())
      changes.front()(plans.emplace_back(plan));
  };
  if (!request.isPinned("recompute"))
    addNext("recompute");
  if (!request.mayOffload())
    return plans;
  addNext("offload");
  if (!hasTransfers(plan) && !request.isPinned("overlap"))
    plans.emplace_back(Plan(plans.back())).overlap = true;
  return plans;
}

void mlir::par::visitPlans(const PlanRequest &request, int64_t units,
                           llvm::function_ref<void(const Plan &)> see) {
  auto drop = [](const Plan &, llvm::Error error) { llvm::consumeError(std::move(error)); };
  Enumeration(request, units, see, drop).run();
}

std::string mlir::par::explainNoPlan(const PlanRequest &request, int64_t units) {
  std::string reason;
  auto keep = [&](const Plan &plan, llvm::Error error) {
    reason = "with --mesh " + printMesh(plan.mesh) + ": " + llvm::toString(std::move(error));
  };
  auto ignore = [](const Plan &) {};
  Enumeration(request, units, ignore, keep).run();
  return reason;
}

//===- PlanSearch.cpp - the best plans of a model on a cluster ------------------------------------------===//
#include "par/Planner/PlanSearch.h"
#include "par/Cost/PredictStep.h"

#include <chrono>
#include <queue>

using namespace mlir;
using namespace mlir::par;

/// So many are compiled at most: estimates that are far off would have all be compiled.
static constexpr int64_t kMostCompiled = 48;
/// How far from the number that is asked for one is looked for that has plans.
static constexpr int64_t kFarthestRanks = 256;
/// By how much an estimate may be too long.
static constexpr double kTimeSlack = 1.01;
/// By how much an estimate of memory may be off: of schedules there and back it is too large, as what one
/// chunk has freed the other one uses.
static double getMemorySlack(const Plan &plan) {
  return plan.schedule == ScheduleKind::ZbV || plan.schedule == ScheduleKind::DualPipeV ? 1.2 : 1.015;
}

/// Communicators of a rank: one for each axis and direction of a pipeline, and the world's.
static int64_t countCommunicators(const Plan &plan) {
  int64_t count = 1;
  for (auto &[name, size] : plan.mesh)
    if (size > 1)
      count += name == kPipelineAxis ? 4 : 1;
  return count;
}

namespace {
/// How much is known of a plan's time.
enum class Knowledge { Bound, Estimate };
} // namespace

struct PlanSearch::Candidate {
  Plan plan;
  double seconds = 0; ///< at least
  Knowledge known = Knowledge::Bound;
  int64_t number = 0; ///< in the order in which candidates came: equal ones stay in it

  bool operator<(const Candidate &other) const {
    return std::tie(other.seconds, other.number) < std::tie(seconds, number);
  }
};

struct PlanSearch::Queue : std::priority_queue<Candidate> {
  int64_t numbered = 0;
  void add(Plan plan, double seconds, Knowledge known) {
    push({std::move(plan), seconds, known, numbered++});
  }
};

double PlanSearch::getUsableBytes(const Plan &plan) const {
  return cluster.getUsableBytes(countCommunicators(plan));
}

bool PlanSearch::fits(const Plan &plan, double bytes) {
  if (bytes <= getUsableBytes(plan))
    return true;
  if (!result.closest || bytes < result.closest->second)
    result.closest = {plan, bytes};
  return false;
}

void PlanSearch::bound(Queue &queue) {
  auto units = static_cast<int64_t>(tables.getKinds(request.plan).size());
  visitPlans(request, units, [&](const Plan &plan) {
    std::optional<PlanEstimate> least = estimator.bound(plan);
    if (!least)
      return;
    ++result.weighed;
    if (fits(plan, least->bytes))
      queue.add(plan, least->seconds, Knowledge::Bound);
  });
}

bool PlanSearch::hasPlans(int64_t ranks) {
  PlanRequest other = request;
  other.ranks = ranks;
  bool found = false;
  visitPlans(other, static_cast<int64_t>(tables.getKinds(request.plan).size()),
             [&](const Plan &plan) { found = found || estimator.bound(plan); });
  return found;
}

std::vector<int64_t> PlanSearch::findNearestRanks() {
  std::vector<int64_t> nearest;
  int64_t ranks = request.ranks;
  int64_t least = std::max<int64_t>(1, ranks - kFarthestRanks), most = ranks + kFarthestRanks;
  for (int64_t fewer = ranks - 1; fewer >= least && nearest.empty(); --fewer)
    if (hasPlans(fewer))
      nearest.push_back(fewer);
  for (int64_t more = ranks + 1, before = static_cast<int64_t>(nearest.size());
       more <= most && static_cast<int64_t>(nearest.size()) == before; ++more)
    if (hasPlans(more))
      nearest.push_back(more);
  return nearest;
}

void PlanSearch::estimate(const Candidate &candidate, Queue &queue) {
  std::optional<PlanEstimate> estimate = estimator.estimate(candidate.plan);
  if (!estimate)
    return;
  ++result.estimated;
  double slack = getMemorySlack(candidate.plan);
  // Where it is not sure that it fits, what is smaller is weighed as well.
  if (!fits(candidate.plan, estimate->bytes * slack))
    for (Plan &smaller : findSmallerPlans(request, candidate.plan))
      queue.add(std::move(smaller), std::max(candidate.seconds, estimate->seconds), Knowledge::Bound);
  if (!fits(candidate.plan, estimate->bytes / slack))
    return;
  Plan plan = candidate.plan;
  plan.cuts = estimate->cuts;
  queue.add(std::move(plan), estimate->seconds, Knowledge::Estimate);
}

std::optional<FoundPlan> PlanSearch::judge(const Plan &plan) {
  OwningOpRef<ModuleOp> module = trials.compile(plan);
  if (!module)
    return std::nullopt;
  ClusterMachine machine(cluster, getMesh(*module));
  FailureOr<PredictedStep> step = predictStep(*module, machine);
  if (failed(step))
    return std::nullopt;
  FoundPlan found;
  found.plan = plan;
  found.size = PlanSize::measure(*module);
  found.seconds = step->timeline.end;
  found.bubble = 1 - step->timeline.work / step->timeline.end;
  found.terms = step->terms;
  return found;
}

void PlanSearch::compile(const Plan &plan) {
  std::optional<FoundPlan> found = judge(plan);
  if (!found)
    return;
  found->number = result.compiled++;
  if (!fits(plan, static_cast<double>(found->size.getPeak())))
    return;
  best = std::min(best, found->seconds);
  result.plans.push_back(std::move(*found));
}

SearchResult PlanSearch::run(int64_t top, double seconds) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  Queue queue;
  bound(queue);
  if (result.weighed == 0)
    result.nearestRanks = findNearestRanks();
  while (!queue.empty() && result.compiled < kMostCompiled) {
    Candidate candidate = queue.top();
    queue.pop();
    if (static_cast<int64_t>(result.plans.size()) >= top && candidate.seconds > kTimeSlack * best)
      break;
    if (!result.plans.empty() && std::chrono::duration<double>(Clock::now() - begin).count() > seconds) {
      result.bound = candidate.seconds / kTimeSlack;
      break;
    }
    if (candidate.known == Knowledge::Bound)
      estimate(candidate, queue);
    else
      compile(candidate.plan);
  }
  llvm::sort(result.plans, [](const FoundPlan &left, const FoundPlan &right) {
    return std::tie(left.seconds, left.number) < std::tie(right.seconds, right.number);
  });
  if (!result.plans.empty()) {
    const Plan &first = result.plans.front().plan;
    result.levers = findMemoryLevers(first, estimator, getUsableBytes(first), getMemorySlack(first));
  }
  return std::move(result);
}

//===- PlanSearch.cpp - the best plans of a model on a cluster ------------------------------------------===//
#include "SearchQueue.h"
#include "par/Cost/StepSpeed.h"

using namespace mlir;
using namespace mlir::par;

/// So many at most for the sake of those behind the best.
static constexpr int64_t kMostForList = 12;
/// What is a little longer than the best by its estimate may be shorter when it is compiled. It is, as long
/// as that is cheap: until lists of so many micro-batches of chunks were compiled.
static constexpr int64_t kMostEntries = 2048;
/// An estimate of a pipeline may be so many times too long, whose lists are replayed and beside which nothing
/// runs.
static constexpr double kReplaySlack = 1.006;
/// By how much more memory than is estimated is needed so often that what is smaller is weighed as well.
static constexpr double kMemorySlack = 1.045;
/// The same of memory where a plan that is like it was compiled.
static constexpr double kLikenessSlack = 1.02;
/// How much of what a plan took longer than its estimate is sure of those that are like it.
static constexpr double kLearnedShare = 0.5;
/// And where nothing fits by estimates that are right within the slack.
static constexpr double kDesperateSlack = 1.3;
/// What is estimated to be so close to the least of what is not known yet is worth compiling ahead.
static constexpr double kCloseAhead = 1.03;

PlanSearch::PlanSearch(PlanWorkers &workers, const Cluster &cluster, const PlanRequest &request)
    : workers(workers), cluster(cluster), request(request), tables(workers, request.isGraph),
      estimator(cluster, tables) {}

PlanSearch::~PlanSearch() = default;

static double measure(Objective objective, double seconds, double bytes, int64_t ranks) {
  switch (objective) {
  case Objective::Time:
    return seconds;
  case Objective::Memory:
    return bytes;
  case Objective::Cost:
    return seconds * static_cast<double>(ranks);
  }
  llvm_unreachable("an objective");
}

/// By how many times an estimate of memory may be too large. It counts gradients that ZeRO-2 has still to
/// scatter beside what the other part of a split backward pass holds, and parameters that are gathered once
/// beside the last messages of stages.
static double getMemoryExcess(const Plan &plan) {
  if (plan.zero == 2 && splitsBackward(plan.schedule))
    return 1.055;
  return plan.zero3Gather == GatherTime::PerStep && plan.countStages() > 1 ? 1.025 : 1.005;
}

double par::getObjective(const FoundPlan &found, Objective objective) {
  return measure(objective, found.seconds, static_cast<double>(found.size.getPeak()),
                 found.plan.countRanks());
}

double PlanSearch::measure(double seconds, double bytes) const {
  return ::measure(request.objective, seconds, bytes, request.ranks);
}

double PlanSearch::getUsableBytes(const Plan &plan) const {
  return limits.usableBytes ? *limits.usableBytes
                            : std::min(par::getUsableBytes(plan, cluster), request.memoryLimit);
}

bool PlanSearch::fits(const Plan &plan, double bytes) {
  if (bytes <= getUsableBytes(plan))
    return true;
  if (!result.closest || bytes < result.closest->second)
    result.closest = {plan, bytes};
  return false;
}

bool PlanSearch::fitsHost(double bytes) const {
  auto together = static_cast<double>(std::min(cluster.nodeRanks, request.ranks));
  return together * bytes <= cluster.host.memoryBytes;
}

void PlanSearch::estimate(const Candidate &candidate) {
  const Plan &plan = candidate.plan;
  std::optional<PlanEstimate> estimate = estimator.estimate(plan);
  if (!estimate)
    return;
  ++result.estimated;
  // Whether stages wait for messages depends on how they differ, which only the replay of their lists knows.
  double seconds = plan.countStages() > 1 ? estimate->leastSeconds : estimate->seconds;
  double least = measure(seconds / kTimeSlack, estimate->bytes / getMemoryExcess(plan));
  // Where it is not sure that it fits, what is smaller is weighed as well.
  if (!isSure(plan, estimate->bytes)) {
    Parts parts;
    addSmaller(candidate, least, parts);
    addBounds(std::move(parts));
  }
  if (!mayFit(plan, estimate->bytes) || !fitsHost(estimate->hostBytes))
    return dropTooLarge({0, least, 0, 0, estimate->bytes, Knowledge::Estimate, plan});
  Plan cut = plan;
  cut.cuts = estimate->cuts;
  bool isClose = plan.countStages() == 1 && (plan.countRanks(AxisRole::Tensor) == 1 || !plan.overlap);
  double likely = measure(estimate->seconds, estimate->bytes);
  likeliest.emplace(likely, cut);
  if (static_cast<int64_t>(likeliest.size()) > limits.top)
    likeliest.erase(std::prev(likeliest.end()));
  queue->add(std::move(cut), least, isClose ? Knowledge::Simulation : Knowledge::Estimate, likely,
             estimate->bytes);
}

/// Plans whose memory is estimated alike.
static PlanSearch::Likeness getLikeness(const Plan &plan) {
  return {plan.schedule, plan.zero, plan.sequenceParallel, plan.overlap, plan.recompute, plan.offload};
}

/// Plans of one such key are estimated alike in time, too.
static PlanSearch::TimeLikeness getTimeLikeness(const Plan &plan) {
  return {getLikeness(plan), plan.zero3Gather, plan.countStages(), plan.countRanks(AxisRole::Tensor)};
}

double PlanSearch::getOverrun(const Plan &plan) const {
  auto known = overruns.find(getTimeLikeness(plan));
  return known == overruns.end() ? 1 : 1 + kLearnedShare * std::max(0.0, known->second - 1);
}

double PlanSearch::getLeast(const Candidate &candidate) const {
  double overrun = candidate.known == Knowledge::Simulation ? getOverrun(candidate.plan) : 1;
  return overrun > 1 ? std::max(candidate.least, candidate.likely * overrun) : candidate.least;
}

bool PlanSearch::mayFit(const Plan &plan, double bytes) {
  auto known = shortfalls.find(getLikeness(plan));
  if (known == shortfalls.end() || isDesperate)
    return fits(plan, bytes / (isDesperate ? kDesperateSlack : getMemoryExcess(plan)));
  return fits(plan, bytes * known->second / kLikenessSlack);
}

/// Copies beside what is computed are estimated as if they were not.
static double getReplaySlack(const Plan &plan) {
  return plan.overlap && plan.offload != OffloadKind::None ? kTimeSlack : kReplaySlack;
}

void PlanSearch::simulate(const Candidate &candidate) {
  double least = candidate.least, likely = candidate.likely;
  if (request.objective != Objective::Memory) {
    likely = measure(estimator.simulate(candidate.plan), 0);
    least = std::max(least, likely / getReplaySlack(candidate.plan));
  }
  queue->add(candidate.plan, least, Knowledge::Simulation, likely, candidate.bytes);
}

bool PlanSearch::isSure(const Plan &plan, double bytes) {
  return fits(plan, bytes * kMemorySlack) && request.objective != Objective::Memory;
}

void PlanSearch::dropTooLarge(Candidate candidate) {
  if (!isSure(candidate.plan, candidate.bytes))
    return; // what is smaller is weighed already
  candidate.plan.cuts = request.plan.cuts;
  Parts parts;
  addSmaller(candidate, candidate.least, parts);
  addBounds(std::move(parts));
}

bool PlanSearch::fitsCompiled(const FoundPlan &found) {
  auto peak = static_cast<double>(found.size.getPeak()), host = static_cast<double>(found.size.getHostPeak());
  // A shared device's memory is the host's.
  return fits(found.plan, cluster.device.isShared ? peak + host : peak) && fitsHost(host);
}

void PlanSearch::learnTime(const Candidate &candidate, double objective) {
  if (request.objective == Objective::Memory)
    return;
  double times = objective / candidate.likely;
  auto [known, isNew] = overruns.try_emplace(getTimeLikeness(candidate.plan), times);
  known->second = std::min(known->second, times);
}

void PlanSearch::compile(const Candidate &candidate) {
  const Plan &plan = candidate.plan;
  if (!mayFit(plan, candidate.bytes))
    return dropTooLarge(candidate);
  if (double least = getLeast(candidate); least > candidate.least)
    return queue->add(plan, least, candidate.known, candidate.likely, candidate.bytes);
  const std::optional<FoundPlan> &judged = workers.judge(plan);
  if (!judged)
    return;
  FoundPlan found = *judged;
  found.number = result.compiled++;
  entries += plan.countStages() * plan.chunks * plan.microBatches;
  auto peak = static_cast<double>(found.size.getPeak());
  auto [shortfall, isNew] = shortfalls.try_emplace(getLikeness(plan), peak / candidate.bytes);
  shortfall->second = std::max(1.0, std::min(shortfall->second, peak / candidate.bytes));
  learnTime(candidate, getObjective(found, request.objective));
  if (!fitsCompiled(found))
    return dropTooLarge(candidate);
  best = std::min(best, getObjective(found, request.objective));
  result.plans.push_back(std::move(found));
}

void PlanSearch::compileAhead() {
  workers.expectNothing();
  // These take longest, and while they are compiled the search goes on.
  for (const auto &[likely, plan] : likeliest)
    if (double longer = likely * getOverrun(plan);
        longer < best && longer < queue->begin()->least * kCloseAhead)
      workers.expectJudgement(plan);
  int64_t ahead = 2 * workers.countThreads();
  for (const Candidate &candidate : *queue) {
    if (ahead-- == 0 || candidate.least > best)
      return;
    if (candidate.known == Knowledge::Simulation && getLeast(candidate) <= best)
      workers.expectJudgement(candidate.plan);
    else if (candidate.known == Knowledge::Bound && fitsByBound(candidate.plan, candidate.bytes))
      tables.expect(candidate.plan);
  }
}

bool PlanSearch::isOver(const Candidate &next) const {
  if (!result.plans.empty() && result.compiled >= limits.mostCompiled)
    return true;
  if (next.least > limits.known)
    return true;
  if (static_cast<int64_t>(result.plans.size()) < limits.top)
    return false;
  if (next.least <= best)
    return next.likely > best && entries >= kMostEntries;
  // The best is known. Of those behind it as many as are cheap, so that they are the next ones.
  return next.least > getWorstListed() || result.compiled >= kMostForList || entries >= kMostEntries;
}

double PlanSearch::getWorstListed() const {
  std::vector<double> known;
  for (const FoundPlan &found : result.plans)
    known.push_back(getObjective(found, request.objective));
  auto last = known.begin() + (limits.top - 1);
  std::nth_element(known.begin(), last, known.end());
  return *last;
}

void PlanSearch::look(const Candidate &candidate) {
  switch (candidate.known) {
  case Knowledge::BoundOfGroups:
    llvm_unreachable("has parts");
  case Knowledge::Bound:
    return estimate(candidate);
  case Knowledge::Estimate:
    return simulate(candidate);
  case Knowledge::Simulation:
    return compile(candidate);
  }
}

SearchResult PlanSearch::run(const SearchLimits &asked) {
  isDesperate = false;
  SearchResult found = runOnce(asked);
  if (!found.plans.empty() || !found.closest || asked.known < SearchLimits::kNone)
    return found;
  isDesperate = true;
  return runOnce(asked);
}

bool PlanSearch::mayEnd() const { return !result.plans.empty() || limits.known < SearchLimits::kNone; }

bool PlanSearch::isTimeOver() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > limits.seconds;
}

void PlanSearch::tellProgress() const {
  if (!limits.progress)
    return;
  limits.progress->weighed = result.weighed;
  limits.progress->estimated = result.estimated;
  limits.progress->compiled = result.compiled;
  if (!result.plans.empty() && request.objective == Objective::Time)
    limits.progress->best = best;
}

void PlanSearch::noteCap() {
  result.isCutShort = static_cast<int64_t>(result.plans.size()) < limits.top;
  if (result.end != SearchEnd::Complete || queue->begin()->least > best)
    return;
  result.bound = queue->begin()->least;
  result.end = SearchEnd::Cap;
}

SearchResult PlanSearch::runOnce(const SearchLimits &asked) {
  begin = std::chrono::steady_clock::now();
  limits = asked;
  result = {};
  best = SearchLimits::kNone;
  shortfalls.clear();
  overruns.clear();
  likeliest.clear();
  entries = 0;
  queue = std::make_unique<Queue>();
  bound();
  while (!queue->empty() && !isOver(*queue->begin())) {
    if (mayEnd() && isTimeOver()) {
      result.bound = queue->begin()->least;
      result.end = SearchEnd::Time;
      break;
    }
    tellProgress();
    if (isOfParts(*queue->begin())) {
      takeApart();
      continue;
    }
    compileAhead();
    Candidate candidate = std::move(queue->extract(queue->begin()).value());
    look(candidate);
  }
  workers.expectNothing();
  if (!queue->empty() && result.compiled >= limits.mostCompiled)
    noteCap();
  if (!result.plans.empty() && limits.plainerWithin > 0)
    lookForPlainer();
  llvm::sort(result.plans, [&](const FoundPlan &left, const FoundPlan &right) {
    double one = getObjective(left, request.objective), other = getObjective(right, request.objective);
    return std::tie(one, left.seconds, left.number) < std::tie(other, right.seconds, right.number);
  });
  if (!result.plans.empty() && request.objective != Objective::Memory) {
    const Plan &first = result.plans.front().plan;
    result.levers = findMemoryLevers(first, estimator, getUsableBytes(first), kLikenessSlack);
  }
  return std::move(result);
}

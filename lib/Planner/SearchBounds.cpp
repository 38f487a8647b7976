//===- SearchBounds.cpp - times and memory that plans cannot do without -----------------------------===//
#include "SearchQueue.h"

using namespace mlir;
using namespace mlir::par;

/// Candidates of parts among the first so many are taken apart at once.
static constexpr int64_t kTogether = 192;

bool PlanSearch::fitsByBound(const Plan &plan, double bytes) const {
  return bytes / kBoundSlack <= getUsableBytes(plan);
}

static Plan offload(Plan plan) {
  plan.offload = OffloadKind::DeviceUpdate;
  return plan;
}

double PlanSearch::boundBytes(const Plan &plan, double bytes) {
  if (!request.mayOffload())
    return bytes;
  std::optional<PlanEstimate> least = estimator.boundFamily(offload(plan), !request.hasPinnedGroups());
  return least && fitsHost(least->hostBytes) ? std::min(bytes, least->bytes) : bytes;
}

void PlanSearch::boundAll() {
  bool anyGroup = !request.hasPinnedGroups(), isSmallBest = request.objective == Objective::Memory;
  visitPlans(request, static_cast<int64_t>(tables.getKinds(request.plan).size()), [&](const Plan &plan) {
    bounded.push_back({plan, std::nullopt, std::nullopt});
    tables.expectLeast(plan);
  });
  for (const Bounded &one : bounded) {
    estimator.prepare(one.plan, /*anyRecompute=*/true);
    if (isSmallBest && request.mayOffload())
      estimator.prepare(offload(one.plan), /*anyRecompute=*/true);
  }
  workers.forEach(static_cast<int64_t>(bounded.size()), [&](int64_t number) {
    Bounded &one = bounded[static_cast<size_t>(number)];
    one.least = estimator.boundFamily(one.plan, anyGroup);
    if (one.least && isSmallBest)
      one.least->bytes = boundBytes(one.plan, one.least->bytes);
  });
  llvm::erase_if(bounded, [](const Bounded &one) { return !one.least; });
}

void PlanSearch::bound() {
  if (bounded.empty())
    boundAll();
  result.weighed = static_cast<int64_t>(bounded.size());
  // What does not fit may fit when it is offloaded.
  for (const Bounded &one : bounded)
    if (request.mayOffload() && !one.offloaded && !fitsByBound(one.plan, one.least->bytes))
      estimator.prepare(offload(one.plan), /*anyRecompute=*/true);
  workers.forEach(result.weighed, [&](int64_t number) {
    Bounded &one = bounded[static_cast<size_t>(number)];
    if (!one.offloaded && !fitsByBound(one.plan, one.least->bytes))
      one.offloaded = boundBytes(one.plan, one.least->bytes);
  });
  for (const auto &[plan, least, offloaded] : bounded)
    if (fits(plan, std::min(least->bytes, offloaded.value_or(least->bytes)) / kBoundSlack))
      queue->add(plan, measure(least->seconds / kTimeSlack, least->bytes / kBoundSlack),
                 Knowledge::BoundOfGroups, 0, least->bytes);
}

void PlanSearch::addBounds(Parts parts) {
  for (auto &[plan, least] : parts)
    tables.expectLeast(plan);
  for (auto &[plan, least] : parts)
    estimator.prepare(plan, /*anyRecompute=*/false);
  std::vector<std::optional<PlanEstimate>> bounds(parts.size());
  workers.forEach(static_cast<int64_t>(parts.size()), [&](int64_t number) {
    auto at = static_cast<size_t>(number);
    bounds[at] = estimator.bound(parts[at].first);
  });
  for (auto &&[part, bound] : llvm::zip(parts, bounds)) {
    auto &[plan, least] = part;
    // What is smaller takes no less time, but it is smaller.
    if (bound && request.objective != Objective::Memory)
      least = std::max(least, measure(bound->seconds / kTimeSlack, 0));
    queue->add(std::move(plan), least, Knowledge::Bound, 0, bound ? bound->bytes : 0);
  }
}

bool PlanSearch::isOfParts(const Candidate &candidate) const {
  return candidate.known == Knowledge::BoundOfGroups ||
         (candidate.known == Knowledge::Bound && !fitsByBound(candidate.plan, candidate.bytes));
}

void PlanSearch::addSmaller(const Candidate &candidate, double least, Parts &parts) const {
  if (request.objective == Objective::Memory)
    least = 0;
  for (Plan &smaller : findSmallerPlans(request, candidate.plan))
    parts.emplace_back(std::move(smaller), std::max(least, candidate.least));
}

void PlanSearch::addParts(const Candidate &candidate, Parts &parts) const {
  if (candidate.known == Knowledge::Bound)
    return addSmaller(candidate, 0, parts);
  for (Plan &plan : listGroups(request, cluster.nodeRanks, candidate.plan))
    parts.emplace_back(std::move(plan), candidate.least);
}

void PlanSearch::takeApart() {
  Parts parts;
  int64_t looked = 0;
  int64_t mechanisms = queue->begin()->mechanisms;
  for (auto next = queue->begin();
       next != queue->end() && next->mechanisms == mechanisms && looked < kTogether; ++looked)
    if (auto candidate = next++; isOfParts(*candidate)) {
      if (candidate->known == Knowledge::Bound)
        fits(candidate->plan, candidate->bytes / kBoundSlack); // the closest one may be among them
      addParts(*candidate, parts);
      queue->erase(candidate);
    }
  addBounds(std::move(parts));
}

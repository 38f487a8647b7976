//===- SearchPlainer.cpp - plans that are nearly the best and plainer -------------------------------===//
#include "SearchQueue.h"

using namespace mlir;
using namespace mlir::par;

/// At most so many plans are compiled for the sake of a plainer one.
static constexpr int64_t kMostForPlainest = 8;

int64_t PlanSearch::countFewestMechanisms() const {
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const FoundPlan &found : result.plans)
    if (getObjective(found, request.objective) <= getPlainerLimit())
      fewest = std::min(fewest, countMechanisms(found.plan));
  return fewest;
}

void PlanSearch::lookForPlainer() {
  auto plainer = std::make_unique<Queue>();
  plainer->isPlainestFirst = true;
  plainer->limit = getPlainerLimit();
  int64_t most = result.compiled + kMostForPlainest;
  for (const Candidate &candidate : *queue) {
    if (candidate.least > plainer->limit)
      break;
    plainer->add(candidate.plan, candidate.least, candidate.known, candidate.likely, candidate.bytes);
  }
  queue = std::move(plainer);
  while (!queue->empty() && queue->begin()->mechanisms < countFewestMechanisms() && result.compiled < most &&
         !isTimeOver()) {
    if (isOfParts(*queue->begin())) {
      takeApart();
      continue;
    }
    Candidate candidate = std::move(queue->extract(queue->begin()).value());
    look(candidate);
  }
}

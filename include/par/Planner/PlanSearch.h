//===- PlanSearch.h - the best plans of a model on a cluster ----------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANSEARCH_H
#define PAR_PLANNER_PLANSEARCH_H

#include "par/Planner/MemoryLever.h"
#include "par/Planner/PlanSpace.h"

namespace mlir::par {

/// A plan that was compiled: what it needs and takes is what par-compile says.
struct FoundPlan {
  Plan plan;
  PlanSize size;
  double seconds = 0; ///< of a step
  double bubble = 0;  ///< of the time of all stages, in which they wait for each other
  TimeTerms terms;    ///< of the stage that computes longest
  int64_t number = 0; ///< in the order in which plans were compiled
};

struct SearchResult {
  std::vector<FoundPlan> plans; ///< that fit, the shortest step first
  int64_t weighed = 0, estimated = 0, compiled = 0;
  /// Of plans that do not fit, the one that comes closest; its bytes of the stage that needs most, at least.
  std::optional<std::pair<Plan, double>> closest;
  /// Where no plan has so many ranks: the nearest numbers, the smaller one first, of which there are plans.
  std::vector<int64_t> nearestRanks;
  /// Where time ran out: no plan that was not looked at to the end takes fewer seconds than that.
  std::optional<double> bound;
  /// Of the best plan: what it does to fit.
  std::vector<MemoryLever> levers;
};

/// The plan that may be quickest is looked at next: first by a bound that many plans share, then by tables of
/// its own layers, at last by compiling it. So what is bounded above the best that was compiled is never
/// looked at closer (best-first branch and bound).
class PlanSearch {
public:
  PlanSearch(MLIRContext &context, const Cluster &cluster, const PlanRequest &request,
             PlanTrials::Import import)
      : cluster(cluster), request(request), tables(context, cluster, import), estimator(cluster, tables),
        trials(context, CompilePhase::Import, import) {}

  /// At least the `top` best, if so many fit. After `seconds` it ends with those that it has, but not before
  /// it has one.
  SearchResult run(int64_t top, double seconds = std::numeric_limits<double>::infinity());
  /// A plan compiled; nothing if it contradicts itself or does not compile.
  std::optional<FoundPlan> judge(const Plan &plan);
  /// Bytes of a rank that a plan may take.
  double getUsableBytes(const Plan &plan) const;

private:
  struct Candidate;
  struct Queue;
  bool fits(const Plan &plan, double bytes);
  bool hasPlans(int64_t ranks);
  std::vector<int64_t> findNearestRanks();
  void bound(Queue &queue);
  void estimate(const Candidate &candidate, Queue &queue);
  void compile(const Plan &plan);

  const Cluster &cluster;
  const PlanRequest &request;
  UnitTables tables;
  PlanEstimator estimator;
  PlanTrials trials;
  SearchResult result;
  double best = std::numeric_limits<double>::infinity(); ///< seconds of what was compiled and fits
};

} // namespace mlir::par

#endif // PAR_PLANNER_PLANSEARCH_H

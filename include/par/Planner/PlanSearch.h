//===- PlanSearch.h - the best plans of a model on a cluster ----------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANSEARCH_H
#define PAR_PLANNER_PLANSEARCH_H

#include "par/Planner/MemoryLever.h"
#include "par/Planner/PlanSpace.h"
#include "par/Planner/SearchProgress.h"
#include <chrono>

namespace mlir::par {

/// How far a search goes. Plans are compared by the objective, in its unit.
struct SearchLimits {
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  int64_t top = 1; ///< at least so many are found, if so many fit
  double seconds =
      kNone; ///< after which it ends with those that it has, but not without any, unless one is known
  std::optional<double> usableBytes; ///< of a rank, in place of the cluster's
  /// The search compiles at most so many once there is one that fits: estimates that are far off would have
  /// all be compiled.
  int64_t mostCompiled = 48;
  double known = kNone; ///< what is no better than that is not looked for
  /// A share. What is so far behind the best at most is looked at as well, if it is plainer (PlainPlan.h).
  double plainerWithin = 0;
  SearchProgress *progress = nullptr; ///< is told how far the search has come
};

/// Why a search came to its end: no other plan can be better; it had no more time; it has compiled as many
/// plans as it may.
enum class SearchEnd { Complete, Time, Cap };

struct SearchResult {
  std::vector<FoundPlan> plans; ///< that fit, the best first
  /// The number of the plan with the fewest mechanisms of those that no comparison can tell from the best
  /// (PlainPlan.h).
  size_t plainest = 0;
  int64_t weighed = 0, estimated = 0, compiled = 0;
  /// Of plans that do not fit, the one that comes closest; its bytes of the stage that needs most, at least.
  std::optional<std::pair<Plan, double>> closest;
  SearchEnd end = SearchEnd::Complete;
  /// No plan that was not looked at to the end is better than this, where the search is not complete.
  std::optional<double> bound;
  /// So many were compiled that the search ended before it had as many as are asked for.
  bool isCutShort = false;
  /// Of the best plan: what it does to fit.
  std::vector<MemoryLever> levers;

  /// The plan that is recommended.
  const FoundPlan &getPlainest() const { return plans[plainest]; }
};

/// What the objective is of a plan.
double getObjective(const FoundPlan &found, Objective objective);

/// The plan that may be best is looked at next: first by a bound that many plans share, then by tables of
/// its own layers, at last by compiling it. So what is bounded above the best that was compiled is never
/// looked at closer (best-first branch and bound). What comes next is compiled ahead on other threads; the
/// answer does not depend on how many there are.
class PlanSearch {
public:
  PlanSearch(PlanWorkers &workers, const Cluster &cluster, const PlanRequest &request);
  ~PlanSearch();

  SearchResult run(const SearchLimits &limits = {});
  /// Of a request whose ranks have no plan: the nearest numbers that have one, the smaller one first.
  std::vector<int64_t> findNearestRanks();
  /// Whether a plan that was compiled fits, on devices and hosts.
  bool fitsCompiled(const FoundPlan &found);
  /// The compiled plan that needs least memory, for a request that no plan fits.
  std::optional<FoundPlan> findLeast();
  /// Of a request whose ranks have too little memory: twice, four times .. as many of which bounds do not say
  /// that they have too little as well, as far as there are devices. None where ranks share one.
  std::optional<int64_t> findEnoughRanks();
  /// Bytes of a rank that a plan may take.
  double getUsableBytes(const Plan &plan) const;

  /// What estimates of memory depend on.
  using Likeness = std::tuple<ScheduleKind, int64_t, bool, bool, RecomputeKind, OffloadKind>;
  /// Estimates of time depend on this too: when parameters are gathered, stages, and ranks of tensor
  /// parallelism.
  using TimeLikeness = std::tuple<Likeness, GatherTime, int64_t, int64_t>;

private:
  struct Candidate;
  struct Queue;
  /// Whether a bound leaves it open: what does not fit by its bound is never estimated.
  bool fitsByBound(const Plan &plan, double bytes) const;
  bool fits(const Plan &plan, double bytes);
  double measure(double seconds, double bytes) const;
  /// Whether so many ranks have a plan, with its bounds, that is wanted.
  bool hasPlan(int64_t ranks, llvm::function_ref<bool(const Plan &, const PlanEstimate &)> isWanted);
  /// What is offloaded of a rank, as many of which as a node has share its host.
  bool fitsHost(double bytes) const;
  SearchResult runOnce(const SearchLimits &asked);
  /// Of a plan that needs so many bytes at least: offloaded or not.
  double boundBytes(const Plan &plan, double bytes);
  void boundAll();
  void bound();
  void look(const Candidate &candidate);
  /// Plans of a candidate that is told apart further, and what they take at least as far as it is known.
  using Parts = std::vector<std::pair<Plan, double>>;
  /// Whether bounds say all that there is to say of it: its parts are bounded instead.
  bool isOfParts(const Candidate &candidate) const;
  void addParts(const Candidate &candidate, Parts &parts) const;
  /// The first candidates of parts, at once.
  void takeApart();
  void addSmaller(const Candidate &candidate, double least, Parts &parts) const;
  void addBounds(Parts parts);
  void estimate(const Candidate &candidate);
  void simulate(const Candidate &candidate);
  void compile(const Candidate &candidate);
  bool mayFit(const Plan &plan, double bytes);
  /// How many times its estimate a plan takes at least.
  double getOverrun(const Plan &plan) const;
  /// The objective's least, as far as plans like it that were compiled say more than its estimate.
  double getLeast(const Candidate &candidate) const;
  /// Remembers how many times its estimate a compiled candidate took.
  void learnTime(const Candidate &candidate, double objective);
  /// Whether a plan that is estimated to need so many bytes fits whatever estimates are off by, and what is
  /// smaller is not worth a look.
  bool isSure(const Plan &plan, double bytes);
  /// A plan that does not fit, although its estimate did: what is smaller is weighed from now on.
  void dropTooLarge(Candidate candidate);
  void compileAhead();
  bool isOver(const Candidate &next) const;
  /// Notes what is left open by a search that ends with as many compiled as it may.
  void noteCap();
  /// Looks at what is plainer than all that was found and may be close enough to the best.
  void lookForPlainer();
  double getPlainerLimit() const { return best * (1 + limits.plainerWithin); }
  /// The fewest mechanisms of the plans that were found and are close enough.
  int64_t countFewestMechanisms() const;
  /// Says whether the search may end: it has a plan, or only better ones than a known one were asked for.
  bool mayEnd() const;
  bool isTimeOver() const;
  void tellProgress() const;
  /// The objective of the last plan that is asked for, of those that are known.
  double getWorstListed() const;

  PlanWorkers &workers;
  const Cluster &cluster;
  const PlanRequest &request;
  UnitTables tables;
  PlanEstimator estimator;
  /// Every plan of the request and what it needs at least: the same for all runs.
  struct Bounded {
    Plan plan;
    std::optional<PlanEstimate> least; ///< nothing: it has no tables
    std::optional<double> offloaded;   ///< bytes, where they have been asked for
  };
  std::vector<Bounded> bounded;

  // Of one run.
  std::chrono::steady_clock::time_point begin;
  std::unique_ptr<Queue> queue;
  SearchLimits limits;
  SearchResult result;
  bool isDesperate = false;          ///< nothing fits by estimates
  int64_t entries = 0;               ///< micro-batches of chunks in the lists of what was compiled
  double best = SearchLimits::kNone; ///< objective of what was compiled and fits
  /// The plans whose estimates are best, as many as are asked for, by the estimated objective.
  std::multimap<double, Plan> likeliest;
  /// By what estimates of memory depend on (getLikeness): how many times its estimate a plan like that needed
  /// at least.
  std::map<Likeness, double> shortfalls;
  /// By what estimates of time depend on: how many times its estimate a plan like that took at least.
  std::map<TimeLikeness, double> overruns;
};

} // namespace mlir::par

#endif // PAR_PLANNER_PLANSEARCH_H

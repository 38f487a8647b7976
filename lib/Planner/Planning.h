//===- Planning.h - the best plans of one model, found and told ---------------------------*- C++ -*-===//
#ifndef PAR_LIB_PLANNER_PLANNING_H
#define PAR_LIB_PLANNER_PLANNING_H

#include "PlanModel.h"
#include "par/Cost/Headroom.h"
#include "par/Planner/PlanAnswer.h"
#include "par/Support/StatusLine.h"

#include <optional>
#include <set>

namespace mlir::par {

/// What par-plan is asked.
struct PlanOptions {
  std::string model, clusterFile, output, report;
  std::vector<std::string> overrides, pins, plugins;
  PlanRequest request;
  std::optional<Headroom> headroom; ///< none: what is usual
  int64_t top = 5;
  int64_t workers = 0; ///< threads; 0: one for each core
  double seconds = SearchLimits::kNone;
  bool json = false, calibrate = false, compare = false, proof = true;
  std::set<std::string> given; ///< names of flags
};

/// Searches one model's plans and says what it found.
class Planning {
public:
  /// `cluster` as it is in its file.
  Planning(PlanOptions options, const Cluster &cluster);

  /// Nothing after one error line.
  std::optional<SearchResult> search();
  AnswerFacts getFacts() const;
  /// Searches, prints and writes what was asked for; an exit status.
  int run();

private:
  PlanClaim getClaim() const { return {cluster, options.request.plan.dtype, options.request.ranks}; }
  int64_t countUnits();
  void noteKinds();
  /// Tells a terminal what takes its time from now on.
  void show(const char *doing);
  /// Prints one error line, and returns the exit status.
  int fail(llvm::Error error);
  /// Prints what was not given and decides the answer.
  void noteAssumptions() const;
  SearchResult find(const SearchLimits &limits);
  /// Says in words what would need less than `least`; empty: nothing would.
  std::string suggestSavings(const std::optional<FoundPlan> &least);
  SearchResult searchFewer(PlanSearch &search, const SearchLimits &limits);
  /// `least`: the plan that needs least of all, if there is one that compiles.
  llvm::Error explainMemory(const Plan &closest, const std::optional<FoundPlan> &least, PlanSearch &search);
  llvm::Error explainNone(const SearchResult &result, const std::optional<FoundPlan> &least,
                          PlanSearch &search);
  /// Refuses an answer whose ranks do not compute what one device would.
  llvm::Error prove(const SearchResult &result);
  llvm::Error writePlan(const SearchResult &result) const;
  llvm::Error writeReport(const SearchResult &result, ArrayRef<StrategyRow> rows);

  PlanOptions options;
  const Cluster whole;   ///< with all that share a device
  const Cluster cluster; ///< as one of the request's ranks sees it
  PlanModel model;
  PlanWorkers workers;
  std::optional<PlanSearch> finder; ///< of the request's ranks
  std::vector<BatchAdvice> batches; ///< that would be better
  SearchProgress progress;
  std::optional<StatusLine> status; ///< while there is nothing else to print
};

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_PLANNING_H

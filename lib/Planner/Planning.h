//===- Planning.h - the best plans of one model, found and told ---------------------------*- C++ -*-===//
#ifndef PAR_LIB_PLANNER_PLANNING_H
#define PAR_LIB_PLANNER_PLANNING_H

#include "PlanModel.h"
#include "par/Planner/PlanAnswer.h"

#include <optional>
#include <set>

namespace mlir::par {

/// What par-plan is asked.
struct PlanOptions {
  std::string model, clusterFile, output, report;
  std::vector<std::string> overrides, pins, plugins;
  PlanRequest request;
  int64_t top = 5;
  int64_t workers = 0; ///< threads; 0: one for each core
  double seconds = SearchLimits::kNone;
  bool json = false, calibrate = false, compare = false;
  std::set<std::string> given; ///< names of flags
};

/// Searches one model's plans and says what it found.
class Planning {
public:
  /// `cluster` as it is in its file.
  Planning(PlanOptions options, const Cluster &cluster);

  /// Nothing after one error line.
  std::optional<SearchResult> search();
  /// Searches, prints and writes what was asked for; an exit status.
  int run();

private:
  int64_t countUnits();
  void noteKinds();
  SearchResult searchFewer(PlanSearch &search, const SearchLimits &limits);
  /// `least`: the plan that needs least of all, if there is one that compiles.
  llvm::Error explainMemory(const Plan &closest, const std::optional<FoundPlan> &least,
                            PlanSearch &search) const;
  llvm::Error explainNone(const SearchResult &result, const std::optional<FoundPlan> &least,
                          PlanSearch &search);
  llvm::Error writePlan(const SearchResult &result) const;
  llvm::Error writeReport(const SearchResult &result, ArrayRef<StrategyRow> rows);

  PlanOptions options;
  const Cluster whole;   ///< with all that share a device
  const Cluster cluster; ///< as one of the request's ranks sees it
  PlanModel model;
  PlanWorkers workers;
  std::optional<PlanSearch> finder; ///< of the request's ranks
};

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_PLANNING_H

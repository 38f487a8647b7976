//===- PlanReport.h - a page about the plans of a model ----------------------------------------*- C++
//-*-===//
#ifndef PAR_LIB_PLANNER_PLANREPORT_H
#define PAR_LIB_PLANNER_PLANREPORT_H

#include "par/Planner/Frontier.h"
#include "par/Planner/PlanAnswer.h"

namespace mlir::par {

struct PlanReport {
  std::string model;
  const SearchResult &result;
  llvm::ArrayRef<StrategyRow> strategies; ///< may be empty
  AnswerFacts facts;
  size_t top = 1; ///< plans of the result in the table
  std::vector<FoundPlan> frontier;
  std::string steps; ///< of the recommended plan (StagePicture.h)
};

/// A page of HTML that needs no other file: the best plans, what binds them, step time against memory, the
/// strategies, and the best plan's step over time.
std::string printReport(const PlanReport &report);

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_PLANREPORT_H

//===- PlanAnswer.h - what a search says ------------------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANANSWER_H
#define PAR_PLANNER_PLANANSWER_H

#include "par/Cost/StepSpeed.h"
#include "par/Planner/BatchAdvice.h"
#include "par/Planner/PlanClaim.h"
#include "par/Planner/Strategies.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::par {

/// What an answer says of every plan depends on.
struct AnswerFacts {
  const Cluster &cluster;
  double flops; ///< of a step
  Objective objective;
  PlanClaim claim;
  llvm::ArrayRef<BatchAdvice> batches = {}; ///< better than the one that is asked for
};

/// What docs/Planner.md says of a plan, beside its times and its memory.
struct PlanFacts {
  PlanFacts(const FoundPlan &found, const AnswerFacts &facts);

  const char *unit; ///< getUnit
  double unitsPerSecond, mfu, exposed;
  std::string flags; ///< for par-compile
};

/// docs/Planner.md.
llvm::json::Object describeAnswer(const SearchResult &result, const AnswerFacts &facts, size_t top);
void printAnswer(const SearchResult &result, const AnswerFacts &facts, size_t top, llvm::raw_ostream &os);

/// Notes tell whoever takes the recommended plan without an answer what it costs, and which batch is better.
std::vector<std::string> listNotes(const SearchResult &result, const AnswerFacts &facts);

llvm::json::Array describeStrategies(llvm::ArrayRef<StrategyRow> rows, const AnswerFacts &facts);
void printStrategies(llvm::ArrayRef<StrategyRow> rows, llvm::raw_ostream &os);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANANSWER_H

//===- PlanGap.cpp - by how much a plan is behind another, and where ------------------------------------===//
#include "par/Planner/PlanGap.h"

#include <cmath>

using namespace mlir::par;

PlanGap mlir::par::findGap(const FoundPlan &better, const FoundPlan &plan) {
  PlanGap gap;
  gap.seconds = plan.seconds - better.seconds;
  gap.share = gap.seconds / better.seconds;
  double most = 0;
  TimeTerms::visit(
      [&](const char *name, double before, double now) {
        gap.terms.emplace_back(name, now - before);
        most = std::max(most, std::abs(now - before));
      },
      better.terms, plan.terms);
  llvm::erase_if(gap.terms, [&](auto &term) { return std::abs(term.second) < 0.1 * most || most == 0; });
  llvm::stable_sort(gap.terms,
                    [](auto &left, auto &right) { return std::abs(left.second) > std::abs(right.second); });
  return gap;
}

//===- SearchQueue.h - plans that a search looks at next ----------------------------------*- C++ -*-===//
#ifndef PAR_LIB_PLANNER_SEARCHQUEUE_H
#define PAR_LIB_PLANNER_SEARCHQUEUE_H

#include "par/Planner/PlainPlan.h"
#include "par/Planner/PlanSearch.h"

#include <set>

namespace mlir::par {

/// An estimate may be so many times too long.
inline constexpr double kTimeSlack = 1.01;
/// State is padded, which bounds do not know.
inline constexpr double kBoundSlack = 1.001;

/// Knowledge says how much is known of a plan. Bounds are of it with any groups that state may be divided
/// over, or with its own.
enum class Knowledge { BoundOfGroups, Bound, Estimate, Simulation };

struct PlanSearch::Candidate {
  int64_t mechanisms = 0; ///< at least, where plainer ones are looked for; else 0
  double least = 0;       ///< of the objective
  int64_t number = 0;     ///< in the order in which candidates came: equal ones stay in it
  double likely = 0;      ///< the objective as it is estimated, if it is
  double bytes = 0;       ///< as they are bounded or estimated; 0: not yet
  Knowledge known = Knowledge::Bound;
  Plan plan;

  bool operator<(const Candidate &other) const {
    return std::tie(mechanisms, least, number) < std::tie(other.mechanisms, other.least, other.number);
  }
};

/// The best come first, or the plainest of those within a limit.
struct PlanSearch::Queue : std::set<Candidate> {
  int64_t numbered = 0;
  bool isPlainestFirst = false;
  double limit = SearchLimits::kNone; ///< what takes more is left out
  void add(Plan plan, double least, Knowledge known, double likely = 0, double bytes = 0) {
    if (least <= limit)
      insert({isPlainestFirst ? countMechanisms(plan) : 0, least, numbered++, likely, bytes, known,
              std::move(plan)});
  }
};

} // namespace mlir::par

#endif // PAR_LIB_PLANNER_SEARCHQUEUE_H

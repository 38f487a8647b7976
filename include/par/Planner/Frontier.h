//===- Frontier.h - step time against memory --------------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_FRONTIER_H
#define PAR_PLANNER_FRONTIER_H

#include "par/Planner/PlanSearch.h"

namespace mlir::par {

/// Of a request's plans the quickest one, however much memory it takes, and for less and less memory the
/// quickest that fits: none is both quicker and smaller than another. The quickest first; at most a dozen,
/// each at least a tenth smaller than the one before. A search takes `seconds` at most.
std::vector<FoundPlan> findFrontier(PlanWorkers &workers, const Cluster &cluster, PlanRequest request,
                                    double seconds);

} // namespace mlir::par

#endif // PAR_PLANNER_FRONTIER_H

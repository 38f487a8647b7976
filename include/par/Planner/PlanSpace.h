//===- PlanSpace.h - the plans that are weighed -----------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANSPACE_H
#define PAR_PLANNER_PLANSPACE_H

#include "par/Plan/Plan.h"
#include "llvm/ADT/STLExtras.h"

#include <set>

namespace mlir::par {

/// What is asked for.
struct PlanRequest {
  Plan plan; ///< sizes, types, and the values of what is pinned
  int64_t ranks = 1;
  std::set<std::string> pinned; ///< names of fields (`PlanField`), and of axes of the mesh

  bool isPinned(llvm::StringRef name) const { return pinned.count(name.str()); }
};

/// Calls `see` for every plan of the request's ranks whose counts go together: all meshes of pp, dp and tp,
/// micro-batches, ZeRO, sequence parallelism, schedules with their chunks, overlap. `units`: into which the
/// model can be cut. Where stages are cut is not decided, and nothing is run again or offloaded that is not
/// pinned so.
void visitPlans(const PlanRequest &request, int64_t units, llvm::function_ref<void(const Plan &)> see);

/// What to do about one of them that needs too much memory: run more again, or offload. It takes longer.
std::vector<Plan> findSmallerPlans(const PlanRequest &request, const Plan &plan);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANSPACE_H

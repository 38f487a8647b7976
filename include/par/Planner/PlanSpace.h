//===- PlanSpace.h - the plans that are weighed -----------------------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANSPACE_H
#define PAR_PLANNER_PLANSPACE_H

#include "par/Plan/Plan.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <set>

namespace mlir::par {

/// What a plan is to have least of: seconds of a step, bytes of the rank that needs most, or seconds of a
/// step times ranks.
enum class Objective { Time, Memory, Cost };

/// Roles over which the search divides ranks, each with an axis.
inline constexpr AxisRole kSearchedRoles[] = {AxisRole::Pipeline, AxisRole::Batch, AxisRole::Tensor};
/// The axis of the groups that ZeRO divides state over, where data-parallel ranks are in several.
inline llvm::StringRef getGroupAxis() { return getStateParts(getAxisName(AxisRole::Batch)).second; }

/// What is asked for.
struct PlanRequest {
  Plan plan; ///< sizes, types, and the values of what is pinned
  int64_t ranks = 1;
  Objective objective = Objective::Time;
  /// A graph, whose rows cannot be changed: micro-batches are given, and layers are weighed with as many
  /// data-parallel ranks as plans have.
  bool isGraph = false;
  /// A graph whose dimensions have no names: par-search-sharding finds how tensor parallelism splits it.
  bool searchesSplits = false;
  std::set<std::string> pinned; ///< names of fields (`PlanField`), and of axes of the mesh
  bool hasHost = true;          ///< hosts have memory of their own, to which state can be offloaded
  static constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  /// Bytes that a rank may take, where that is less than the cluster's devices have.
  double memoryLimit = kNoLimit;

  bool mayOffload() const { return hasHost && !isPinned("offload"); }
  bool isPinned(llvm::StringRef name) const { return pinned.count(name.str()); }
  bool isPinned(AxisRole role) const { return isPinned(getAxisName(role)); }
  /// Whether the groups that ZeRO divides state over are pinned.
  bool hasPinnedGroups() const;
  /// Ranks of such a group, as they are pinned; 1 if they are not.
  int64_t countGroupRanks() const;
  /// Data-parallel ranks of the plan: those of their axis, or of the axes that it is refined into.
  int64_t countDataRanks() const;
  /// Whether data-parallel ranks are in groups of one (`dp_shard=1`): ZeRO has nothing to divide.
  bool isReplicated() const;
};

/// Calls `see` for every plan of the request's ranks whose counts go together: all meshes of pp, dp and tp
/// (dp refined where that is pinned), micro-batches, ZeRO, sequence parallelism, schedules with their chunks,
/// overlap. `units`: into which the model can be cut. Where stages are cut is not decided, and nothing is run
/// again or offloaded that is not pinned so. What contradicts itself as it is pinned is left out.
void visitPlans(const PlanRequest &request, int64_t units, llvm::function_ref<void(const Plan &)> see);

/// Of a request without plans: what is wrong with the one that has most stages, in the words of
/// par-compile; empty where counts do not divide each other.
std::string explainNoPlan(const PlanRequest &request, int64_t units);

/// Whether state may be divided over groups of so many of `data` ranks: those that lie within nodes or fill
/// some.
bool isGroup(int64_t ranks, int64_t data, int64_t tensor, int64_t nodeRanks);

/// The plan, and where ZeRO divides state: the same with groups of fewer ranks that it is divided over
/// (hybrid sharding). The larger the group, the less memory a rank needs; the smaller, the less time its
/// gathers and reductions take.
std::vector<Plan> listGroups(const PlanRequest &request, int64_t nodeRanks, const Plan &plan);

/// What to do about one of them that needs too much memory: run more again, or offload. It takes longer.
std::vector<Plan> findSmallerPlans(const PlanRequest &request, const Plan &plan);

} // namespace mlir::par

#endif // PAR_PLANNER_PLANSPACE_H

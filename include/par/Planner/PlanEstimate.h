//===- PlanEstimate.h - time and memory of a plan from tables ---------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_PLANESTIMATE_H
#define PAR_PLANNER_PLANESTIMATE_H

#include "par/Planner/StagePlaces.h"
#include "par/Schedule/StepTimes.h"

namespace mlir::par {

/// Of a plan that is not compiled.
struct PlanEstimate {
  std::vector<int64_t> cuts; ///< where stages are cut best; not of bounds
  double seconds = 0;        ///< of a step
  double leastSeconds = 0;   ///< no schedule takes less
  double bytes = 0;          ///< of the stage that needs most
  int64_t fullestStage = 0;
  double hostBytes = 0; ///< of a rank's host, of the stage that needs most there
};

class StageSum;

/// Weighs plans by what their units take. Threads may ask for bounds at once, of plans that `prepare` has
/// seen.
class PlanEstimator {
public:
  PlanEstimator(const Cluster &cluster, UnitTables &tables)
      : cluster(cluster), tables(tables), divisions(cluster) {}

  /// Nothing where there are no tables for the plan.
  std::optional<PlanEstimate> estimate(const Plan &plan);
  /// Seconds of a step, closer and slower: by what overlap leaves of tensor parallelism's collectives, and by
  /// replaying the schedule's lists. 0 where there are no tables.
  double simulate(const Plan &plan);
  /// The same from tables that many plans share: time and memory are less than those of `estimate`.
  std::optional<PlanEstimate> bound(const Plan &plan);
  /// Less than that of the plan whatever is run again; `anyGroup`: whatever the groups that state is divided
  /// over (listGroups).
  std::optional<PlanEstimate> boundFamily(const Plan &plan, bool anyGroup);
  /// Makes the tables of a bound. On the thread that owns the tables.
  void prepare(const Plan &plan, bool anyRecompute) { tables.getLeast(plan, anyRecompute); }

private:
  enum class Weighing { BoundOfGroups, Bound, Estimate };
  using Places = std::vector<StageMoments>; ///< by stage (listPlaces)
  /// What a schedule says of its chunks.
  struct Flights {
    std::vector<int64_t> stageOf;
    Places places;                  ///< without those of messages
    std::vector<int32_t> heldOfAll; ///< by stage (countHeldOfAll)
  };
  const Flights &countFlights(const Plan &plan);
  const Places &countMessages(const Plan &plan);
  std::vector<StageSum> sumStages(const Plan &plan, const ModelDivision &division);
  const PipelineSchedule &getLists(const Plan &plan, int64_t microBatches);
  std::vector<double> replay(const Plan &plan, int64_t microBatches, const StepTimes &times);
  PlanEstimate weigh(const Plan &plan, const std::vector<UnitTable> &kinds, Weighing how);
  void weighMemory(const ModelDivision &division, const Places &places, llvm::ArrayRef<StageSum> stages,
                   PlanEstimate &result) const;
  void boundAnyCuts(const Plan &plan, const ModelDivision &division, llvm::ArrayRef<StageSum> stages,
                    PlanEstimate &result);

  const Cluster &cluster;
  UnitTables &tables;
  ModelDivisions divisions;
  using Shape = std::tuple<ScheduleKind, int64_t, int64_t, int64_t>; ///< with stages, micro-batches, chunks
  MadeOnce<Shape, Flights> flights;
  MadeOnce<Shape, Places> messages;
  MadeOnce<Shape, PipelineSchedule> lists;
};

} // namespace mlir::par

#endif // PAR_PLANNER_PLANESTIMATE_H

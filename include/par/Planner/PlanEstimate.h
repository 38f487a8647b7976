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
struct ChunkSummer;
struct DividedChunks;

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
  void prepare(const Plan &plan, bool anyRecompute) {
    tables.getLeast(plan, anyRecompute);
    tables.getLeastRows(plan);
  }

private:
  enum class Weighing { BoundOfGroups, Bound, Estimate };
  /// All that an estimate asks of a plan itself, beside where it is cut: what else it decides is in tables.
  struct Step {
    explicit Step(const Plan &plan)
        : ranks(plan.mesh), schedule(plan.schedule), shape{ranks.stages, plan.microBatches, plan.chunks},
          cuts(plan.cuts) {}
    MeshRanks ranks;
    ScheduleKind schedule;
    PipelineShape shape;
    const std::vector<int64_t> &cuts;
  };
  using Places = std::vector<StageMoments>; ///< by stage (listPlaces)
  /// What a schedule says of its chunks.
  struct Flights {
    std::vector<int64_t> stageOf;
    int64_t parted = 0;    ///< micro-batches of a chunk whose backward pass has two parts, on average
    bool hasWhole = false; ///< there are others, as many more as micro-batches are more
    bool splitsBackward() const { return parted > 0; }
    /// The share of all micro-batches of a step.
    double getWholeShare(int64_t microBatches) const {
      return hasWhole ? 1 - std::min(1.0, static_cast<double>(parted) / static_cast<double>(microBatches))
                      : 0;
    }
    Places places;                  ///< without those of messages
    std::vector<int32_t> heldOfAll; ///< by stage (countHeldOfAll)
  };
  const Flights &countFlights(const Step &step);
  const Places &countMessages(const Step &step);
  ChunkSummer getSummer(const Step &step, const Flights &flown, const StateRows &rows) const;
  std::vector<StageSum> sumStages(const Flights &flown, int64_t stages, const DividedChunks &chunks,
                                  const ChunkSummer &summer) const;
  const PipelineSchedule &getLists(const Step &step, int64_t microBatches);
  std::vector<double> replay(const Step &step, int64_t microBatches, const StepTimes &times);
  std::vector<double> replaySteps(const Step &step, const DividedChunks &chunks, const ChunkSummer &summer);
  std::optional<PlanEstimate> boundWith(const Plan &plan, bool anyRecompute, Weighing how);
  PlanEstimate weigh(const Step &step, const DividedModel &model, Weighing how);
  void weighMemory(const ChunkTables &chunks, llvm::ArrayRef<StageMoments> places,
                   llvm::ArrayRef<StageSum> stages, PlanEstimate &result) const;
  void boundAnyCuts(const Flights &flown, const DividedChunks &chunks, llvm::ArrayRef<StageSum> stages,
                    PlanEstimate &result) const;

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

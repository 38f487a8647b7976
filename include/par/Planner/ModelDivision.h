//===- ModelDivision.h - a model in chunks, and what they take --------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MODELDIVISION_H
#define PAR_PLANNER_MODELDIVISION_H

#include "par/Planner/UnitTables.h"

namespace mlir::par {

/// A chunk of the model on one rank: the sums of its units.
struct ChunkTable {
  int64_t units = 0;
  double forward = 0, backwardInput = 0, backwardWeight = 0; ///< seconds of a micro-batch
  double update = 0;                                   ///< seconds of a step, of state that is not divided
  double transfer = 0;                                 ///< seconds of a message to the next chunk
  double parameters = 0, gradients = 0, optimizer = 0; ///< bytes, not divided
  double saved = 0, savedForWeight = 0, handed = 0, workspace = 0; ///< bytes of a micro-batch
  double gathered = 0, reduced = 0; ///< bytes of parameters and of gradients of the largest unit
  /// Seconds in which the ranks of data parallelism exchange all of its parameters, or gradients.
  double gatherParameters = 0, reduceGradients = 0, scatterGradients = 0;

  void add(const UnitTable &unit);
};

struct ModelDivision {
  std::vector<int64_t> cuts;
  std::vector<ChunkTable> chunks;
};

/// Divides a model for plans, each way once.
class ModelDivisions {
public:
  explicit ModelDivisions(const Cluster &cluster) : cluster(cluster) {}

  /// For the stages, chunks and mesh of `plan`, at its cuts, or where the slowest chunk is shortest. `units`:
  /// the kind of each; `kinds` stay where they are.
  const ModelDivision &get(const Plan &plan, const std::vector<int64_t> &units,
                           const std::vector<UnitTable> &kinds);

private:
  const std::vector<int64_t> &chooseCuts(const Plan &plan, const std::vector<int64_t> &units,
                                         const std::vector<UnitTable> &kinds);
  std::vector<ChunkTable> sumUnits(const Plan &plan, const std::vector<int64_t> &units,
                                   const std::vector<UnitTable> &kinds,
                                   const std::vector<int64_t> &cuts) const;

  const Cluster &cluster;
  using Kinds = const std::vector<UnitTable> *;
  std::map<std::pair<Kinds, int64_t>, std::vector<int64_t>> cuts; ///< by number of chunks
  /// By stages, chunks of each, tensor-parallel ranks, all ranks, and cuts.
  std::map<std::tuple<Kinds, int64_t, int64_t, int64_t, int64_t, std::vector<int64_t>>, ModelDivision> known;
};

} // namespace mlir::par

#endif // PAR_PLANNER_MODELDIVISION_H

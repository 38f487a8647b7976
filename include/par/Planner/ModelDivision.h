//===- ModelDivision.h - a model in chunks, and what they take --------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MODELDIVISION_H
#define PAR_PLANNER_MODELDIVISION_H

#include "par/Planner/UnitTables.h"
#include "par/Support/MadeOnce.h"

namespace mlir::par {

/// A chunk of the model on one rank: the sums of its units.
struct ChunkTable {
  int64_t units = 0;
  double forward = 0, backwardInput = 0, backwardWeight = 0; ///< seconds of a micro-batch
  double update = 0;                                   ///< seconds of a step, of state that is not divided
  double transfer = 0;                                 ///< seconds of a message to the next chunk
  double parameters = 0, gradients = 0, optimizer = 0; ///< bytes, not divided
  double trained = 0;                                  ///< bytes of parameters that have gradients
  double saved = 0, savedForWeight = 0, handed = 0, workspace = 0; ///< bytes of a micro-batch
  /// Bytes of its messages: from the chunk before and to the one behind, and gradients back.
  double input = 0, handedOn = 0, handedBack = 0, received = 0;
  double gathered = 0, reduced = 0; ///< bytes of parameters and of gradients of the largest unit
  double largestOptimizer = 0;      ///< bytes of the optimizer's state of the largest parameter
  /// Seconds in which the ranks of data parallelism exchange all of its parameters, those that are trained,
  /// or gradients.
  double gatherParameters = 0, gatherTrained = 0, reduceGradients = 0, scatterGradients = 0;
  /// The same of groups that ZeRO divides state over: what they reduce among each other of parts of
  /// gradients.
  double reduceParts = 0;

  /// So many units that are alike, one behind the other.
  void add(const UnitTable &unit, int64_t count);
  /// What depends on no trained parameter has no backward pass.
  bool hasBackward() const { return backwardInput + backwardWeight > 0; }
};

/// What ranks of data parallelism exchange: bytes of each parameter, of each that is trained, and of all
/// gradients.
struct DataTensors {
  std::vector<double> all, trained;
  double gradients = 0;
  bool operator<(const DataTensors &other) const {
    return std::tie(gradients, all, trained) < std::tie(other.gradients, other.all, other.trained);
  }
};

/// Seconds in which the ranks of data parallelism exchange parameters or gradients, tensor by tensor. They
/// lie outside of tensor parallelism, inside of stages.
struct DataTimes {
  DataTimes() = default;
  /// `groupRanks`: over which state is divided.
  DataTimes(const DataTensors &tensors, const Plan &plan, int64_t groupRanks, const Cluster &cluster);
  /// Of so many units.
  void addTo(ChunkTable &chunk, int64_t count) const;
  void takeLeast(const DataTimes &other);

  double gather = 0, gatherTrained = 0, reduce = 0, scatter = 0, reduceParts = 0;
};

struct ModelDivision {
  std::vector<int64_t> cuts;
  std::vector<ChunkTable> chunks;
  /// By chunk: it has the units of the one before.
  std::vector<bool> isLikeLast;
};

/// Divides a model for plans, each way once. Threads may share it.
class ModelDivisions {
public:
  explicit ModelDivisions(const Cluster &cluster) : cluster(cluster) {}

  /// For the stages, chunks and mesh of `plan`, at its cuts, or where the slowest chunk is shortest. `units`:
  /// the kind of each; `kinds` stay where they are. `anyGroup`: with the least that exchanges of data
  /// parallelism take by any of the groups that state may be divided over.
  const ModelDivision &get(const Plan &plan, const std::vector<int64_t> &units,
                           const std::vector<UnitTable> &kinds, bool anyGroup = false);

private:
  const std::vector<int64_t> &chooseCuts(const Plan &plan, const std::vector<int64_t> &units,
                                         const std::vector<UnitTable> &kinds);
  void sumUnits(const Plan &plan, const std::vector<int64_t> &units, const std::vector<UnitTable> &kinds,
                bool anyGroup, ModelDivision &division);
  const DataTimes &measureData(const DataTensors &tensors, const Plan &plan, bool anyGroup);

  const Cluster &cluster;
  using Kinds = const std::vector<UnitTable> *;
  /// By the kinds' parts of the time, and number of chunks.
  MadeOnce<std::pair<std::vector<int64_t>, int64_t>, std::vector<int64_t>> cuts;
  /// By stages, chunks of each, tensor-parallel ranks, ranks of a group (0: any), overlap, all ranks, and
  /// cuts.
  MadeOnce<std::tuple<Kinds, int64_t, int64_t, int64_t, int64_t, bool, int64_t, std::vector<int64_t>>,
           ModelDivision>
      known;
  /// By stages, ranks of data and of tensor parallelism, ranks of a group (0: any), and tensors.
  MadeOnce<std::tuple<int64_t, int64_t, int64_t, int64_t, DataTensors>, DataTimes> dataTimes;
};

} // namespace mlir::par

#endif // PAR_PLANNER_MODELDIVISION_H

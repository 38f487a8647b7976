//===- ModelDivision.h - a model in chunks, and what they take --------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MODELDIVISION_H
#define PAR_PLANNER_MODELDIVISION_H

#include "par/Planner/StateTable.h"
#include "par/Planner/UnitTables.h"
#include "par/Support/MadeOnce.h"
#include "llvm/ADT/Hashing.h"

namespace mlir::par {

/// A chunk of the model on one rank: the sums of its units.
struct ChunkTable {
  int64_t units = 0, unitsBack = 0;                          ///< the latter: with a backward pass
  double forward = 0, backwardInput = 0, backwardWeight = 0; ///< seconds of a micro-batch
  double transfer = 0;                                       ///< seconds of a message to the next chunk
  StateTable own;                                            ///< of what no other unit of the model reads
  std::vector<SharedState> shared;                           ///< each variable once
  double parametersBack = 0; ///< bytes of parameters that a backward pass needs
  double saved = 0, savedForWeight = 0, handed = 0, workspace = 0; ///< bytes of a micro-batch
  /// Bytes of its messages: from the chunk before and to the one behind, and gradients back.
  double input = 0, handedOn = 0, handedBack = 0, received = 0;
  /// Bytes of parameters and of gradients of the largest unit, and of the largest two that are neighbours.
  double gathered = 0, reduced = 0, gatheredBeside = 0, reducedBeside = 0;
  StateTable largest; ///< of the unit that stores most
  /// The most that a unit stores and saves of those that another chunk has where it is cut elsewhere: all but
  /// the model's first and last one.
  StateTable moved;
  double savedMoved = 0;
  /// Seconds of a micro-batch in which the ranks of data parallelism exchange all that its units read: all
  /// parameters, those of units with a backward pass, and gradients.
  double gatherParameters = 0, gatherBack = 0, scatterGradients = 0;

  bool hasBackward() const { return unitsBack > 0; }
};

/// Of all chunks of a model, one behind the other. Those that are alike share a table: a search divides a
/// model in thousands of ways, most of them into many chunks of few kinds.
class ChunkTables {
public:
  size_t size() const { return numbers.size(); }
  const ChunkTable &operator[](size_t chunk) const { return tables[numbers[chunk]]; }
  /// Of two that follow each other. The first chunk is like none: its exchanges are those of the first.
  bool isLikeLast(size_t chunk) const { return chunk > 1 && numbers[chunk] == numbers[chunk - 1]; }

  void add(const ChunkTable &table) {
    tables.push_back(table);
    repeatLast();
  }
  /// Another chunk like the last one.
  void repeatLast() { numbers.push_back(static_cast<uint32_t>(tables.size() - 1)); }

private:
  std::vector<ChunkTable> tables;
  std::vector<uint32_t> numbers; ///< of each chunk's table
};

struct ModelDivision {
  std::vector<int64_t> cuts;
  ChunkTables chunks;
};

/// Divides a model for plans, each way once. Threads may share it.
class ModelDivisions {
public:
  explicit ModelDivisions(const Cluster &cluster) : cluster(cluster) {}

  /// For the stages, chunks and mesh of `plan`, at its cuts, or where the slowest chunk is shortest. `kinds`
  /// stay where they are. `anyGroup`: with the least that exchanges of data parallelism take by any of the
  /// groups that state may be divided over.
  const ModelDivision &get(const Plan &plan, const FoldedUnits &units, const std::vector<UnitTable> &kinds,
                           bool anyGroup = false);

private:
  friend class ChunkAdder;
  const std::vector<int64_t> &chooseCuts(const Plan &plan, const std::vector<int64_t> &units,
                                         const std::vector<UnitTable> &kinds);
  const DataTimes &measureData(const DataTensors &tensors, const Plan &plan, bool anyGroup);

  const Cluster &cluster;
  using Kinds = const std::vector<UnitTable> *;
  /// How a model is divided.
  struct Key {
    Kinds kinds;
    int64_t stages, chunks, tensor;
    int64_t group; ///< its ranks; 0: any
    bool overlap;
    int64_t ranks;
    std::vector<int64_t> cuts;

    auto tie() const { return std::tie(kinds, stages, chunks, tensor, group, overlap, ranks, cuts); }
    bool operator==(const Key &other) const { return tie() == other.tie(); }
    struct Hash {
      size_t operator()(const Key &key) const {
        return llvm::hash_combine(key.kinds, key.stages, key.chunks, key.tensor, key.group, key.overlap,
                                  key.ranks, llvm::hash_combine_range(key.cuts.begin(), key.cuts.end()));
      }
    };
  };
  /// By the kinds' parts of the time, and number of chunks.
  MadeOnce<std::pair<std::vector<int64_t>, int64_t>, std::vector<int64_t>> cuts;
  MadeOnce<Key, ModelDivision, Key::Hash> known;
  /// By stages, ranks of data and of tensor parallelism, ranks of a group (0: any), and tensors.
  MadeOnce<std::tuple<int64_t, int64_t, int64_t, int64_t, DataTensors>, DataTimes> dataTimes;
};

} // namespace mlir::par

#endif // PAR_PLANNER_MODELDIVISION_H

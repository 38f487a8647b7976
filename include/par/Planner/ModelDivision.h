//===- ModelDivision.h - a model in chunks, and what they take --------------------------------*- C++ -*-===//
#ifndef PAR_PLANNER_MODELDIVISION_H
#define PAR_PLANNER_MODELDIVISION_H

#include "par/Planner/StateTable.h"
#include "par/Planner/UnitTables.h"
#include "par/Support/MadeOnce.h"
#include "llvm/ADT/Hashing.h"

#include <array>
#include <atomic>

namespace mlir::par {

/// A chunk of the model on one rank: the sums of what its units compute and hold.
struct ChunkTable {
  int64_t units = 0, unitsBack = 0;                                ///< the latter: with a backward pass
  double forward = 0, backwardInput = 0, backwardWeight = 0;       ///< seconds of a micro-batch
  double transfer = 0;                                             ///< seconds of a message to the next chunk
  double saved = 0, savedForWeight = 0, handed = 0, workspace = 0; ///< bytes of a micro-batch
  /// Bytes of its messages: from the chunk before and to the one behind, and gradients back.
  double input = 0, handedOn = 0, handedBack = 0, received = 0;
  /// The most that a unit saves of those that another chunk has where it is cut elsewhere: all but the
  /// model's first and last one.
  double savedMoved = 0;

  bool hasBackward() const { return unitsBack > 0; }
};

/// Bytes of state on a device and on its host.
struct StateBytes {
  double device = 0, host = 0;

  void raise(const StateBytes &other) {
    device = std::max(device, other.device);
    host = std::max(host, other.host);
  }
};

/// The state that ranks of data parallelism store and exchange of a chunk.
struct ChunkState {
  StateTable own;                              ///< of what no other unit of the model reads
  std::vector<SharedState> shared;             ///< each variable once
  llvm::SmallVector<ExchangeSum, 4> exchanged; ///< by row: of what all its units read, however often
  /// Bytes that collectives make or take whole, of the largest unit, or of the largest two that are
  /// neighbours where they begin beside the one before: parameters, and gradients, of whole backward passes
  /// and of their parts.
  double gathered = 0, reduced = 0, reducedInput = 0, reducedWeight = 0;
  StateBytes largest; ///< the most that a unit stores
  StateBytes moved;   ///< the same of those that another chunk has where it is cut elsewhere
};

/// Of all chunks of a model, one behind the other. Those that are alike share a table: a search divides a
/// model in thousands of ways, most of them into many chunks of few kinds.
template <typename Table>
class ChunkList {
public:
  size_t size() const { return numbers.size(); }
  const Table &operator[](size_t chunk) const { return tables[numbers[chunk]]; }
  /// Of two that follow each other. The first chunk is like none: its exchanges are those of the first.
  bool isLikeLast(size_t chunk) const { return chunk > 1 && numbers[chunk] == numbers[chunk - 1]; }

  void add(Table table) {
    tables.push_back(std::move(table));
    repeatLast();
  }
  /// Another chunk like the last one.
  void repeatLast() { numbers.push_back(static_cast<uint32_t>(tables.size() - 1)); }

private:
  std::vector<Table> tables;
  std::vector<uint32_t> numbers; ///< of each chunk's table
};
using ChunkTables = ChunkList<ChunkTable>;
using ChunkStates = ChunkList<ChunkState>;

struct ModelDivision {
  std::vector<int64_t> cuts;
  int64_t number = 0; ///< the same of all divisions at these cuts
  ChunkTables chunks;
};

/// A model as it is divided: its units, what each kind of them takes, and what ranks store and exchange.
struct DividedModel {
  const FoldedUnits &units;
  const std::vector<UnitTable> &kinds;
  const StateRows &rows;
};

/// The state of a kind of unit on a mesh, under rows.
struct KindState {
  StateTable own;                     ///< of what none of its units shares with others
  llvm::StringMap<StateTable> shared; ///< by name
  StateTable all;                     ///< that it reads
  double gathered = 0, reduced = 0, reducedInput = 0, reducedWeight = 0; ///< as of a chunk
};

/// Divides a model for plans, each way once. Threads may share it.
class ModelDivisions {
public:
  explicit ModelDivisions(const Cluster &cluster) : cluster(cluster), times(cluster) {}

  /// In so many chunks at `cuts`, or where the slowest chunk is shortest if there are none. What `model`
  /// refers to stays where it is.
  const ModelDivision &get(const DividedModel &model, const MeshRanks &ranks, int64_t chunks,
                           const std::vector<int64_t> &cuts);
  /// `anyGroup`: with the least that exchanges of data parallelism take by any of the groups that state may
  /// be divided over.
  const ChunkStates &getStates(const DividedModel &model, const MeshRanks &ranks,
                               const ModelDivision &division, bool anyGroup = false);

private:
  const std::vector<int64_t> &chooseCuts(const DividedModel &model, int64_t chunks);
  int64_t numberVariables(const std::vector<UnitTable> &kinds);

  const Cluster &cluster;
  ExchangeTimes times;
  /// Tables of kinds, stages, chunks and ranks, and cuts that are given.
  struct Key {
    std::array<int64_t, 4> numbers;
    std::vector<int64_t> cuts;

    bool operator==(const Key &other) const { return numbers == other.numbers && cuts == other.cuts; }
    struct Hash {
      size_t operator()(const Key &key) const {
        return llvm::hash_combine(llvm::hash_combine_range(key.numbers.begin(), key.numbers.end()),
                                  llvm::hash_combine_range(key.cuts.begin(), key.cuts.end()));
      }
    };
  };
  /// By the kinds' parts of the time, and number of chunks.
  MadeOnce<std::pair<std::vector<int64_t>, int64_t>, std::vector<int64_t>> cuts;
  MadeOnce<Key, ModelDivision, Key::Hash> divisions;
  MadeOnce<std::vector<int64_t>, int64_t> cutNumbers;

  /// Tables of kinds with the same parameters have one number.
  MadeOnce<const void *, int64_t> variables;
  MadeOnce<std::vector<double>, int64_t> variableNumbers;
  std::atomic<int64_t> numbered = 0;
  /// Number of parameters, rows, ranks of stages, of data and of tensor parallelism, and of the groups of
  /// state (0: any), and number of cuts (0: none).
  using StateKey = std::array<int64_t, 7>;
  struct StateHash {
    size_t operator()(const StateKey &key) const { return llvm::hash_combine_range(key.begin(), key.end()); }
  };
  MadeOnce<StateKey, std::vector<KindState>, StateHash> kindStates;
  MadeOnce<StateKey, ChunkStates, StateHash> states;
};

} // namespace mlir::par

#endif // PAR_PLANNER_MODELDIVISION_H

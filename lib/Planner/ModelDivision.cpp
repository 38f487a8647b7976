//===- ModelDivision.cpp - a model in chunks, and what they take ----------------------------------------===//
#include "par/Planner/ModelDivision.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Cost/StageCuts.h"
#include "par/Planner/PlanSpace.h"
#include "llvm/ADT/StringMap.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir::par;

static double sum(llvm::ArrayRef<double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

/// Of a micro-batch, forward and back.
static double sumPasses(const UnitTable &unit) {
  return unit.forward.sum() + unit.backward.sum() + unit.backwardInput.sum() + unit.backwardWeight.sum();
}

/// Each kind's part of the time of all, in 1e-12: what only differs in rows is cut alike.
static std::vector<int64_t> getShares(llvm::ArrayRef<double> passes) {
  double total = std::max(sum(passes), std::numeric_limits<double>::min());
  std::vector<int64_t> shares;
  for (double seconds : passes)
    shares.push_back(std::llround(seconds / total * 1e12));
  return shares;
}

const std::vector<int64_t> &ModelDivisions::chooseCuts(const Plan &plan, const std::vector<int64_t> &units,
                                                       const std::vector<UnitTable> &kinds) {
  std::vector<double> passes; // by kind
  for (const UnitTable &kind : kinds)
    passes.push_back(sumPasses(kind));
  int64_t chunks = plan.countStages() * plan.chunks;
  return cuts.get({getShares(passes), chunks}, [&](std::vector<int64_t> &chosen) {
    std::vector<double> seconds;
    for (int64_t kind : units)
      seconds.push_back(passes[static_cast<size_t>(kind)]);
    chosen = chooseStageCuts(seconds, chunks);
  });
}

/// Of the plan's own group, or by any (PlanSpace.h).
const DataTimes &ModelDivisions::measureData(const DataTensors &tensors, const Plan &plan, bool anyGroup) {
  int64_t data = plan.countRanks(AxisRole::Batch), tensor = plan.countRanks(AxisRole::Tensor),
          group = plan.countRanks(AxisRole::State);
  return dataTimes.get({plan.countStages(), data, tensor, anyGroup ? 0 : group, tensors},
                       [&](DataTimes &times) {
                         times = DataTimes(tensors, plan, group, cluster);
                         for (int64_t ranks = 2; anyGroup && ranks < data; ++ranks)
                           if (isGroup(ranks, data, tensor, cluster.nodeRanks))
                             times.takeLeast(DataTimes(tensors, plan, ranks, cluster));
                       });
}

namespace mlir::par {
/// Adds up units to the chunks of a plan.
class ChunkAdder {
public:
  ChunkAdder(ModelDivisions &divisions, const Plan &plan, const FoldedUnits &units,
             llvm::ArrayRef<UnitTable> kinds, bool anyGroup)
      : divisions(divisions), plan(plan), units(units), anyGroup(anyGroup) {
    std::vector<std::set<std::string>> shared(kinds.size());
    for (auto [kind, variables] : llvm::zip(units.kinds, units.shared))
      for (const SharedVariable &variable : variables)
        shared[static_cast<size_t>(kind)].insert(variable.like);
    for (auto [kind, names] : llvm::zip(kinds, shared))
      sums.push_back(sumKind(kind, names));
  }

  void run(llvm::ArrayRef<int64_t> cuts, ChunkTables &chunks);

private:
  /// A kind of unit under the plan.
  struct KindSums {
    const UnitTable *table = nullptr;
    double transfer = 0;                ///< seconds of a message to the next unit
    StateTable own;                     ///< of what none of its units shares with others
    llvm::StringMap<StateTable> shared; ///< by name
    StateTable all;                     ///< that it reads
  };
  DataTimes measure(const DataTensors &tensors) { return divisions.measureData(tensors, plan, anyGroup); }
  KindSums sumKind(const UnitTable &kind, const std::set<std::string> &shared);
  ChunkTable sumChunk(size_t begin, size_t end);
  void addUnits(const KindSums &kind, int64_t count, ChunkTable &chunk) const;
  void addWhole(const KindSums &kind, const KindSums *before, int64_t count, ChunkTable &chunk) const;
  void addShared(size_t unit, ChunkTable &chunk) const;
  void joinExchanges(ChunkTable &chunk);

  ModelDivisions &divisions;
  const Plan &plan;
  const FoldedUnits &units;
  const bool anyGroup;
  std::vector<KindSums> sums;
};
} // namespace mlir::par

/// What an update takes of a variable, by its part of the bytes.
ChunkAdder::KindSums ChunkAdder::sumKind(const UnitTable &kind, const std::set<std::string> &shared) {
  KindSums sums;
  sums.table = &kind;
  int64_t inner = plan.countRanks() / plan.countStages();
  sums.transfer = getMessageSeconds(kind.handedOn, plan.countRanks(),
                                    std::min(inner, divisions.cluster.nodeRanks), divisions.cluster);
  double updated = 0;
  for (const VariableTable &variable : kind.variables)
    updated += variable.isTrained ? variable.sum() : 0;
  DataTensors all, own;
  auto getUpdate = [&](const VariableTable &variable) {
    return variable.isTrained ? kind.update.sum() * variable.sum() / updated : 0;
  };
  for (const VariableTable &variable : kind.variables) {
    bool isShared = shared.count(variable.name);
    StateTable &state = isShared ? sums.shared[variable.name] : sums.own;
    state.add(variable, getUpdate(variable));
    sums.all.add(variable, getUpdate(variable));
    all.add(variable);
    if (isShared) {
      DataTensors alone;
      alone.add(variable);
      state.data = measure(alone);
    } else {
      own.add(variable);
    }
  }
  sums.own.data = measure(own);
  sums.all.data = shared.empty() ? sums.own.data : measure(all);
  return sums;
}

/// So many that are alike, one behind the other.
void ChunkAdder::addUnits(const KindSums &kind, int64_t count, ChunkTable &chunk) const {
  const UnitTable &unit = *kind.table;
  auto times = static_cast<double>(count);
  if (chunk.units == 0)
    chunk.handedBack = unit.handedBack;
  chunk.units += count;
  if (unit.hasBackward()) {
    chunk.unitsBack += count;
    chunk.parametersBack += times * kind.all.parameters;
    chunk.gatherBack += times * kind.all.data.gather;
  }
  chunk.handedOn = unit.handedOn;
  chunk.received = unit.received;
  chunk.transfer = kind.transfer;
  chunk.forward += times * unit.forward.sum();
  chunk.backwardInput += times * (unit.backward.sum() + unit.backwardInput.sum());
  chunk.backwardWeight += times * unit.backwardWeight.sum();
  chunk.saved += times * unit.saved;
  chunk.savedForWeight += times * unit.savedForWeight;
  chunk.handed += times * unit.handed;
  chunk.workspace = std::max(chunk.workspace, unit.workspace);
  chunk.gatherParameters += times * kind.all.data.gather;
  chunk.scatterGradients += times * kind.all.data.scatter;
  chunk.own.add(kind.own, count);
  if (kind.all.sum() > chunk.largest.sum())
    chunk.largest = kind.all;
}

/// What may lie whole of one of them, and of two of which one is the last of `before`, if there is any.
void ChunkAdder::addWhole(const KindSums &kind, const KindSums *before, int64_t count,
                          ChunkTable &chunk) const {
  auto add = [&](double StateTable::*bytes, double &alone, double &beside) {
    double own = kind.all.*bytes, other = count > 1 ? own : 0;
    alone = std::max(alone, own);
    beside = std::max(beside, own + std::max(other, before ? before->all.*bytes : 0));
  };
  add(&StateTable::parameters, chunk.gathered, chunk.gatheredBeside);
  add(&StateTable::gradients, chunk.reduced, chunk.reducedBeside);
}

/// Of several units that read a variable the first one counts.
void ChunkAdder::addShared(size_t unit, ChunkTable &chunk) const {
  const KindSums &kind = sums[static_cast<size_t>(units.kinds[unit])];
  for (const SharedVariable &variable : units.shared[unit])
    if (llvm::none_of(chunk.shared, [&](auto &known) { return known.number == variable.number; }))
      chunk.shared.push_back({variable.number, kind.shared.lookup(variable.like)});
}

static DataTensors joinAll(const StateTable &state) {
  return {{state.parameters}, {state.trained}, state.gradients};
}

/// Without overlap all of a chunk that is small travels together.
void ChunkAdder::joinExchanges(ChunkTable &chunk) {
  StateTable all = StageVariables().add(chunk.own, chunk.shared);
  if (plan.overlap || all.parameters >= getBucketBytes(plan))
    return;
  DataTimes together = measure(joinAll(all));
  chunk.gatherParameters = together.gather;
  chunk.scatterGradients = together.scatter;
  chunk.gatherBack = measure({{chunk.parametersBack}, {}, 0}).gather;
  chunk.own.data = measure(joinAll(chunk.own));
  for (SharedState &variable : chunk.shared) { // what it takes beside the others
    StateTable with = StageVariables().add(chunk.own, variable);
    variable.state.data = measure(joinAll(with));
    variable.state.data.add(chunk.own.data, -1);
  }
}

ChunkTable ChunkAdder::sumChunk(size_t begin, size_t end) {
  ChunkTable chunk;
  const KindSums *before = nullptr;
  for (size_t unit = begin, next; unit < end; unit = next) {
    for (next = unit + 1; next < end && units.kinds[next] == units.kinds[unit];)
      ++next;
    const KindSums &kind = sums[static_cast<size_t>(units.kinds[unit])];
    addUnits(kind, static_cast<int64_t>(next - unit), chunk);
    addWhole(kind, std::exchange(before, &kind), static_cast<int64_t>(next - unit), chunk);
    if (next - unit > static_cast<size_t>((unit == 0) + (next == units.kinds.size()))) {
      chunk.moved.raise(kind.all);
      chunk.savedMoved = std::max(chunk.savedMoved, kind.table->saved);
    }
    for (size_t each = unit; each < next; ++each)
      addShared(each, chunk);
  }
  joinExchanges(chunk);
  return chunk;
}

void ChunkAdder::run(llvm::ArrayRef<int64_t> cuts, ChunkTables &chunks) {
  ChunkTable chunk;
  llvm::ArrayRef<int64_t> before, kinds = units.kinds;
  for (size_t at = 0; at <= cuts.size(); ++at) {
    auto begin = static_cast<size_t>(at == 0 ? 0 : cuts[at - 1]);
    auto end = at < cuts.size() ? static_cast<size_t>(cuts[at]) : kinds.size();
    llvm::ArrayRef<int64_t> part = kinds.slice(begin, end - begin);
    // What chunks share with others, they may share with different ones.
    bool isLikeLast = at > 0 && part == before && chunk.shared.empty();
    double input = at > 0 ? chunk.handedOn : 0;
    if (isLikeLast && chunk.input == input) {
      chunks.repeatLast();
      continue;
    }
    if (!isLikeLast)
      chunk = sumChunk(begin, end);
    chunk.input = input;
    chunks.add(chunk);
    before = part;
  }
}

const ModelDivision &ModelDivisions::get(const Plan &plan, const FoldedUnits &units,
                                         const std::vector<UnitTable> &kinds, bool anyGroup) {
  int64_t group = anyGroup ? 0 : plan.countRanks(AxisRole::State);
  return known.get({&kinds, plan.countStages(), plan.chunks, plan.countRanks(AxisRole::Tensor), group,
                    plan.overlap, plan.countRanks(), plan.cuts},
                   [&](ModelDivision &division) {
                     bool isCut = !plan.cuts.empty() || plan.countStages() == 1;
                     division.cuts = isCut ? plan.cuts : chooseCuts(plan, units.kinds, kinds);
                     ChunkAdder(*this, plan, units, kinds, anyGroup).run(division.cuts, division.chunks);
                   });
}

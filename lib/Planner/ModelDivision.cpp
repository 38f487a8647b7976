//===- ModelDivision.cpp - a model in chunks, and what they take ----------------------------------------===//
#include "par/Planner/ModelDivision.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Cost/StageCuts.h"
#include "par/Planner/PlanSpace.h"
#include "par/Sharding/MeshAxes.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir::par;

static double sum(llvm::ArrayRef<double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

void ChunkTable::add(const UnitTable &unit, int64_t count) {
  auto times = static_cast<double>(count);
  if (units == 0)
    handedBack = unit.handedBack;
  units += count;
  if (unit.hasBackward()) {
    unitsBack += count;
    parametersBack += times * unit.parameters;
  }
  handedOn = unit.handedOn;
  received = unit.received;
  forward += times * unit.forward.sum();
  backwardInput += times * (unit.backward.sum() + unit.backwardInput.sum());
  backwardWeight += times * unit.backwardWeight.sum();
  update += times * unit.update.sum();
  parameters += times * unit.parameters;
  gradients += times * unit.gradients;
  optimizer += times * unit.optimizer;
  states += count * unit.states;
  saved += times * unit.saved;
  savedForWeight += times * unit.savedForWeight;
  handed += times * unit.handed;
  workspace = std::max(workspace, unit.workspace);
  gathered = std::max(gathered, unit.parameters);
  reduced = std::max(reduced, unit.gradients);
  double unitTrained = sum(unit.trained);
  trained += times * unitTrained;
  double stateBytes = unitTrained > 0 ? unit.optimizer / unitTrained : 0; // per byte
  for (double bytes : unit.trained)
    largestOptimizer = std::max(largestOptimizer, bytes * stateBytes);
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

static double getBucketBytes(const Plan &plan) {
  return static_cast<double>(plan.bucketBytes.value_or(4 << 20));
}

/// Small tensors travel together (`--bucket-bytes`).
static std::vector<double> joinSmall(llvm::ArrayRef<double> tensors, const Plan &plan) {
  double small = getBucketBytes(plan);
  std::vector<double> joined;
  double together = 0;
  for (double bytes : tensors)
    if (bytes >= small)
      joined.push_back(bytes);
    else if ((together += bytes) >= small)
      joined.push_back(std::exchange(together, 0));
  if (together > 0)
    joined.push_back(together);
  return joined;
}

DataTimes::DataTimes(const DataTensors &tensors, const Plan &plan, int64_t groupRanks,
                     const Cluster &cluster) {
  int64_t data = countDataRanks(plan.mesh);
  std::vector<int64_t> sizes = {plan.countStages(), data / groupRanks, groupRanks, plan.getAxis("tp")};
  GroupPlacement all = placeGroup(cluster, sizes, {1, 2}), group = placeGroup(cluster, sizes, {2}),
                 parts = placeGroup(cluster, sizes, {1});
  for (double bytes : joinSmall(tensors.all, plan))
    gather += getCollectiveSeconds(CollectiveKind::AllGather, bytes, group, cluster);
  double gradientBytes = tensors.gradients / std::max(sum(tensors.trained), 1.0); // per byte
  for (double bytes : joinSmall(tensors.trained, plan)) {
    double reduced = bytes * gradientBytes;
    gatherTrained += getCollectiveSeconds(CollectiveKind::AllGather, bytes, group, cluster);
    reduce += getCollectiveSeconds(CollectiveKind::AllReduce, reduced, all, cluster);
    scatter += getCollectiveSeconds(CollectiveKind::ReduceScatter, reduced, group, cluster);
    if (groupRanks < data)
      reduceParts += getCollectiveSeconds(CollectiveKind::AllReduce,
                                          reduced / static_cast<double>(groupRanks), parts, cluster);
  }
}

void DataTimes::addTo(ChunkTable &chunk, bool hasBackward, int64_t count) const {
  auto times = static_cast<double>(count);
  chunk.gatherParameters += times * gather;
  chunk.gatherBack += hasBackward ? times * gather : 0;
  chunk.gatherTrained += times * gatherTrained;
  chunk.reduceGradients += times * reduce;
  chunk.scatterGradients += times * scatter;
  chunk.reduceParts += times * reduceParts;
}

void DataTimes::takeLeast(const DataTimes &other) {
  gather = std::min(gather, other.gather);
  gatherTrained = std::min(gatherTrained, other.gatherTrained);
  scatter = std::min(scatter, other.scatter);
  reduceParts = std::min(reduceParts, other.reduceParts);
}

/// Of the plan's own group, or by any (PlanSpace.h).
const DataTimes &ModelDivisions::measureData(const DataTensors &tensors, const Plan &plan, bool anyGroup) {
  int64_t data = plan.getAxis("dp"), tensor = plan.getAxis("tp"), group = countStateRanks(plan.mesh);
  return dataTimes.get({plan.countStages(), countDataRanks(plan.mesh), tensor, anyGroup ? 0 : group, tensors},
                       [&](DataTimes &times) {
                         times = DataTimes(tensors, plan, group, cluster);
                         for (int64_t ranks = 2; anyGroup && ranks < data; ++ranks)
                           if (isGroup(ranks, data, tensor, cluster.nodeRanks))
                             times.takeLeast(DataTimes(tensors, plan, ranks, cluster));
                       });
}

/// The units of each chunk.
static std::vector<llvm::ArrayRef<int64_t>> divideUnits(llvm::ArrayRef<int64_t> units,
                                                        const std::vector<int64_t> &cuts) {
  std::vector<llvm::ArrayRef<int64_t>> chunks;
  int64_t begin = 0;
  for (int64_t cut : cuts) {
    chunks.push_back(units.slice(static_cast<size_t>(begin), static_cast<size_t>(cut - begin)));
    begin = cut;
  }
  chunks.push_back(units.drop_front(static_cast<size_t>(begin)));
  return chunks;
}

void ModelDivisions::sumUnits(const Plan &plan, const std::vector<int64_t> &units,
                              const std::vector<UnitTable> &kinds, bool anyGroup, ModelDivision &division) {
  std::vector<llvm::ArrayRef<int64_t>> parts = divideUnits(units, division.cuts);
  int64_t inner = plan.countRanks() / plan.countStages();
  std::vector<double> transfers; // by kind
  std::vector<DataTimes> data;
  for (const UnitTable &kind : kinds) {
    transfers.push_back(
        getMessageSeconds(kind.handedOn, plan.countRanks(), std::min(inner, cluster.nodeRanks), cluster));
    data.push_back(measureData({kind.tensors, kind.trained, kind.gradients}, plan, anyGroup));
  }
  auto sum = [&](llvm::ArrayRef<int64_t> part, ChunkTable &chunk) {
    for (size_t unit = 0, next; unit < part.size(); unit = next) {
      for (next = unit + 1; next < part.size() && part[next] == part[unit];)
        ++next;
      auto kind = static_cast<size_t>(part[unit]);
      auto count = static_cast<int64_t>(next - unit);
      chunk.add(kinds[kind], count);
      chunk.transfer = transfers[kind];
      data[kind].addTo(chunk, kinds[kind].hasBackward(), count);
    }
    // Without overlap all of a chunk that is small travels together.
    if (!plan.overlap && chunk.parameters < getBucketBytes(plan)) {
      chunk.gatherParameters = chunk.gatherTrained = chunk.reduceGradients = chunk.scatterGradients =
          chunk.reduceParts = 0;
      measureData({{chunk.parameters}, {chunk.trained}, chunk.gradients}, plan, anyGroup)
          .addTo(chunk, /*hasBackward=*/false, 1);
      chunk.gatherBack = measureData({{chunk.parametersBack}, {}, 0}, plan, anyGroup).gather;
    }
  };
  ChunkTable chunk;
  for (size_t at = 0; at < parts.size(); ++at) {
    bool hasUnitsOfLast = at > 0 && parts[at] == parts[at - 1];
    double input = at > 0 ? chunk.handedOn : 0;
    if (hasUnitsOfLast && chunk.input == input) {
      division.chunks.repeatLast();
      continue;
    }
    if (!hasUnitsOfLast) {
      chunk = ChunkTable();
      sum(parts[at], chunk);
    }
    chunk.input = input;
    division.chunks.add(chunk);
  }
}

const ModelDivision &ModelDivisions::get(const Plan &plan, const std::vector<int64_t> &units,
                                         const std::vector<UnitTable> &kinds, bool anyGroup) {
  int64_t group = anyGroup ? 0 : countStateRanks(plan.mesh);
  return known.get({&kinds, plan.countStages(), plan.chunks, plan.getAxis("tp"), group, plan.overlap,
                    plan.countRanks(), plan.cuts},
                   [&](ModelDivision &division) {
                     bool isCut = !plan.cuts.empty() || plan.countStages() == 1;
                     division.cuts = isCut ? plan.cuts : chooseCuts(plan, units, kinds);
                     sumUnits(plan, units, kinds, anyGroup, division);
                   });
}

//===- ModelDivision.cpp - a model in chunks, and what they take ----------------------------------------===//
#include "par/Planner/ModelDivision.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Cost/StageCuts.h"
#include "par/Sharding/MeshAxes.h"

using namespace mlir::par;

void ChunkTable::add(const UnitTable &unit) {
  ++units;
  forward += unit.forward.sum();
  backwardInput += unit.backward.sum() + unit.backwardInput.sum();
  backwardWeight += unit.backwardWeight.sum();
  update += unit.update.sum();
  parameters += unit.parameters;
  gradients += unit.gradients;
  optimizer += unit.optimizer;
  saved += unit.saved;
  savedForWeight += unit.savedForWeight;
  handed += unit.handed;
  workspace = std::max(workspace, unit.workspace);
  gathered = std::max(gathered, unit.parameters);
  reduced = std::max(reduced, unit.gradients);
}

/// Of a micro-batch, forward and back.
static double sumPasses(const UnitTable &unit) {
  return unit.forward.sum() + unit.backward.sum() + unit.backwardInput.sum() + unit.backwardWeight.sum();
}

const std::vector<int64_t> &ModelDivisions::chooseCuts(const Plan &plan, const std::vector<int64_t> &units,
                                                       const std::vector<UnitTable> &kinds) {
  auto [entry, isNew] = cuts.try_emplace({&kinds, plan.countStages() * plan.chunks});
  if (!isNew)
    return entry->second;
  std::vector<double> seconds;
  for (int64_t kind : units)
    seconds.push_back(sumPasses(kinds[static_cast<size_t>(kind)]));
  return entry->second = chooseStageCuts(seconds, plan.countStages() * plan.chunks);
}

/// Small tensors travel together.
static std::vector<double> joinSmall(const std::vector<double> &tensors) {
  constexpr double small = 4 << 20; // `--bucket-bytes`
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

namespace {
/// Seconds in which the ranks of data parallelism exchange a unit's parameters or gradients, tensor by
/// tensor. They lie outside of tensor parallelism, inside of stages.
struct DataTimes {
  DataTimes(const UnitTable &unit, const Plan &plan, const Cluster &cluster) {
    GroupPlacement group =
        placeGroup(cluster, {plan.countStages(), countDataRanks(plan.mesh), plan.getAxis("tp")}, {1});
    double gradientBytes = unit.parameters > 0 ? unit.gradients / unit.parameters : 0; // per byte
    for (double bytes : joinSmall(unit.tensors)) {
      gather += getCollectiveSeconds(CollectiveKind::AllGather, bytes, group, cluster);
      reduce += getCollectiveSeconds(CollectiveKind::AllReduce, bytes * gradientBytes, group, cluster);
      scatter += getCollectiveSeconds(CollectiveKind::ReduceScatter, bytes * gradientBytes, group, cluster);
    }
  }
  double gather = 0, reduce = 0, scatter = 0;
};
} // namespace

std::vector<ChunkTable> ModelDivisions::sumUnits(const Plan &plan, const std::vector<int64_t> &units,
                                                 const std::vector<UnitTable> &kinds,
                                                 const std::vector<int64_t> &cuts) const {
  std::vector<ChunkTable> chunks(cuts.size() + 1);
  int64_t inner = plan.countRanks() / plan.countStages();
  std::vector<double> transfers; // by kind
  std::vector<DataTimes> data;
  for (const UnitTable &kind : kinds) {
    transfers.push_back(
        getMessageSeconds(kind.handedOn, plan.countRanks(), std::min(inner, cluster.nodeRanks), cluster));
    data.emplace_back(kind, plan, cluster);
  }
  for (size_t unit = 0, at = 0; unit < units.size(); ++unit) {
    if (at < cuts.size() && static_cast<int64_t>(unit) == cuts[at])
      ++at;
    auto kind = static_cast<size_t>(units[unit]);
    ChunkTable &chunk = chunks[at];
    chunk.add(kinds[kind]);
    chunk.transfer = transfers[kind];
    chunk.gatherParameters += data[kind].gather;
    chunk.reduceGradients += data[kind].reduce;
    chunk.scatterGradients += data[kind].scatter;
  }
  return chunks;
}

const ModelDivision &ModelDivisions::get(const Plan &plan, const std::vector<int64_t> &units,
                                         const std::vector<UnitTable> &kinds) {
  auto [entry, isNew] = known.try_emplace(
      {&kinds, plan.countStages(), plan.chunks, plan.getAxis("tp"), plan.countRanks(), plan.cuts});
  ModelDivision &division = entry->second;
  if (isNew) {
    division.cuts = plan.cuts.empty() && plan.countStages() > 1 ? chooseCuts(plan, units, kinds) : plan.cuts;
    division.chunks = sumUnits(plan, units, kinds, division.cuts);
  }
  return division;
}

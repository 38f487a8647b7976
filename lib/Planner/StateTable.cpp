//===- StateTable.cpp - what a stage stores of variables ------------------------------------------------===//
#include "par/Planner/StateTable.h"
#include "par/Cost/CollectiveTimes.h"
#include "par/Planner/PlanSpace.h"

using namespace mlir::par;

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

static std::vector<double> joinSmall(llvm::ArrayRef<double> tensors, double small) {
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

/// The group of ranks that differ on these axes.
static GroupPlacement place(const MeshRanks &ranks, DataAxes over, const Cluster &cluster) {
  std::vector<int64_t> sizes;
  std::vector<size_t> axes;
  for (auto &[name, size] : ranks.axes) {
    DataAxes axis = getDataAxes(name);
    if (axis != DataAxes::None && contains(over, axis))
      axes.push_back(sizes.size());
    sizes.push_back(size);
  }
  return placeGroup(cluster, sizes, axes);
}

static double sumSeconds(const CollectiveRow &row, llvm::ArrayRef<double> tensors, const MeshRanks &ranks,
                         const Cluster &cluster) {
  if (ranks.count(row.over) == 1)
    return 0;
  GroupPlacement group = place(ranks, row.over, cluster);
  double part = row.perByte / static_cast<double>(ranks.count(row.dividedOver)), seconds = 0;
  for (double bytes : tensors)
    seconds += getCollectiveSeconds(row.kind, bytes * part, group, cluster);
  return seconds;
}

double ExchangeTimes::measure(const CollectiveRow &row, llvm::ArrayRef<double> parameters, double bucketBytes,
                              const MeshRanks &ranks, bool anyGroup) {
  Key key{row.kind,
          row.over,
          row.dividedOver,
          row.perByte,
          ranks.stages,
          ranks.data,
          ranks.tensor,
          anyGroup ? 0 : ranks.parts,
          joinSmall(parameters, bucketBytes)};
  return known.get(key, [&](double &seconds) {
    const std::vector<double> &tensors = std::get<std::vector<double>>(key);
    seconds = sumSeconds(row, tensors, ranks, cluster);
    bool isDivided = ranks.parts < ranks.data;
    for (int64_t group = 2; anyGroup && !isDivided && group < ranks.data; ++group)
      if (isGroup(group, ranks.data, ranks.tensor, cluster.nodeRanks)) {
        NamedAxes axes = ranks.axes;
        divideState(axes, getAxisName(AxisRole::Batch), group);
        seconds = std::min(seconds, sumSeconds(row, tensors, MeshRanks(axes), cluster));
      }
  });
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

void StateTable::add(const StateTable &other, int64_t count) {
  auto times = static_cast<double>(count);
  for (double StateTable::*number : {&StateTable::device, &StateTable::host, &StateTable::gathered,
                                     &StateTable::update, &StateTable::copies})
    this->*number += times * (other.*number);
  staged = std::max(staged, other.staged);
  exchanged.resize(std::max(exchanged.size(), other.exchanged.size()));
  for (auto [own, more] : llvm::zip(exchanged, other.exchanged)) {
    own.bytes += times * more.bytes;
    own.seconds += times * more.seconds;
  }
}

StateTable StageVariables::add(StateTable own, llvm::ArrayRef<SharedState> shared) {
  for (const SharedState &variable : shared)
    if (takes(variable))
      own.add(variable.state);
  return own;
}

void StateSummer::store(const VariableTable &variable, StateTable &table) const {
  auto found = rows.variables.find(variable.name);
  if (found == rows.variables.end())
    return;
  double host = 0, tensors = 0;
  for (const MemoryRow &row : found->second) {
    double bytes = variable.bytes * row.perByte / static_cast<double>(ranks.count(row.over));
    (row.isOnHost ? host : row.lifetime == Lifetime::Passes ? table.gathered : table.device) += bytes;
    tensors += row.isOnHost;
  }
  table.host += host;
  table.staged = std::max(table.staged, host);
  double copies = tensors * rows.copiesPerTensor;
  if (host > 0 && copies > 0)
    table.copies += copies * getCopySeconds(host * rows.copiedPerByte / copies, cluster);
}

StateTable StateSummer::sum(llvm::ArrayRef<const VariableTable *> variables, double update) const {
  StateTable table;
  for (const VariableTable *variable : variables) {
    store(*variable, table);
    if (variable->isTrained)
      table.update += update * variable->bytes / static_cast<double>(ranks.count(rows.updatedOver));
  }
  for (const CollectiveRow &row : rows.collectives) {
    ExchangeSum &sum = table.exchanged.emplace_back();
    std::vector<double> parameters;
    for (const VariableTable *variable : variables)
      if (row.variables.contains(variable->name)) {
        parameters.push_back(variable->bytes);
        sum.bytes += variable->bytes;
      }
    sum.seconds = times.measure(row, parameters, rows.bucketBytes, ranks, anyGroup);
  }
  return table;
}

void StateSummer::join(StateTable &table) const {
  for (auto [row, sum] : llvm::zip(rows.collectives, table.exchanged))
    sum.seconds = times.measure(row, {sum.bytes}, rows.bucketBytes, ranks, anyGroup);
}

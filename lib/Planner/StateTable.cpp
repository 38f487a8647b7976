//===- StateTable.cpp - what a stage stores of variables ------------------------------------------------===//
#include "par/Planner/StateTable.h"
#include "par/Cost/CollectiveTimes.h"

#include <numeric>

using namespace mlir::par;

void DataTensors::add(const VariableTable &variable) {
  all.push_back(variable.parameters);
  if (variable.isTrained)
    trained.push_back(variable.parameters);
  gradients += variable.gradients;
}

double mlir::par::getBucketBytes(const Plan &plan) {
  return static_cast<double>(plan.bucketBytes.value_or(4 << 20));
}

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

/// The group of ranks that differ on the axes of a mesh which `isOf` names.
static GroupPlacement placeAxes(const Cluster &cluster, const NamedAxes &mesh,
                                llvm::function_ref<bool(llvm::StringRef)> isOf) {
  std::vector<int64_t> sizes;
  std::vector<size_t> axes;
  for (auto &[name, size] : mesh) {
    if (isOf(name))
      axes.push_back(sizes.size());
    sizes.push_back(size);
  }
  return placeGroup(cluster, sizes, axes);
}

DataTimes::DataTimes(const DataTensors &tensors, const Plan &plan, int64_t groupRanks,
                     const Cluster &cluster) {
  NamedAxes mesh = plan.mesh;
  if (plan.countRanks(AxisRole::State) != groupRanks)
    divideState(mesh, getAxisName(AxisRole::Batch), groupRanks);
  auto isData = [](llvm::StringRef axis) { return hasRole(axis, AxisRole::Batch); };
  auto isState = [](llvm::StringRef axis) { return hasRole(axis, AxisRole::State); };
  GroupPlacement all = placeAxes(cluster, mesh, isData), group = placeAxes(cluster, mesh, isState),
                 parts = placeAxes(cluster, mesh, [&](auto axis) { return isData(axis) && !isState(axis); });
  int64_t data = plan.countRanks(AxisRole::Batch);
  for (double bytes : joinSmall(tensors.all, plan))
    gather += getCollectiveSeconds(CollectiveKind::AllGather, bytes, group, cluster);
  double trained = std::accumulate(tensors.trained.begin(), tensors.trained.end(), 0.0);
  double gradientBytes = tensors.gradients / std::max(trained, 1.0); // per byte
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

void DataTimes::add(const DataTimes &other, double times) {
  for (double DataTimes::*seconds : {&DataTimes::gather, &DataTimes::gatherTrained, &DataTimes::reduce,
                                     &DataTimes::scatter, &DataTimes::reduceParts})
    this->*seconds += times * (other.*seconds);
}

void DataTimes::takeLeast(const DataTimes &other) {
  gather = std::min(gather, other.gather);
  gatherTrained = std::min(gatherTrained, other.gatherTrained);
  scatter = std::min(scatter, other.scatter);
  reduceParts = std::min(reduceParts, other.reduceParts);
}

void StateTable::add(const VariableTable &variable, double seconds) {
  parameters += variable.parameters;
  gradients += variable.gradients;
  optimizer += variable.optimizer;
  trained += variable.isTrained ? variable.parameters : 0;
  states += variable.states;
  largestOptimizer = std::max(largestOptimizer, variable.optimizer);
  update += seconds;
}

void StateTable::add(const StateTable &other, int64_t count) {
  auto times = static_cast<double>(count);
  for (double StateTable::*number : {&StateTable::parameters, &StateTable::gradients, &StateTable::optimizer,
                                     &StateTable::trained, &StateTable::update})
    this->*number += times * (other.*number);
  states += count * other.states;
  largestOptimizer = std::max(largestOptimizer, other.largestOptimizer);
  data.add(other.data, times);
}

void StateTable::raise(const StateTable &other) {
  for (double StateTable::*bytes :
       {&StateTable::parameters, &StateTable::gradients, &StateTable::optimizer, &StateTable::trained})
    this->*bytes = std::max(this->*bytes, other.*bytes);
}

StateTable StageVariables::add(StateTable own, llvm::ArrayRef<SharedState> shared) {
  for (const SharedState &variable : shared)
    if (known.insert(variable.number).second)
      own.add(variable.state);
  return own;
}

//===- ClusterMachine.cpp - what work takes on a cluster ------------------------------------------------===//
#include "par/Cost/Machine.h"

using namespace mlir;
using namespace mlir::par;

double ClusterMachine::getSeconds(const Computation &work) const {
  const DeviceModel &device = cluster.device;
  if (work.onHost) {
    // The ranks of a node share its host.
    double share = 1.0 / static_cast<double>(cluster.nodeRanks);
    return std::max(work.flops / (cluster.host.flops * share), work.bytes / (cluster.host.memory * share));
  }
  double seconds = 0;
  for (const ProductShape &shape : work.products)
    seconds += getProductSeconds(shape, device);
  if (work.library)
    seconds += work.library(device);
  if (seconds == 0)
    seconds = getKernelSeconds(work.bytes, work.flops, device);
  return cluster.ownFactor * (seconds + device.launchGap);
}

double ClusterMachine::getSeconds(const Exchange &exchange) const {
  if (!exchange.kind)
    return getMessageSeconds(exchange);
  return getCollectiveSeconds(*exchange.kind, exchange.bytes, place(exchange), cluster);
}

/// Between neighbours on an axis: of a node all ranks send at once whose neighbours lie in another one.
double ClusterMachine::getMessageSeconds(const Exchange &exchange) const {
  int64_t stride = getStride(exchange.axes.front());
  int64_t span = stride * mesh.getSizes()[exchange.axes.front()];
  return par::getMessageSeconds(exchange.bytes, span, std::min(stride, cluster.nodeRanks), cluster);
}

int64_t ClusterMachine::getStride(size_t axis) const {
  int64_t stride = 1;
  for (int64_t size : mesh.getSizes().drop_front(axis + 1))
    stride *= size;
  return stride;
}

GroupPlacement ClusterMachine::place(const Exchange &exchange) const {
  if (exchange.coordinates.empty())
    return placeGroup(cluster, mesh.getSizes(), exchange.axes);
  std::vector<int64_t> ranks;
  for (int64_t coordinate : exchange.coordinates)
    ranks.push_back(coordinate * getStride(exchange.axes.front()));
  return placeRanks(cluster, std::move(ranks));
}

double ClusterMachine::getCopySeconds(double bytes) const { return par::getCopySeconds(bytes, cluster); }

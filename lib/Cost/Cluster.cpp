//===- Cluster.cpp - rates between measured points, devices that ranks share ----------------------------===//
#include "par/Cost/Cluster.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir::par;

double RateCurve::at(double bytes) const {
  auto right = llvm::find_if(points, [&](auto &point) { return point.first >= bytes; });
  if (right == points.begin())
    return points.empty() ? 0 : right->second;
  auto left = std::prev(right);
  if (right == points.end())
    return left->second;
  double part = std::log(bytes / left->first) / std::log(right->first / left->first);
  return left->second * std::pow(right->second / left->second, part);
}

void RateCurve::scale(double by) {
  for (auto &[bytes, rate] : points)
    rate *= by;
}

/// Groups of other ranks are computed by the same processor at the same time: links are not divided, what
/// they reach was measured with all ranks of a node.
Cluster mlir::par::shareOut(const Cluster &cluster, int64_t ranks) {
  Cluster shared = cluster;
  int64_t devices = cluster.nodeRanks * std::max<int64_t>(cluster.nodes, 1);
  int64_t perDevice = (ranks + devices - 1) / devices;
  if (!cluster.device.isShared || perDevice <= 1)
    return shared;
  double share = 1.0 / static_cast<double>(perDevice);
  DeviceModel &device = shared.device;
  device.memoryBytes *= share;
  device.kernelFlops *= share;
  device.products.peakF32 *= share;
  device.products.peakBF16 *= share;
  device.memory.scale(share);
  shared.nodeRanks *= perDevice;
  // With no more ranks than cores each has its own.
  shared.oversubscription =
      std::max(1.0, static_cast<double>(perDevice) / static_cast<double>(device.products.units));
  for (LinkLevel &level : shared.links)
    level.ranks *= perDevice;
  return shared;
}

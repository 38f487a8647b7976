//===- ClusterFields.h - what cluster files call the numbers of a cluster ---------------------*- C++ -*-===//
// One line per number: reading, writing, checking and listing them all walk these lists.

#ifndef PAR_COST_CLUSTERFIELDS_H
#define PAR_COST_CLUSTERFIELDS_H

#include "par/Cost/Cluster.h"

namespace mlir::par {

/// What a number may be at least and at most.
enum class Bound { Above0, AtLeast0, Share };

/// What there is to know of a member beside its value. Of curves, `scale` and `bound` are those of the rates.
struct ClusterField {
  llvm::StringLiteral name; ///< with its unit
  double scale = 1;         ///< what one of that unit is in seconds, bytes or operations (per second)
  Bound bound = Bound::Above0;
  bool isOptional = false; ///< a file may leave it out
};

inline constexpr double kMicro = 1e-6, kGiga = 1e9, kTera = 1e12;

template <typename Self, typename Of>
using IfIs = std::enable_if_t<std::is_same_v<std::remove_const_t<Self>, Of>, int>;

/// `visitFields(visit, object)` calls `visit(ClusterField, member)` for every member, in the order of the
/// struct.
template <typename Visit, typename Self, IfIs<Self, ProductRates> = 0>
void visitFields(Visit &&visit, Self &rates) {
  visit(ClusterField{"peak_f32_tflops", kTera}, rates.peakF32);
  visit(ClusterField{"peak_bf16_tflops", kTera, Bound::AtLeast0}, rates.peakBF16);
  visit(ClusterField{"share", 1, Bound::Share}, rates.share);
  visit(ClusterField{"units"}, rates.units);
  visit(ClusterField{"tile_rows"}, rates.tileRows);
  visit(ClusterField{"tile_columns"}, rates.tileColumns);
  visit(ClusterField{"depth"}, rates.depth);
  visit(ClusterField{"alignment"}, rates.alignment);
  visit(ClusterField{"unaligned_share", 1, Bound::Share}, rates.unalignedShare);
  visit(ClusterField{"full_alignment"}, rates.fullAlignment);
  visit(ClusterField{"aligned_share", 1, Bound::Share}, rates.alignedShare);
}

template <typename Visit, typename Self, IfIs<Self, AttentionRates> = 0>
void visitFields(Visit &&visit, Self &rates) {
  visit(ClusterField{"head_dim"}, rates.headDim);
  visit(ClusterField{"forward_share", 1, Bound::Share}, rates.forward);
  visit(ClusterField{"backward_share", 1, Bound::Share}, rates.backward);
}

template <typename Visit, typename Self, IfIs<Self, DeviceModel> = 0>
void visitFields(Visit &&visit, Self &device) {
  visit(ClusterField{"name"}, device.name);
  visit(ClusterField{"memory_bytes"}, device.memoryBytes);
  visit(ClusterField{"shared", 1, Bound::Above0, true}, device.isShared);
  visit(ClusterField{"context_bytes", 1, Bound::AtLeast0}, device.contextBytes);
  visit(ClusterField{"communicator_bytes", 1, Bound::AtLeast0}, device.communicatorBytes);
  visit(ClusterField{"memory_gbps", kGiga}, device.memory);
  visit(ClusterField{"kernel_tflops", kTera}, device.kernelFlops);
  visit(ClusterField{"products"}, device.products);
  visit(ClusterField{"attention"}, device.attention);
  visit(ClusterField{"launch_gap_us", kMicro, Bound::AtLeast0}, device.launchGap);
  visit(ClusterField{"host_us", kMicro, Bound::AtLeast0}, device.hostTime);
}

template <typename Visit, typename Self, IfIs<Self, CollectiveRates> = 0>
void visitFields(Visit &&visit, Self &rates) {
  visit(ClusterField{"algorithm"}, rates.algorithm);
  visit(ClusterField{"ranks"}, rates.ranks);
  visit(ClusterField{"latency_us", kMicro}, rates.latency);
  visit(ClusterField{"step_us", kMicro, Bound::AtLeast0}, rates.stepLatency);
  visit(ClusterField{"bus_gbps", kGiga}, rates.rate);
}

template <typename Visit, typename Self, IfIs<Self, LinkLevel> = 0>
void visitFields(Visit &&visit, Self &level) {
  visit(ClusterField{"name"}, level.name);
  visit(ClusterField{"ranks", 1, Bound::AtLeast0}, level.ranks);
  visit(ClusterField{"node_gbps", kGiga, Bound::AtLeast0}, level.perNode);
  visit(ClusterField{"latency_us", kMicro}, level.latency);
  visit(ClusterField{"message_gbps", kGiga}, level.message);
  visit(ClusterField{"all_reduce"}, level.allReduce);
  visit(ClusterField{"all_gather"}, level.allGather);
  visit(ClusterField{"reduce_scatter"}, level.reduceScatter);
  visit(ClusterField{"all_to_all"}, level.allToAll);
}

template <typename Visit, typename Self, IfIs<Self, ConcurrencyModel> = 0>
void visitFields(Visit &&visit, Self &concurrency) {
  visit(ClusterField{"compute_share", 1, Bound::Share}, concurrency.computeShare);
  visit(ClusterField{"communicate_share", 1, Bound::Share}, concurrency.communicateShare);
}

template <typename Visit, typename Self, IfIs<Self, HostModel> = 0>
void visitFields(Visit &&visit, Self &host) {
  visit(ClusterField{"memory_bytes"}, host.memoryBytes);
  visit(ClusterField{"copy_gbps", kGiga}, host.copy);
  visit(ClusterField{"copy_latency_us", kMicro}, host.copyLatency);
  visit(ClusterField{"tflops", kTera}, host.flops);
  visit(ClusterField{"memory_gbps", kGiga}, host.memory);
}

template <typename Visit, typename Self, IfIs<Self, Cluster> = 0>
void visitFields(Visit &&visit, Self &cluster) {
  visit(ClusterField{"name"}, cluster.name);
  visit(ClusterField{"target"}, cluster.target);
  visit(ClusterField{"chip", 1, Bound::Above0, true}, cluster.chip);
  visit(ClusterField{"node_ranks"}, cluster.nodeRanks);
  visit(ClusterField{"nodes", 1, Bound::AtLeast0, true}, cluster.nodes);
  visit(ClusterField{"device"}, cluster.device);
  visit(ClusterField{"links"}, cluster.links);
  visit(ClusterField{"concurrency"}, cluster.concurrency);
  visit(ClusterField{"host"}, cluster.host);
  visit(ClusterField{"sources", 1, Bound::Above0, true}, cluster.sources);
}

} // namespace mlir::par

#endif // PAR_COST_CLUSTERFIELDS_H

//===- Cluster.h - a cluster of devices, as plans are weighed for it --------------------------*- C++ -*-===//
// Read from a file (ClusterFile.h; docs/Clusters.md says what every number means and how it is measured).
// Bytes and seconds; rates are per second.

#ifndef PAR_COST_CLUSTER_H
#define PAR_COST_CLUSTER_H

#include "par/Plan/Plan.h"
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mlir::par {

/// A rate that grows with the bytes (or rows) of one piece of work: [bytes, rate], bytes rising. Between two
/// points the rate goes straight on logarithmic scales; before the first and behind the last it stays.
struct RateCurve {
  std::vector<std::pair<double, double>> points;
  double at(double bytes) const;
  void scale(double by);
};

/// Matrix products. A product is computed in tiles, one per unit at a time: the last wave of tiles may leave
/// units idle, and sizes that are no multiple of `alignment` run slower.
struct ProductRates {
  double peakF32 = 0, peakBF16 = 0; ///< operations per second, dense, as the maker states
  double share = 0;                 ///< of the peak that large products sustain
  int64_t units = 1;                ///< that compute tiles beside each other
  int64_t tileRows = 1, tileColumns = 1;
  int64_t depth = 1;         ///< summed terms behind which a tile has reached half of its rate
  int64_t alignment = 1;     ///< elements
  double unalignedShare = 1; ///< of the rate, where m, n or k is no multiple of it
  int64_t fullAlignment = 1; ///< elements, at least `alignment`, of sizes that reach the whole rate
  double alignedShare = 1;   ///< of the rate, where m, n or k is a multiple of `alignment` alone
};

/// Fused attention of one head size: share of the peak of products by rows, counting what is computed (the
/// causal half).
struct AttentionRates {
  int64_t headDim = 0;
  RateCurve forward, backward;
};

struct DeviceModel {
  std::string name;
  double memoryBytes = 0;
  bool isShared = false;        ///< ranks of a node divide one device among them: a host's processor
  double contextBytes = 0;      ///< that the driver and libraries keep for themselves
  double communicatorBytes = 0; ///< of each group that a rank communicates in
  RateCurve memory;             ///< what kernels reach that read and write so many bytes
  double kernelFlops = 0;       ///< operations per second outside of products
  ProductRates products;
  std::vector<AttentionRates> attention; ///< by rising head size; others take the nearest
  double launchGap = 0;                  ///< seconds between two kernels
  double hostTime = 0; ///< seconds of the host to issue an op: no op takes less, unless steps are replayed
};

/// One way to compute a collective. With as many ranks as measured it takes latency + steps · stepLatency +
/// bus bytes / rate. Of n ranks a ring has n − 1 steps, the others one per doubling. Switches that add
/// ("nvls") send a rank's bytes once for any n.
struct CollectiveRates {
  std::string algorithm;  ///< "ring", "tree", "nvls"
  int64_t ranks = 0;      ///< with which `rate` was measured; several of one algorithm: the nearest counts
  double latency = 0;     ///< seconds until something moves
  double stepLatency = 0; ///< seconds of each further rank around the ring, or level of the tree
  RateCurve rate;         ///< of bus bytes per rank (Thakur et al., 2005), by the bytes of the whole tensor
};

/// What connects groups of ranks of one size: a node's switch, the network between nodes. A group takes the
/// collectives of the outermost level that it needs. Between nodes, their rates are of groups that have all
/// ranks of their nodes; groups that share nodes share them and `perNode`.
struct LinkLevel {
  std::string name;
  int64_t ranks = 0;  ///< that it connects; 0: all there are
  double perNode = 0; ///< bytes per second in and out of a node, shared by its ranks; 0: no such bound
  double latency = 0; ///< of a message
  RateCurve message;  ///< of a message between two ranks
  std::vector<CollectiveRates> allReduce, allGather, reduceScatter, allToAll; ///< the quickest is taken
};

/// What computing beside communicating costs either.
struct ConcurrencyModel {
  double computeShare = 1;     ///< of its rate that computing keeps while a collective runs
  double communicateShare = 1; ///< of its rate that a collective keeps while kernels run
};

struct HostModel {
  double memoryBytes = 0; ///< of a node
  double copy = 0;        ///< bytes per second between a device and its host, each way
  double copyLatency = 0; ///< seconds
  double flops = 0;       ///< operations per second of a node, for updates on the host
  double memory = 0;      ///< bytes per second of a node
};

struct Cluster {
  static constexpr int64_t kVersion = 1;
  static constexpr int64_t kMostRanks = 1 << 24; ///< what any count may be

  std::string name;
  TargetKind target = TargetKind::Cpu;
  std::string chip;      ///< of GPUs, as --chip says it; empty: none
  int64_t nodeRanks = 1; ///< devices of a node
  int64_t nodes = 0;     ///< that there are; 0: as many as one asks for
  DeviceModel device;
  std::vector<LinkLevel> links; ///< the innermost first; the last connects all
  ConcurrencyModel concurrency;
  HostModel host;
  /// Ranks for each core of a shared device, at least 1: while others wait, a rank is up to as much quicker
  /// than its part of the device. Not of the file, but of `shareOut`.
  double oversubscription = 1;
  /// A device computes so many times the model's seconds, as par's own steps did (OwnSteps.h). Not of the
  /// file, as other software has other kernels.
  double ownFactor = 1;
  double headroom = 0; ///< bytes of a device that plans leave free; not of the file
  /// Where numbers come from: places in the file, or what such places begin with, and texts.
  std::map<std::string, std::string> sources;

  /// Ranks that there are devices for; nothing: as many as one asks for, and where ranks share devices.
  std::optional<int64_t> getMostRanks() const {
    return nodes > 0 && !device.isShared ? std::optional(nodes * nodeRanks) : std::nullopt;
  }

  /// What is left for a rank of a plan with so many communicators, in bytes.
  double getUsableBytes(int64_t communicators) const {
    return device.memoryBytes - device.contextBytes - double(communicators) * device.communicatorBytes -
           headroom;
  }
};

/// The cluster as each of so many ranks sees it: where a device is shared, its rates, its memory and the
/// sizes of the links are those of a rank's part of it. Others stay as they are.
Cluster shareOut(const Cluster &cluster, int64_t ranks);

} // namespace mlir::par

#endif // PAR_COST_CLUSTER_H

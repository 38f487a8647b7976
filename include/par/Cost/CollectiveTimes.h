//===- CollectiveTimes.h - seconds of what ranks send each other ------------------------------*- C++ -*-===//
#ifndef PAR_COST_COLLECTIVETIMES_H
#define PAR_COST_COLLECTIVETIMES_H

#include "par/Cost/Cluster.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::par {

enum class CollectiveKind { AllReduce, AllGather, ReduceScatter, AllToAll };

/// Bytes that a rank sends for each of the tensor's (Thakur et al., 2005; NCCL's "bus bandwidth").
double getBusFactor(CollectiveKind kind, double ranks);

/// How the ranks of a group lie on the levels of a cluster's links: `members[level]` is how many parts of the
/// group that level joins, the innermost first (8 and 4: eight ranks of each of four nodes). Their product is
/// the size of the group, or just above it where parts have different numbers of members: then `ranks` says
/// it. Every rank of the cluster is in one such group at the same time.
struct GroupPlacement {
  std::vector<int64_t> members;
  int64_t ranks = 0; ///< 0: the product of `members`
  int64_t countRanks() const;
};

/// The group of these ranks. Where parts of a level have different numbers of them, the average counts,
/// rounded up.
GroupPlacement placeRanks(const Cluster &cluster, std::vector<int64_t> ranks);
/// The group of ranks that differ on some axes of a mesh, ranks numbered row-major over all axes: `sizes` are
/// those of all axes, outermost first; `axes` are the numbers of the group's, rising. Of groups that lie
/// differently (three ranks of a node of eight) the one that spans most counts: all wait for it.
GroupPlacement placeGroup(const Cluster &cluster, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<size_t> axes);

/// `bytes`: of the whole tensor, what a gather results in and what a reduction begins with.
double getCollectiveSeconds(CollectiveKind kind, double bytes, const GroupPlacement &group,
                            const Cluster &cluster);

/// A message between neighbours of a row that extends over `span` ranks: over the innermost links that
/// connect so many. `concurrent`: ranks of a node that send over the same links at the same time.
double getMessageSeconds(double bytes, int64_t span, int64_t concurrent, const Cluster &cluster);

/// A copy between a device and its host.
double getCopySeconds(double bytes, const Cluster &cluster);

} // namespace mlir::par

#endif // PAR_COST_COLLECTIVETIMES_H

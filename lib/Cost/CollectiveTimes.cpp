//===- CollectiveTimes.cpp - seconds of what ranks send each other --------------------------------------===//
#include "par/Cost/CollectiveTimes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

using namespace mlir::par;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Where groups lie
//===----------------------------------------------------------------------===//

int64_t GroupPlacement::countRanks() const {
  if (ranks)
    return ranks;
  int64_t product = 1;
  for (int64_t count : members)
    product *= count;
  return product;
}

namespace {
/// An axis as it numbers ranks: `count` coordinates, each `stride` ranks behind the one before.
struct RankAxis {
  int64_t count, stride;
};
} // namespace

/// Lists these axes, outermost first.
static std::vector<RankAxis> listAxes(ArrayRef<int64_t> sizes, llvm::function_ref<bool(size_t)> isOf) {
  std::vector<RankAxis> axes;
  int64_t stride = 1;
  for (size_t axis = sizes.size(); axis-- > 0; stride *= sizes[axis])
    if (isOf(axis))
      axes.push_back({sizes[axis], stride});
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// Lists all numbers that coordinates on these axes add to a rank, rising.
static std::vector<int64_t> listOffsets(ArrayRef<RankAxis> axes) {
  std::vector<int64_t> offsets = {0};
  for (const RankAxis &axis : llvm::reverse(axes)) {
    std::vector<int64_t> more;
    for (int64_t at = 0; at < axis.count; ++at)
      for (int64_t offset : offsets)
        more.push_back(offset + at * axis.stride);
    offsets = std::move(more);
  }
  return offsets;
}

/// The number of ranks behind which the parts of all levels begin anew.
static int64_t getPeriod(const Cluster &cluster) {
  int64_t period = 1;
  for (const LinkLevel &level : cluster.links)
    if (level.ranks > 0)
      period = std::lcm(period, level.ranks);
  return period;
}

/// Coordinates of an axis behind which it adds whole periods.
static int64_t countOfPeriod(const RankAxis &axis, int64_t period) {
  return period / std::gcd(axis.stride, period);
}

/// Leaves of each axis one period, where it has whole ones: the others lie on parts of their own, as that one
/// does. Returns how many times there are as many ranks.
static int64_t foldPeriods(std::vector<RankAxis> &axes, int64_t period) {
  int64_t times = 1;
  for (RankAxis &axis : axes)
    if (int64_t count = countOfPeriod(axis, period); axis.count % count == 0)
      times *= std::exchange(axis.count, count) / count;
  return times;
}

/// Lists what coordinates on these axes add to a rank beyond whole periods, each once.
static std::set<int64_t> listResidues(ArrayRef<RankAxis> axes, int64_t period) {
  std::set<int64_t> residues = {0};
  for (const RankAxis &axis : axes) {
    std::set<int64_t> more;
    for (int64_t at = 0; at < std::min(axis.count, countOfPeriod(axis, period)); ++at)
      for (int64_t residue : residues)
        more.insert((residue + at * axis.stride) % period);
    residues = std::move(more);
  }
  return residues;
}

/// Whether each axis lies within a part of a level, or goes over whole ones: then all groups lie alike.
static bool isAligned(const Cluster &cluster, ArrayRef<int64_t> sizes) {
  auto fits = [&](int64_t stride) {
    return llvm::all_of(cluster.links, [&](const LinkLevel &level) {
      return level.ranks == 0 || level.ranks % stride == 0 || stride % level.ranks == 0;
    });
  };
  int64_t stride = 1;
  for (int64_t size : llvm::reverse(sizes))
    if (!fits(stride *= size))
      return false;
  return true;
}

GroupPlacement mlir::par::placeRanks(const Cluster &cluster, std::vector<int64_t> ranks) {
  GroupPlacement placement;
  placement.ranks = static_cast<int64_t>(ranks.size());
  std::sort(ranks.begin(), ranks.end());
  for (const LinkLevel &level : cluster.links) {
    std::vector<int64_t> parts; // the first rank of each of the level's parts that has members
    for (int64_t rank : ranks)
      if (int64_t part = level.ranks ? rank / level.ranks * level.ranks : 0;
          parts.empty() || parts.back() != part)
        parts.push_back(part);
    auto members = static_cast<int64_t>(ranks.size()), count = static_cast<int64_t>(parts.size());
    placement.members.push_back((members + count - 1) / count);
    ranks = std::move(parts);
  }
  return placement;
}

/// Finds the placement that spans most of groups that begin at these residues.
static GroupPlacement findWorst(const Cluster &cluster, ArrayRef<int64_t> group,
                                const std::set<int64_t> &residues) {
  std::optional<GroupPlacement> worst;
  for (int64_t first : residues) {
    std::vector<int64_t> ranks = group.vec();
    for (int64_t &rank : ranks)
      rank += first;
    GroupPlacement other = placeRanks(cluster, std::move(ranks));
    if (!worst || std::lexicographical_compare(worst->members.rbegin(), worst->members.rend(),
                                               other.members.rbegin(), other.members.rend()))
      worst = std::move(other);
  }
  return *worst;
}

GroupPlacement mlir::par::placeGroup(const Cluster &cluster, ArrayRef<int64_t> sizes, ArrayRef<size_t> axes) {
  auto isOf = [&](size_t axis) { return llvm::is_contained(axes, axis); };
  int64_t period = getPeriod(cluster);
  std::vector<RankAxis> own = listAxes(sizes, isOf);
  int64_t times = foldPeriods(own, period);
  std::set<int64_t> residues = {0};
  if (!isAligned(cluster, sizes))
    residues = listResidues(listAxes(sizes, [&](size_t axis) { return !isOf(axis); }), period);
  GroupPlacement worst = findWorst(cluster, listOffsets(own), residues);
  // The last level joins the parts of all periods.
  worst.members.back() *= times;
  worst.ranks *= times;
  return worst;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

double mlir::par::getBusFactor(CollectiveKind kind, double ranks) {
  return (kind == CollectiveKind::AllReduce ? 2 : 1) * (ranks - 1) / ranks;
}

static ArrayRef<CollectiveRates> getRates(CollectiveKind kind, const LinkLevel &level) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return level.allReduce;
  case CollectiveKind::AllGather:
    return level.allGather;
  case CollectiveKind::ReduceScatter:
    return level.reduceScatter;
  case CollectiveKind::AllToAll:
    return level.allToAll;
  }
  return {};
}

/// `share`: of the level's rate that the group has, beside others that use the same links. Together they move
/// what one group would that has the links for itself.
static double getSeconds(CollectiveKind kind, double bytes, double ranks, const CollectiveRates &rates,
                         double share) {
  bool isRing = rates.algorithm == "ring";
  double steps = isRing ? ranks - 1 : std::ceil(std::log2(ranks));
  // A switch that adds takes the same time for any number of ranks; others send what their number asks for.
  bool isSwitch = rates.algorithm == "nvls";
  double bus = bytes * getBusFactor(kind, isSwitch ? double(rates.ranks) : ranks);
  return rates.latency + steps * rates.stepLatency + bus / (rates.rate.at(bytes / share) * share);
}

/// By the quickest algorithm; of one that was measured with several numbers of ranks, by the nearest.
static double getLevelSeconds(CollectiveKind kind, double bytes, int64_t ranks, const LinkLevel &level,
                              double share) {
  ArrayRef<CollectiveRates> list = getRates(kind, level);
  auto isNearest = [&](const CollectiveRates &rates) {
    return std::none_of(list.begin(), list.end(), [&](const CollectiveRates &other) {
      return other.algorithm == rates.algorithm &&
             std::abs(other.ranks - ranks) < std::abs(rates.ranks - ranks);
    });
  };
  double seconds = std::numeric_limits<double>::infinity();
  for (const CollectiveRates &rates : list)
    if (isNearest(rates))
      seconds = std::min(seconds, getSeconds(kind, bytes, double(ranks), rates, share));
  return seconds;
}

/// Part by part: what the inner level has divided or added up goes over the outer one. There a group of each
/// of the inner level's ranks is under way at the same time.
static double getNestedSeconds(CollectiveKind kind, double bytes, ArrayRef<int64_t> members,
                               const Cluster &cluster) {
  size_t level = cluster.links.size() - members.size();
  int64_t ranks = members.front();
  double rest = 0;
  if (members.size() > 1)
    rest = getNestedSeconds(kind, bytes / static_cast<double>(ranks), members.drop_front(), cluster);
  if (ranks == 1)
    return rest;
  double share = level == 0 ? 1 : 1 / static_cast<double>(cluster.links[level - 1].ranks);
  const LinkLevel &links = cluster.links[level];
  bool isLast = rest == 0;
  if (kind == CollectiveKind::AllReduce && !isLast)
    return getLevelSeconds(CollectiveKind::ReduceScatter, bytes, ranks, links, share) + rest +
           getLevelSeconds(CollectiveKind::AllGather, bytes, ranks, links, share);
  return getLevelSeconds(kind, bytes, ranks, links, share) + rest;
}

double mlir::par::getCollectiveSeconds(CollectiveKind kind, double bytes, const GroupPlacement &group,
                                       const Cluster &cluster) {
  int64_t ranks = group.countRanks();
  if (ranks <= 1 || bytes <= 0)
    return 0;
  size_t outer = group.members.size(); // levels that it needs
  while (group.members[outer - 1] == 1)
    --outer;
  // Nothing is added up or divided on the way, and each rank has an adapter of its own.
  if (kind == CollectiveKind::AllToAll)
    return getLevelSeconds(kind, bytes, ranks, cluster.links[outer - 1], 1);
  double nested = getNestedSeconds(kind, bytes, group.members, cluster);
  // Or one ring, or tree, of all over the outermost links.
  double inner = 1;
  for (size_t level = 0; level + 1 < outer; ++level)
    inner *= static_cast<double>(group.members[level]);
  double share = outer == 1 ? 1 : std::min(1.0, inner / static_cast<double>(cluster.links[outer - 2].ranks));
  return std::min(nested, getLevelSeconds(kind, bytes, ranks, cluster.links[outer - 1], share));
}

//===----------------------------------------------------------------------===//
// Messages and copies
//===----------------------------------------------------------------------===//

double mlir::par::getMessageSeconds(double bytes, int64_t span, int64_t concurrent, const Cluster &cluster) {
  if (bytes <= 0)
    return 0;
  const LinkLevel *level = &cluster.links.back();
  for (const LinkLevel &inner : llvm::reverse(cluster.links))
    if (inner.ranks == 0 || inner.ranks >= span)
      level = &inner;
  double rate = level->message.at(bytes);
  if (level->perNode > 0)
    rate = std::min(rate, level->perNode / static_cast<double>(concurrent));
  return level->latency + bytes / rate;
}

double mlir::par::getCopySeconds(double bytes, const Cluster &cluster) {
  return bytes > 0 ? cluster.host.copyLatency + bytes / cluster.host.copy : 0;
}

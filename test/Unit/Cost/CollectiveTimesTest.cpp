//===- CollectiveTimesTest.cpp - where groups lie, messages and copies ----------------------------------===//
#include "par/Cost/CollectiveTimes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

#include <map>

using namespace mlir::par;

namespace {

/// Nodes of eight, racks of four nodes.
Cluster makeCluster() {
  Cluster cluster;
  cluster.nodeRanks = 8;
  cluster.links.resize(3);
  cluster.links[0].ranks = 8;
  cluster.links[1].ranks = 32;
  for (auto [level, latency, rate, perNode] :
       {std::tuple(0, 1., 100., 0.), {1, 2., 10., 40.}, {2, 4., 5., 8.}}) {
    cluster.links[size_t(level)].latency = latency;
    cluster.links[size_t(level)].message.points = {{1, rate}};
    cluster.links[size_t(level)].perNode = perNode;
  }
  cluster.host.copy = 50;
  cluster.host.copyLatency = 3;
  return cluster;
}

using Members = std::vector<int64_t>;

TEST(Placement, AxesTakeTheLinksOfTheirStride) {
  Cluster cluster = makeCluster();
  // pp=2, dp=8, tp=4: two parts of dp share a node.
  std::vector<int64_t> mesh = {2, 8, 4};
  EXPECT_EQ(placeGroup(cluster, mesh, {2}).members, (Members{4, 1, 1}));
  EXPECT_EQ(placeGroup(cluster, mesh, {1}).members, (Members{2, 4, 1}));
  EXPECT_EQ(placeGroup(cluster, mesh, {0}).members, (Members{1, 1, 2}));
  EXPECT_EQ(placeGroup(cluster, mesh, {1, 2}).members, (Members{8, 4, 1}));
  EXPECT_EQ(placeGroup(cluster, mesh, {0, 1, 2}).countRanks(), 64);
  // Sizes that are no divisors of a node's: what lies in two nodes lies in both.
  EXPECT_EQ(placeGroup(cluster, {12}, {0}).members, (Members{6, 2, 1}));
  // Ranks 0 to 2 lie in a node, ranks 6 to 8 do not, and the first wait for these.
  EXPECT_EQ(placeGroup(cluster, {8, 3}, {1}).members, (Members{2, 2, 1}));
  EXPECT_EQ(placeGroup(cluster, {8, 3}, {1}).countRanks(), 3);
}

/// The group that spans most, of all groups with all their ranks.
GroupPlacement placeAll(const Cluster &cluster, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<size_t> axes) {
  std::map<std::vector<int64_t>, std::vector<int64_t>> groups; // by coordinates on the other axes
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t rank = 0; rank < count; ++rank) {
    std::vector<int64_t> others;
    int64_t rest = rank;
    for (size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis])
      if (!llvm::is_contained(axes, axis))
        others.push_back(rest % sizes[axis]);
    groups[others].push_back(rank);
  }
  GroupPlacement worst;
  for (auto &[others, ranks] : groups) {
    GroupPlacement other = placeRanks(cluster, ranks);
    if (std::lexicographical_compare(worst.members.rbegin(), worst.members.rend(), other.members.rbegin(),
                                     other.members.rend()))
      worst = other;
  }
  return worst;
}

// Groups of many ranks lie as if each of them had been looked at.
TEST(Placement, ManyRanksLieAsFewDo) {
  Cluster cluster = makeCluster();
  for (std::vector<int64_t> mesh : {std::vector<int64_t>{64, 8},
                                    {3, 64, 2},
                                    {5, 7, 6},
                                    {12, 10, 4},
                                    {96, 3},
                                    {2, 9, 16},
                                    {1, 250, 4},
                                    {128},
                                    {7, 33},
                                    {6, 5, 4, 3}})
    for (unsigned set = 1; set < 1u << mesh.size(); ++set) {
      std::vector<size_t> axes;
      for (size_t axis = 0; axis < mesh.size(); ++axis)
        if (set & 1u << axis)
          axes.push_back(axis);
      GroupPlacement placed = placeGroup(cluster, mesh, axes), all = placeAll(cluster, mesh, axes);
      EXPECT_EQ(placed.members, all.members)
          << llvm::join(llvm::map_range(mesh, [](int64_t size) { return std::to_string(size); }), ",") << " "
          << set;
      EXPECT_EQ(placed.countRanks(), all.countRanks());
    }
}

TEST(Placement, StagesThatAreNamedLieWhereTheyLie) {
  EXPECT_EQ(placeRanks(makeCluster(), {0, 4}).members, (Members{2, 1, 1}));
  EXPECT_EQ(placeRanks(makeCluster(), {0, 8, 16}).members, (Members{1, 3, 1}));
  EXPECT_EQ(placeRanks(makeCluster(), {32, 0}).members, (Members{1, 1, 2}));
}

TEST(Messages, GoOverTheInnermostLinksThatConnectAll) {
  Cluster cluster = makeCluster();
  EXPECT_DOUBLE_EQ(getMessageSeconds(200, 8, 1, cluster), 1 + 2);
  EXPECT_DOUBLE_EQ(getMessageSeconds(200, 16, 1, cluster), 2 + 20);
  EXPECT_DOUBLE_EQ(getMessageSeconds(200, 16, 8, cluster), 2 + 40) << "eight share 40";
  EXPECT_DOUBLE_EQ(getMessageSeconds(200, 64, 8, cluster), 4 + 200);
  EXPECT_EQ(getMessageSeconds(0, 64, 8, cluster), 0);
}

TEST(Messages, CopiesToTheHostTakeItsBus) {
  EXPECT_DOUBLE_EQ(getCopySeconds(100, makeCluster()), 3 + 2);
  EXPECT_EQ(getCopySeconds(0, makeCluster()), 0);
}

/// By hand: 2 ranks of 10 bytes per second, of which a ring of 2 was measured.
TEST(Collectives, TakeLatencyStepsAndBusBytes) {
  Cluster cluster = makeCluster();
  CollectiveRates ring{"ring", 4, 1, 0.5, {{{1, 10}}}}, tree{"tree", 4, 1, 0.25, {{{1, 8}}}},
      nvls{"nvls", 4, 20, 0, {{{1, 30}}}};
  cluster.links[0].allReduce = {ring};
  cluster.links[0].allGather = {ring};
  auto time = [&](CollectiveKind kind, double bytes, int64_t ranks) {
    return getCollectiveSeconds(kind, bytes, GroupPlacement{{ranks, 1, 1}}, cluster);
  };
  EXPECT_DOUBLE_EQ(time(CollectiveKind::AllReduce, 80, 4), 1 + 3 * 0.5 + 2 * 60 / 10.0);
  EXPECT_DOUBLE_EQ(time(CollectiveKind::AllGather, 80, 4), 1 + 3 * 0.5 + 60 / 10.0);
  EXPECT_DOUBLE_EQ(time(CollectiveKind::AllReduce, 80, 8), 1 + 7 * 0.5 + 2 * 70 / 10.0);
  EXPECT_EQ(time(CollectiveKind::AllReduce, 80, 1), 0);
  EXPECT_EQ(time(CollectiveKind::AllReduce, 0, 4), 0);
  cluster.links[0].allReduce = {ring, tree, nvls};
  EXPECT_DOUBLE_EQ(time(CollectiveKind::AllReduce, 0.8, 8), 1 + 3 * 0.25 + 2 * 0.7 / 8)
      << "the tree is quicker";
  // A switch sends what four send, whatever the number.
  EXPECT_DOUBLE_EQ(time(CollectiveKind::AllReduce, 8000, 8), 20 + 2 * 6000 / 30.0);
}

} // namespace

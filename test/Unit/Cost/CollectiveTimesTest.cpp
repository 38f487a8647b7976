//===- CollectiveTimesTest.cpp - where groups lie, messages and copies ----------------------------------===//
#include "par/Cost/CollectiveTimes.h"
#include <gtest/gtest.h>

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

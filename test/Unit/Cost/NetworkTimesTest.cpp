//===- NetworkTimesTest.cpp - collectives between nodes -------------------------------------------------===//
#include "par/Cost/ClusterFile.h"
#include "par/Cost/CollectiveTimes.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {

Cluster readExample(const char *name) {
  llvm::Expected<Cluster> cluster = readCluster(PAR_TEST_DIR "/../examples/clusters/" + std::string(name));
  if (!cluster) {
    ADD_FAILURE() << llvm::toString(cluster.takeError());
    return {};
  }
  return *cluster;
}

double getAllReduce(double bytes, std::vector<int64_t> members, const Cluster &cluster) {
  return getCollectiveSeconds(CollectiveKind::AllReduce, bytes, GroupPlacement{std::move(members)}, cluster);
}

TEST(NetworkTimes, repeatWhatFourNodesWereMeasuredWith) {
  // stas00/ml-engineering network, all_reduce_perf on four nodes of eight B200: bytes and microseconds.
  Cluster b200 = readExample("dgx-b200.json");
  for (auto [bytes, microseconds] : {std::pair(1048576., 378.3),
                                     {16777216., 504.5},
                                     {67108864., 829.5},
                                     {268435456., 2270.3},
                                     {1073741824., 5747.1},
                                     {4294967296., 22053.1}})
    EXPECT_NEAR(getAllReduce(bytes, {8, 4}, b200) / (microseconds * 1e-6), 1, 0.05) << bytes;
}

TEST(NetworkTimes, takeNoLessThanTheBytesThatLeaveANode) {
  constexpr double bytes = 4294967296.;
  for (const char *name : {"dgx-a100-80.json", "dgx-h100.json", "hgx-h200.json", "dgx-b200.json"}) {
    Cluster cluster = readExample(name);
    for (int64_t nodes : {2, 4, 64}) {
      // Of a tensor on all ranks of a node 2 (n − 1) / n leave it; of eight tensors of a rank each eight
      // times that.
      double least = bytes * 2 * double(nodes - 1) / double(nodes) / cluster.links[1].perNode;
      EXPECT_GE(getAllReduce(bytes, {8, nodes}, cluster), least) << name << " " << nodes;
      EXPECT_GE(getAllReduce(bytes, {1, nodes}, cluster), 8 * least) << name << " " << nodes;
      EXPECT_LE(getAllReduce(bytes, {1, nodes}, cluster), 8 * least * 1.2) << name << " " << nodes;
    }
  }
}

TEST(NetworkTimes, areThoseOfTheBytesThatGroupsMoveTogether) {
  // Eight groups of a rank of each node, of an eighth of the bytes each: latency aside, one group of all
  // bytes.
  Cluster cluster = readExample("dgx-h100.json");
  cluster.links[1].allReduce.resize(1);
  cluster.links[1].allReduce[0].stepLatency = 0;
  constexpr double bytes = 268435456;
  const CollectiveRates &ring = cluster.links[1].allReduce[0];
  EXPECT_DOUBLE_EQ(getAllReduce(bytes / 8, {1, 4}, cluster),
                   ring.latency + 1.5 * bytes / ring.rate.at(bytes));
}

TEST(NetworkTimes, ofAllToAllsAreThoseOfOneAdapter) {
  Cluster cluster = readExample("dgx-h100.json");
  constexpr double bytes = 4294967296., adapter = 48.5e9;
  for (int64_t perNode : {1, 8}) {
    double ranks = 4 * double(perNode);
    double seconds =
        getCollectiveSeconds(CollectiveKind::AllToAll, bytes, GroupPlacement{{perNode, 4}}, cluster);
    EXPECT_NEAR(seconds / (bytes * (ranks - 1) / ranks / adapter), 1, 0.01) << perNode;
  }
}

} // namespace

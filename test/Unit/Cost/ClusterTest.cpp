//===- ClusterTest.cpp - rates between measured points, devices that ranks share ------------------------===//
#include "par/Cost/Cluster.h"
#include <gtest/gtest.h>

using namespace mlir::par;

namespace {

TEST(RateCurve, goesStraightOnLogarithmicScales) {
  RateCurve curve{{{1e3, 10}, {1e5, 1000}, {1e6, 500}}};
  EXPECT_DOUBLE_EQ(curve.at(1e3), 10);
  EXPECT_DOUBLE_EQ(curve.at(1e5), 1000);
  EXPECT_DOUBLE_EQ(curve.at(1e4), 100);
  EXPECT_NEAR(curve.at(std::sqrt(1e11)), std::sqrt(1000. * 500), 1e-9);
}

TEST(RateCurve, staysBeforeTheFirstAndBehindTheLastPoint) {
  RateCurve curve{{{1e3, 10}, {1e5, 1000}}};
  EXPECT_DOUBLE_EQ(curve.at(1), 10);
  EXPECT_DOUBLE_EQ(curve.at(0), 10);
  EXPECT_DOUBLE_EQ(curve.at(1e9), 1000);
  RateCurve constant{{{1e3, 10}}};
  EXPECT_DOUBLE_EQ(constant.at(1), 10);
  EXPECT_DOUBLE_EQ(constant.at(1e9), 10);
}

Cluster makeHost(bool isShared) {
  Cluster cluster;
  cluster.nodeRanks = 1;
  cluster.nodes = 2;
  cluster.device.isShared = isShared;
  cluster.device.memoryBytes = 8e9;
  cluster.device.contextBytes = 1e8;
  cluster.device.communicatorBytes = 1e6;
  cluster.device.kernelFlops = 4e9;
  cluster.device.products.peakF32 = 8e9;
  cluster.device.products.peakBF16 = 2e9;
  cluster.device.memory.points = {{1e3, 16e9}, {1e6, 4e9}};
  cluster.links.resize(2);
  cluster.links[0].ranks = 1;
  return cluster;
}

TEST(ShareOut, dividesADeviceAmongTheRanksOfANode) {
  Cluster shared = shareOut(makeHost(true), 8);
  EXPECT_EQ(shared.nodeRanks, 4);
  EXPECT_EQ(shared.links[0].ranks, 4);
  EXPECT_EQ(shared.links[1].ranks, 0);
  EXPECT_DOUBLE_EQ(shared.device.memoryBytes, 2e9);
  EXPECT_DOUBLE_EQ(shared.device.kernelFlops, 1e9);
  EXPECT_DOUBLE_EQ(shared.device.products.peakF32, 2e9);
  EXPECT_DOUBLE_EQ(shared.device.products.peakBF16, 0.5e9);
  EXPECT_DOUBLE_EQ(shared.device.memory.at(1e3), 4e9);
  EXPECT_DOUBLE_EQ(shared.device.memory.at(1e6), 1e9);
  EXPECT_DOUBLE_EQ(shared.device.contextBytes, 1e8) << "of each rank's process";
}

TEST(ShareOut, roundsUpWhereNodesAreNotFull) {
  EXPECT_EQ(shareOut(makeHost(true), 3).nodeRanks, 2);
  EXPECT_DOUBLE_EQ(shareOut(makeHost(true), 3).device.memoryBytes, 4e9);
}

TEST(ShareOut, leavesDevicesAloneThatARankHasForItself) {
  EXPECT_EQ(shareOut(makeHost(false), 8).nodeRanks, 1);
  EXPECT_DOUBLE_EQ(shareOut(makeHost(false), 8).device.memoryBytes, 8e9);
  EXPECT_DOUBLE_EQ(shareOut(makeHost(true), 2).device.memoryBytes, 8e9);
}

TEST(ShareOut, countsTheRanksOfACore) {
  Cluster host = makeHost(true);
  host.device.products.units = 2;
  EXPECT_DOUBLE_EQ(shareOut(host, 8).oversubscription, 2);
  EXPECT_DOUBLE_EQ(shareOut(host, 4).oversubscription, 1);
  EXPECT_DOUBLE_EQ(shareOut(host, 2).oversubscription, 1) << "a rank has two cores";
}

TEST(Cluster, leavesToAPlanWhatContextAndCommunicatorsDoNotTake) {
  EXPECT_DOUBLE_EQ(makeHost(false).getUsableBytes(3), 8e9 - 1e8 - 3e6);
}

} // namespace

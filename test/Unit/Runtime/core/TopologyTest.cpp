// Ranks, coordinates, groups and shards on refined axes (docs/Package.md, "Axes", "Sharding", "Collectives").
#include "core/Topology.h"

#include <gtest/gtest.h>

using namespace par::rt;

namespace {
// dp 2, tp 6 refined into kv 3 and group 2
const std::vector<Axis> axes = {{"dp", 2, "dp"}, {"tp.kv", 3, "tp"}, {"tp.group", 2, "tp"}};
} // namespace

TEST(Topology, RankIsRowMajorPosition) {
  EXPECT_EQ(coordinatesOf(axes, 0), (std::vector<int32_t>{0, 0, 0}));
  EXPECT_EQ(coordinatesOf(axes, 1), (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(coordinatesOf(axes, 11), (std::vector<int32_t>{1, 2, 1}));
  EXPECT_EQ(coordinatesOf({}, 0), std::vector<int32_t>{});
}

TEST(Topology, GroupsAreOrderedByTheAxesAsListed) {
  EXPECT_EQ(groupOf(axes, 3, {1}), (std::vector<int>{1, 3, 5}));
  EXPECT_EQ(groupOf(axes, 8, {0}), (std::vector<int>{2, 8}));
  EXPECT_EQ(groupOf(axes, 7, {1, 2}), (std::vector<int>{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(groupOf(axes, 7, {2, 1}), (std::vector<int>{6, 8, 10, 7, 9, 11}));
  EXPECT_EQ(groupOf(axes, 4, {}), std::vector<int>{4});
}

TEST(Topology, ShardsBeginAtTheirPosition) {
  EXPECT_EQ(positionOn(axes, {1, 2, 1}, {1, 2}), 5);
  EXPECT_EQ(positionOn(axes, {1, 2, 1}, {2, 0}), 3);
  EXPECT_EQ(shardBegin(axes, {1, 2, 1}, {{2, 1}, {}, {0}}, {4, 7, 5}), (Shape{20, 0, 5}));
}

TEST(Topology, MetricsNameMeshAxesOnce) {
  Manifest manifest;
  manifest.axes = axes;
  manifest.mesh = {{"dp", 2}, {"tp", 6}};
  EXPECT_EQ(meshAxesOf(manifest, {2, 1, 0}), "dp+tp");
  EXPECT_EQ(meshAxesOf(manifest, {2}), "tp");
}

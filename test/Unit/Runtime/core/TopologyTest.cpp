// Ranks, coordinates, groups and shards on refined axes (docs/Package.md, "Axes", "Sharding", "Collectives").
#include "core/Topology.h"
#include "TinyPackage.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace par::rt;
using nlohmann::json;

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
  // A view names the group of all its axes, and no other.
  manifest.views = {{"ep", {1, 2}}};
  EXPECT_EQ(meshAxesOf(manifest, {2, 1}), "ep");
  EXPECT_EQ(meshAxesOf(manifest, {0, 1, 2}), "dp+tp");
  EXPECT_EQ(meshAxesOf(manifest, {1}), "tp");
}

namespace {
// Ranks are (dp, tp, pp), so those of stage 1 of 3 are 1, 4, 7 and 10.
json stagesOf() { return par::test::tinyStages(2, 2, 3); }
Manifest parsed(const json &manifest) { return parseManifest("manifest.json", manifest.dump()); }

/// Which of `keys` have both ranks, in their order.
std::vector<GroupKey> sharedBy(const std::vector<GroupKey> &keys, int a, int b) {
  std::vector<GroupKey> shared;
  auto has = [](const GroupKey &key, int rank) {
    return std::find(key.second.begin(), key.second.end(), rank) != key.second.end();
  };
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(shared),
               [&](const GroupKey &key) { return has(key, a) && has(key, b); });
  return shared;
}
} // namespace

TEST(Topology, RanksOfStages) {
  Manifest manifest = parsed(stagesOf());
  EXPECT_EQ(stageCount(manifest), 3);
  EXPECT_EQ(stageOf(manifest, 7), 1);
  EXPECT_EQ(manifest.programNumberOf(7), 1u);
  EXPECT_EQ(neighbourOf(manifest, 7, 0), 6);
  EXPECT_EQ(neighbourOf(manifest, 7, 2), 8);
  EXPECT_EQ(firstRankOf(manifest, 2), 2);
  EXPECT_EQ(stageCount(parsed(par::test::tinyManifest(2, 2))), 1);
}

/// The first of dp, and a rank of tp for every shard.
TEST(Topology, HoldersOfAVariableAreOfItsOwner) {
  Manifest manifest = parsed(stagesOf());
  ASSERT_EQ(manifest.variables.size(), 6u);
  EXPECT_EQ(manifest.variables[2].name, "w1");
  EXPECT_EQ(manifest.variables[2].owner, 1u);
  EXPECT_EQ(holdersOf(manifest, manifest.variables[2]), (std::vector<int>{1, 4}));
}

/// Whoever makes a group waits for its other members, which make no other group meanwhile that both are in.
TEST(Topology, RanksMakeTheGroupsThatTheyShareInOneOrder) {
  json manifest = stagesOf();
  json sum = manifest["programs"][0]["collectives"][0];
  sum.erase("axes");
  auto add = [&](size_t program, const json &groups, int channel) {
    sum["groups"] = groups, sum["channel"] = channel;
    json &list = manifest["programs"][program]["collectives"];
    list.insert(program == 0 ? list.begin() : list.end(), sum);
  };
  // Sums over stages 0 and 2, which stage 1 knows nothing of, in opposite orders.
  json pairs = {{0, 2}, {3, 5}, {6, 8}, {9, 11}}, back = {{2, 0}, {5, 3}, {8, 6}, {11, 9}};
  add(0, pairs, 2), add(0, back, 1), add(0, pairs, 1);
  add(2, pairs, 2), add(2, pairs, 1), add(2, back, 1);
  std::reverse(manifest["programs"][2]["collectives"].begin(), manifest["programs"][2]["collectives"].end());
  Manifest several = parsed(manifest);
  EXPECT_EQ(sharedBy(groupKeysOf(several, 0), 0, 2).size(), 3u);
  EXPECT_TRUE(sharedBy(groupKeysOf(several, 1), 0, 1).empty());
  for (int a = 0; a < several.worldSize; ++a)
    for (int b = 0; b < several.worldSize; ++b)
      EXPECT_EQ(sharedBy(groupKeysOf(several, a), a, b), sharedBy(groupKeysOf(several, b), a, b))
          << "ranks " << a << " and " << b;
}

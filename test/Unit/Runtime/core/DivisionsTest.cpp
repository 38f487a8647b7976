// All groups of a job in lists of groups that share no rank, the same for every rank.
#include "core/Divisions.h"
#include "core/Topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace par::rt;
using par::comm::Division;
using par::comm::GroupKey;
using par::comm::messageChannel;
using Divisions = std::vector<Division>;

namespace {

/// A mesh of these sizes, and programs without anything: one, or one for each stage of the first axis.
Manifest meshOf(const std::vector<int> &sizes, bool isPipeline = false) {
  Manifest manifest;
  manifest.worldSize = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::string name = isPipeline && i == 0 ? pipelineAxis : "axis" + std::to_string(i);
    manifest.axes.push_back({name, sizes[i], name});
    manifest.worldSize *= sizes[i];
  }
  manifest.programs.resize(isPipeline ? size_t(sizes[0]) : 1);
  for (size_t stage = 0; isPipeline && stage < manifest.programs.size(); ++stage)
    manifest.programs[stage].ranks = {{0, {int32_t(stage)}}};
  return manifest;
}

void addCollective(Program &program, const Members &members) {
  program.collectives.emplace_back();
  program.collectives.back().members = members;
}

/// To the next stage, and back.
void addMessages(Manifest &manifest) {
  auto stages = int(manifest.programs.size());
  for (int stage = 0; stage < stages; ++stage)
    for (int other : {stage - 1, stage + 1})
      for (bool sends : {true, false})
        if (other >= 0 && other < stages)
          manifest.programs[size_t(stage)].messages.push_back({sends, other, {4}, "activation", 1});
}

/// Groups of a division share no rank; no group is there twice; and all that a rank's program has are there.
void expectComplete(const Manifest &manifest, const Divisions &divisions) {
  std::set<GroupKey> all;
  for (const Division &division : divisions) {
    std::set<int> ranks;
    for (const GroupKey &key : division) {
      EXPECT_GT(key.second.size(), 1u);
      EXPECT_TRUE(all.insert(key).second);
      for (int rank : key.second)
        EXPECT_TRUE(ranks.insert(rank).second) << "rank " << rank;
    }
  }
  for (int rank = 0; rank < manifest.worldSize; ++rank) {
    for (const GroupKey &key : groupKeysOf(manifest, rank))
      EXPECT_EQ(all.count(key), key.second.size() > 1 ? 1u : 0u);
    for (const ManifestMessage &message : manifest.programOf(rank).messages) {
      auto [from, to] = endsOf(manifest, rank, message);
      EXPECT_EQ(all.count({messageChannel, {from, to}}), 1u);
    }
  }
}

TEST(Divisions, AnAxisIsADivision) {
  Manifest manifest = meshOf({2, 2});
  for (int axis : {1, 0, 1})
    addCollective(manifest.programs[0], {{axis}, {}, 0});
  EXPECT_EQ(divisionsOf(manifest), (Divisions{{{0, {0, 1}}, {0, {2, 3}}}, {{0, {0, 2}}, {0, {1, 3}}}}));
}

TEST(Divisions, SeveralAxes) {
  Manifest manifest = meshOf({2, 3, 4});
  for (const std::vector<int> &axes : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 2}, {0, 1, 2}})
    addCollective(manifest.programs[0], {axes, {}, 0});
  Divisions divisions = divisionsOf(manifest);
  expectComplete(manifest, divisions);
  EXPECT_EQ(divisions.size(), 5u);
}

/// The order of axes is that of the members.
TEST(Divisions, OrdersAndChannelsAreGroupsOfTheirOwn) {
  Manifest manifest = meshOf({2, 2});
  addCollective(manifest.programs[0], {{0, 1}, {}, 0});
  addCollective(manifest.programs[0], {{1, 0}, {}, 0});
  addCollective(manifest.programs[0], {{0, 1}, {}, 7});
  EXPECT_EQ(divisionsOf(manifest),
            (Divisions{{{0, {0, 1, 2, 3}}}, {{0, {0, 2, 1, 3}}}, {{7, {0, 1, 2, 3}}}}));
}

TEST(Divisions, GroupsThatAreListed) {
  Manifest manifest = meshOf({4});
  addCollective(manifest.programs[0], {{}, {{3, 0}, {1, 2}}, 5});
  EXPECT_EQ(divisionsOf(manifest), (Divisions{{{5, {1, 2}}, {5, {3, 0}}}}));
}

TEST(Divisions, WhoIsAloneHasNone) {
  Manifest manifest = meshOf({2, 1});
  addCollective(manifest.programs[0], {{1}, {}, 0});
  addCollective(manifest.programs[0], {{}, {{0}, {1}}, 2});
  EXPECT_TRUE(divisionsOf(manifest).empty());
  EXPECT_TRUE(divisionsOf(meshOf({4})).empty());
}

/// Stage 1 of 3 has a group of its own; 0 and 2 have one that they list both, and stage 1 does not know.
TEST(Divisions, StagesThatLackWhatOthersHave) {
  Manifest manifest = meshOf({3, 2}, true);
  for (size_t stage : {0, 2})
    addCollective(manifest.programs[stage], {{}, {{0, 4}, {1, 5}}, 1});
  addCollective(manifest.programs[1], {{1}, {}, 0});
  EXPECT_EQ(divisionsOf(manifest), (Divisions{{{0, {2, 3}}, {1, {0, 4}}, {1, {1, 5}}}}));
  expectComplete(manifest, divisionsOf(manifest));
}

TEST(Divisions, BothWaysOfMessages) {
  Manifest manifest = meshOf({4}, true);
  addMessages(manifest);
  constexpr int channel = messageChannel;
  EXPECT_EQ(divisionsOf(manifest), (Divisions{{{channel, {0, 1}}, {channel, {2, 3}}},
                                              {{channel, {1, 0}}, {channel, {3, 2}}},
                                              {{channel, {1, 2}}},
                                              {{channel, {2, 1}}}}));
  expectComplete(manifest, divisionsOf(manifest));
}

/// A message that only one end lists is there as well: its other end has to come to the split.
TEST(Divisions, MessagesThatOneEndLists) {
  Manifest manifest = meshOf({2}, true);
  manifest.programs[1].messages.push_back({false, 0, {4}, "activation", 1});
  EXPECT_EQ(divisionsOf(manifest), (Divisions{{{messageChannel, {0, 1}}}}));
}

/// Divisions do not grow with ranks.
TEST(Divisions, ThousandsOfRanks) {
  Manifest manifest = meshOf({16, 32, 8}, true);
  for (Program &program : manifest.programs) {
    addCollective(program, {{1}, {}, 0});
    addCollective(program, {{2}, {}, 0});
    addCollective(program, {{0, 1, 2}, {}, 0});
  }
  addMessages(manifest);
  EXPECT_EQ(divisionsOf(manifest).size(), 7u);
}

} // namespace

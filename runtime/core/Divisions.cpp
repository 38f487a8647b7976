#include "core/Divisions.h"

#include "core/Topology.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace par::rt {

using comm::Division;
using comm::GroupKey;

/// In one order, whatever the order in which programs and ranks are gone through.
using Keys = std::set<GroupKey>;

static std::vector<std::vector<int>> ranksOfPrograms(const Manifest &manifest) {
  std::vector<std::vector<int>> ranks(manifest.programs.size());
  for (int rank = 0; rank < manifest.worldSize; ++rank)
    ranks[manifest.programNumberOf(rank)].push_back(rank);
  return ranks;
}

/// A collective's groups, each worked out once: a job may have thousands of ranks. Who is alone needs none.
static void addGroups(const Manifest &manifest, const std::vector<int> &ranks, const Members &members,
                      Keys &keys) {
  std::vector<bool> isOpen(size_t(manifest.worldSize));
  for (int rank : ranks)
    isOpen[size_t(rank)] = true;
  auto add = [&](const std::vector<int> &group) {
    for (int rank : group)
      isOpen[size_t(rank)] = false;
    if (group.size() > 1)
      keys.insert({members.channel, group});
  };
  for (const std::vector<int> &group : members.groups)
    if (std::any_of(group.begin(), group.end(), [&](int rank) { return isOpen[size_t(rank)]; }))
      add(group);
  for (int rank : ranks)
    if (isOpen[size_t(rank)])
      add(groupOf(manifest.axes, rank, members.axes));
}

static void addCollectives(const Manifest &manifest, const Program &program, const std::vector<int> &ranks,
                           Keys &keys) {
  std::set<std::tuple<int, std::vector<int>, std::vector<std::vector<int>>>> known;
  for (const ManifestCollective &collective : program.collectives) {
    const Members &members = collective.members;
    if (known.insert({members.channel, members.axes, members.groups}).second)
      addGroups(manifest, ranks, members, keys);
  }
}

static void addMessages(const Manifest &manifest, const Program &program, const std::vector<int> &ranks,
                        Keys &keys) {
  std::set<std::pair<bool, int>> known;
  for (const ManifestMessage &message : program.messages)
    if (known.insert({message.sends, message.stage}).second)
      for (int rank : ranks) {
        auto [from, to] = endsOf(manifest, rank, message);
        keys.insert({comm::messageChannel, {from, to}});
      }
}

/// Each into the first division that has none of its ranks.
static std::vector<Division> packed(const Keys &keys, int ranks) {
  std::vector<Division> divisions;
  std::vector<std::vector<bool>> taken; ///< by division and rank
  for (const GroupKey &key : keys) {
    size_t at = 0;
    auto isTaken = [&](int rank) { return taken[at][size_t(rank)]; };
    while (at < taken.size() && std::any_of(key.second.begin(), key.second.end(), isTaken))
      ++at;
    if (at == taken.size()) {
      divisions.emplace_back();
      taken.emplace_back(size_t(ranks));
    }
    for (int rank : key.second)
      taken[at][size_t(rank)] = true;
    divisions[at].push_back(key);
  }
  return divisions;
}

std::vector<Division> divisionsOf(const Manifest &manifest) {
  Keys keys;
  std::vector<std::vector<int>> ranks = ranksOfPrograms(manifest);
  for (size_t i = 0; i < manifest.programs.size(); ++i) {
    addCollectives(manifest, manifest.programs[i], ranks[i], keys);
    addMessages(manifest, manifest.programs[i], ranks[i], keys);
  }
  return packed(keys, manifest.worldSize);
}

} // namespace par::rt

#include "core/Topology.h"

#include <algorithm>
#include <set>

namespace par::rt {

std::vector<int32_t> coordinatesOf(const std::vector<Axis> &axes, int rank) {
  std::vector<int32_t> coordinates(axes.size());
  for (size_t i = axes.size(); i-- > 0;) {
    coordinates[i] = rank % axes[i].size;
    rank /= axes[i].size;
  }
  return coordinates;
}

static int rankAt(const std::vector<Axis> &axes, const std::vector<int32_t> &coordinates) {
  int rank = 0;
  for (size_t i = 0; i < axes.size(); ++i)
    rank = rank * axes[i].size + coordinates[i];
  return rank;
}

std::vector<int> groupOf(const std::vector<Axis> &axes, int rank, const std::vector<int> &which) {
  std::vector<int32_t> coordinates = coordinatesOf(axes, rank);
  std::vector<int> members;
  int64_t count = coordinateCount(axes, which);
  for (int64_t position = 0; position < count; ++position) {
    int64_t rest = position;
    for (size_t i = which.size(); i-- > 0;) {
      coordinates[which[i]] = int32_t(rest % axes[which[i]].size);
      rest /= axes[which[i]].size;
    }
    members.push_back(rankAt(axes, coordinates));
  }
  return members;
}

std::vector<int> groupOf(const Manifest &manifest, int rank, const Members &members) {
  for (const std::vector<int> &group : members.groups)
    if (std::find(group.begin(), group.end(), rank) != group.end())
      return group;
  return groupOf(manifest.axes, rank, members.axes);
}

GroupKey groupKeyOf(const Manifest &manifest, int rank, const Members &members) {
  return {members.channel, groupOf(manifest, rank, members)};
}

std::vector<GroupKey> groupKeysOf(const Manifest &manifest, int rank) {
  std::set<GroupKey> keys; // ordered by what they are, not by where a program lists them
  for (const ManifestCollective &collective : manifest.programOf(rank).collectives)
    keys.insert(groupKeyOf(manifest, rank, collective.members));
  return {keys.begin(), keys.end()};
}

static std::vector<int> pipelineAxes(const Manifest &manifest) {
  std::vector<int> axes;
  for (size_t i = 0; i < manifest.axes.size(); ++i)
    if (manifest.axes[i].of == pipelineAxis)
      axes.push_back(int(i));
  return axes;
}

int neighbourOf(const Manifest &manifest, int rank, int stage) {
  return groupOf(manifest.axes, rank, pipelineAxes(manifest))[size_t(stage)];
}

std::pair<int, int> endsOf(const Manifest &manifest, int rank, const ManifestMessage &message) {
  int other = neighbourOf(manifest, rank, message.stage);
  return message.sends ? std::pair(rank, other) : std::pair(other, rank);
}

const Variable &localOf(const Manifest &manifest, int rank, const Variable &variable) {
  return *manifest.programOf(rank).findVariable(variable.name);
}

int stageOf(const Manifest &manifest, int rank) {
  return int(positionOn(manifest.axes, coordinatesOf(manifest.axes, rank), pipelineAxes(manifest)));
}

int firstRankOf(const Manifest &manifest, size_t program) {
  std::vector<int32_t> coordinates(manifest.axes.size());
  for (const auto &[axis, allowed] : manifest.programs[program].ranks)
    coordinates[size_t(axis)] = allowed.front();
  return rankAt(manifest.axes, coordinates);
}

std::vector<int> holdersOf(const Manifest &manifest, const Variable &variable) {
  std::vector<int> axes;
  for (const std::vector<int> &dimension : variable.sharding)
    axes.insert(axes.end(), dimension.begin(), dimension.end());
  return groupOf(manifest.axes, firstRankOf(manifest, variable.owner), axes);
}

int stageCount(const Manifest &manifest) {
  return int(coordinateCount(manifest.axes, pipelineAxes(manifest)));
}

int64_t positionOn(const std::vector<Axis> &axes, const std::vector<int32_t> &coordinates,
                   const std::vector<int> &which) {
  int64_t position = 0;
  for (int axis : which)
    position = position * axes[axis].size + coordinates[axis];
  return position;
}

Shape shardBegin(const std::vector<Axis> &axes, const std::vector<int32_t> &coordinates,
                 const Sharding &sharding, const Shape &local) {
  Shape begin(local.size());
  for (size_t d = 0; d < local.size(); ++d)
    begin[d] = local[d] * positionOn(axes, coordinates, sharding[d]);
  return begin;
}

std::string meshAxesOf(const Manifest &manifest, const std::vector<int> &which) {
  for (const AxisView &view : manifest.views)
    if (std::set<int>(view.axes.begin(), view.axes.end()) == std::set<int>(which.begin(), which.end()))
      return view.name;
  std::string text, single;
  for (const auto &entry : manifest.mesh) {
    bool used = false;
    for (int axis : which)
      used |= manifest.axes[axis].of == entry.first;
    std::string &names = entry.second > 1 ? text : single;
    if (used)
      names += (names.empty() ? "" : "+") + entry.first;
  }
  return text.empty() ? single : text;
}

/// Axes on which some of these ranks differ.
static std::vector<int> differingAxes(const std::vector<Axis> &axes, const std::vector<int> &ranks) {
  std::vector<int32_t> first = coordinatesOf(axes, ranks.front());
  std::vector<int> differing;
  for (size_t i = 0; i < axes.size(); ++i)
    if (std::any_of(ranks.begin(), ranks.end(),
                    [&](int rank) { return coordinatesOf(axes, rank)[i] != first[i]; }))
      differing.push_back(int(i));
  return differing;
}

std::string nameOf(const Manifest &manifest, const Members &members) {
  std::string name = meshAxesOf(
      manifest, members.groups.empty() ? members.axes : differingAxes(manifest.axes, members.groups.front()));
  return members.channel ? name + " channel " + std::to_string(members.channel) : name;
}

} // namespace par::rt

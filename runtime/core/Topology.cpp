#include "core/Topology.h"

#include <algorithm>

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

std::string nameOf(const Manifest &manifest, const Members &members) {
  return members.groups.empty() ? meshAxesOf(manifest, members.axes)
                                : "channel " + std::to_string(members.channel);
}

} // namespace par::rt

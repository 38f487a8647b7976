/// Ranks, coordinates and groups on the manifest's refined axes.
#ifndef PAR_CORE_TOPOLOGY_H
#define PAR_CORE_TOPOLOGY_H

#include "comm/Division.h"
#include "core/Manifest.h"

#include <utility>

namespace par::rt {

/// Coordinate of `rank` on every axis: rank = row-major position.
std::vector<int32_t> coordinatesOf(const std::vector<Axis> &axes, int rank);

/// The ranks that differ from `rank` only on `which`, row-major over these axes as listed.
std::vector<int> groupOf(const std::vector<Axis> &axes, int rank, const std::vector<int> &which);

/// The group of a rank, in its order.
std::vector<int> groupOf(const Manifest &manifest, int rank, const Members &members);

using comm::GroupKey;

GroupKey groupKeyOf(const Manifest &manifest, int rank, const Members &members);

/// All groups of a rank's program, each once. Any two ranks have those that they share in the same order,
/// whatever their programs list beside them: who makes groups waits for all members.
std::vector<GroupKey> groupKeysOf(const Manifest &manifest, int rank);

/// The rank that has this stage's coordinates on the axes of the pipeline, and else those of `rank`.
int neighbourOf(const Manifest &manifest, int rank, int stage);

/// The ranks that a message of a rank's program goes from and to.
std::pair<int, int> endsOf(const Manifest &manifest, int rank, const ManifestMessage &message);

/// The first of the ranks that run a program.
int firstRankOf(const Manifest &manifest, size_t program);

/// The ranks that hold the shards of a variable, one each, in the order of shards: the first replicas of
/// them.
std::vector<int> holdersOf(const Manifest &manifest, const Variable &variable);

/// What a rank has of a variable that its program lists: its own copy's place.
const Variable &localOf(const Manifest &manifest, int rank, const Variable &variable);

/// The coordinate of a rank on the axes of the pipeline.
int stageOf(const Manifest &manifest, int rank);

/// Stages of the pipeline; 1 without one.
int stageCount(const Manifest &manifest);

/// Row-major coordinate over `which` as listed.
int64_t positionOn(const std::vector<Axis> &axes, const std::vector<int32_t> &coordinates,
                   const std::vector<int> &which);

/// First element of a shard per dimension: local size times position.
Shape shardBegin(const std::vector<Axis> &axes, const std::vector<int32_t> &coordinates,
                 const Sharding &sharding, const Shape &local);

/// The view that consists of these axes, or the mesh axes (each once, in the mesh's order) that they belong to,
/// joined with '+': a key of the metrics' traffic.
std::string meshAxesOf(const Manifest &manifest, const std::vector<int> &which);

/// The same of members; "channel N" where groups are listed.
std::string nameOf(const Manifest &manifest, const Members &members);

} // namespace par::rt
#endif

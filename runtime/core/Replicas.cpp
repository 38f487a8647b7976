#include "core/Replicas.h"

#include "core/Error.h"
#include "core/Topology.h"
#include "par/io/Philox.h"

namespace par::rt {

/// Those that a training keeps and several programs list, as the owners have them.
static std::vector<const Variable *> sharedVariables(const Manifest &manifest) {
  std::vector<const Variable *> list;
  for (const Variable &variable : manifest.variables) {
    bool isKept =
        variable.role == Role::parameter || variable.role == Role::master || variable.role == Role::moment;
    for (size_t other = variable.owner + 1; isKept && other < manifest.programs.size(); ++other)
      if (manifest.programs[other].findVariable(variable.name)) {
        list.push_back(&variable);
        break;
      }
  }
  return list;
}

static int64_t hashOf(const Arenas &arenas, const Variable &variable) {
  std::string bytes(localBytes(variable), '\0');
  arenas.read(variable, bytes.data());
  return int64_t(io::fnv1a64(bytes));
}

/// By rank: one per shared variable, 0 where the rank has none of it.
static std::vector<int64_t> gatherHashes(const Manifest &manifest,
                                         const std::vector<const Variable *> &shared, int rank,
                                         const Arenas &arenas, comm::Transport &transport,
                                         comm::Group &world) {
  std::vector<int64_t> own, all(shared.size() * size_t(world.size()));
  for (const Variable *variable : shared) {
    const Variable *local = manifest.programOf(rank).findVariable(variable->name);
    own.push_back(local ? hashOf(arenas, *local) : 0);
  }
  comm::Collective gather;
  gather.kind = comm::Kind::gather;
  gather.type = comm::Type::i64;
  gather.counts = {int64_t(own.size())};
  void *buffers[2] = {own.data(), all.data()};
  check(transport.run(world, gather, buffers));
  return all;
}

void compareReplicas(const Manifest &manifest, int rank, const Arenas &arenas, comm::Transport &transport,
                     comm::Group &world) {
  std::vector<const Variable *> shared = sharedVariables(manifest);
  if (shared.empty())
    return;
  std::vector<int64_t> hashes = gatherHashes(manifest, shared, rank, arenas, transport, world);
  for (int other = 0; rank == 0 && other < manifest.worldSize; ++other)
    for (size_t i = 0; i < shared.size(); ++i) {
      if (!manifest.programOf(other).findVariable(shared[i]->name))
        continue;
      int owner = neighbourOf(manifest, other, stageOf(manifest, firstRankOf(manifest, shared[i]->owner)));
      if (hashes[size_t(other) * shared.size() + i] != hashes[size_t(owner) * shared.size() + i])
        throw Error(manifest.path + ": variable \"" + shared[i]->name + "\" of rank " +
                    std::to_string(other) + " is no longer equal to that of rank " + std::to_string(owner) +
                    ", which owns it; this is a fault of par or of the machine: go on with an older "
                    "checkpoint and report it");
    }
}

} // namespace par::rt

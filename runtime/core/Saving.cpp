#include "core/Saving.h"

#include "core/Elements.h"
#include "core/Error.h"
#include "core/Topology.h"
#include "core/Variables.h"

#include <algorithm>
#include <set>

namespace par::rt {

/// The variable of a role that belongs to a parameter, or null.
static const Variable *companion(const Manifest &manifest, const Variable &parameter, Role role) {
  for (const Variable &variable : manifest.variables)
    if (variable.role == role && variable.of == parameter.name)
      return &variable;
  return nullptr;
}

void Saver::prepare(const RunOptions &options, bool writes) {
  std::set<std::string> names; // a replica of a tied weight is the same tensor of the file
  for (const Variable &variable : manifest.variables) {
    if (variable.role != Role::parameter || !names.insert(variable.file.name).second)
      continue;
    const Variable *master = companion(manifest, variable, Role::master);
    parameters.variables.push_back(master ? master : &variable);
    const Variable *gradient = companion(manifest, variable, Role::gradient);
    if (gradient)
      gradients.variables.push_back(gradient);
    else if (variable.isTrained && !options.saveGrads.empty())
      throw Error(
          manifest.path + ": parameter \"" + variable.name +
          "\" has no gradient that is kept, so --save-grads cannot write it; compile the package again");
  }
  prepare(parameters, options.saveParams, writes);
  prepare(gradients, options.saveGrads, writes);
}

void Saver::prepare(Target &target, const std::string &path, bool writes) {
  if (path.empty()) {
    target.variables.clear();
    return;
  }
  target.path = path;
  if (writes)
    check(io::checkWritable(path));
}

void Saver::create(Target &target) {
  std::vector<io::NamedShape> tensors;
  for (const Variable *variable : target.variables)
    tensors.push_back({variable->file.name, variable->file.shape});
  check(target.file.create(target.path, tensors));
}

void Saver::save(int rank, const Arenas &arenas, comm::Transport &transport,
                 const std::function<void()> &alive) {
  for (Target *target : {&parameters, &gradients}) {
    if (rank == 0 && !target->variables.empty())
      create(*target);
    for (const Variable *variable : target->variables) {
      saveVariable(*target, *variable, rank, arenas, transport);
      alive();
    }
    if (rank == 0 && !target->variables.empty())
      check(target->file.commit());
  }
}

void Saver::saveVariable(Target &target, const Variable &variable, int rank, const Arenas &arenas,
                         comm::Transport &transport) {
  // Rank 0 and the ranks that hold shards; replicas of them have nothing to add.
  std::vector<int> ranks = holdersOf(manifest, variable);
  const size_t first = ranks.front() != 0; // rank 0 receives, and may hold none
  if (first)
    ranks.insert(ranks.begin(), 0);
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
    return;
  int64_t count = io::elementCount(variable.local);
  comm::Collective gather;
  gather.kind = comm::Kind::gather;
  gather.counts = {count};
  gather.type = transportType(variable.type);
  size_t bytes = localBytes(variable); // of a shard
  std::vector<char> own(bytes), shards(rank == 0 ? ranks.size() * bytes : 0);
  if (rank != 0 || !first)
    arenas.read(localOf(manifest, rank, variable), own.data());
  void *buffers[2] = {own.data(), shards.data()};
  check(transport.run(*transport.group(ranks), gather, buffers));
  if (rank != 0)
    return;
  std::vector<float> whole(size_t(io::elementCount(variable.file.shape)));
  for (size_t member = first; member < ranks.size(); ++member) {
    const char *shard = shards.data() + member * bytes;
    io::forEachRow(layoutOf(manifest, variable, ranks[member]), [&](const io::ShardRow &row) {
      for (int64_t i = 0; i < row.count; ++i)
        whole[size_t(row.file + i * row.stride)] = loadElement(shard, variable.type, row.local + i);
    });
  }
  check(target.file.append(whole.data(), int64_t(whole.size())));
}

} // namespace par::rt

#include "core/Saving.h"

#include "core/Elements.h"
#include "core/Error.h"
#include "core/Topology.h"
#include "core/Variables.h"

#include <algorithm>
#include <map>

namespace par::rt {

/// The variable of a role that belongs to a parameter, or null.
static const Variable *companion(const Manifest &manifest, const Variable &parameter, Role role) {
  for (const Variable &variable : manifest.variables)
    if (variable.role == role && variable.of == parameter.name)
      return &variable;
  return nullptr;
}

std::vector<const Variable *> Saver::gradientsOf(const RunOptions &options) const {
  std::vector<const Variable *> list;
  for (const Variable &variable : manifest.variables) {
    if (variable.role != Role::parameter)
      continue;
    if (const Variable *gradient = companion(manifest, variable, Role::gradient))
      list.push_back(gradient);
    else if (variable.isTrained && !options.saveGrads.empty())
      throw Error(
          manifest.path + ": parameter \"" + variable.name +
          "\" has no gradient that is kept, so --save-grads cannot write it; compile the package again");
  }
  return list;
}

void Saver::prepare(const RunOptions &options, bool writes) {
  std::vector<const Variable *> saved;
  for (const Variable &variable : manifest.variables)
    if (variable.role == Role::parameter) {
      const Variable *master = companion(manifest, variable, Role::master);
      saved.push_back(master ? master : &variable);
    }
  parameters.hasOffsets = true;
  prepare(parameters, options.saveParams, saved, "--save-params", "save it with --checkpoint", writes);
  prepare(gradients, options.saveGrads, gradientsOf(options), "--save-grads", "leave --save-grads out",
          writes);
}

void Saver::prepare(Target &target, const std::string &path, const std::vector<const Variable *> &variables,
                    const std::string &flag, const std::string &remedy, bool writes) {
  if (path.empty())
    return;
  target.path = path;
  target.files = filesOf(manifest, variables, flag + " cannot write it", remedy);
  checkComplete(manifest, target.files);
  if (writes)
    check(io::checkWritable(path));
}

void Saver::save(int rank, const Arenas &arenas, comm::Transport &transport,
                 const std::function<void()> &alive) {
  for (Target *target : {&parameters, &gradients}) {
    if (target->files.tensors.empty())
      continue;
    if (rank == 0)
      check(target->file.create(target->path, io::shapesOf(target->files.tensors)));
    save(*target, rank, arenas, transport, alive);
    if (rank == 0)
      check(target->file.commit());
  }
}

/// The number of the last tensor that each variable is in.
static std::map<size_t, size_t> lastUses(const std::vector<io::FileTensor> &tensors) {
  std::map<size_t, size_t> last;
  for (size_t number = 0; number < tensors.size(); ++number)
    for (const io::FileTensor::Use &use : tensors[number].uses)
      last[use.variable] = number;
  return last;
}

/// All ranks gather the same variables in the same order: each where the first of its tensors is written.
void Saver::save(Target &target, int rank, const Arenas &arenas, comm::Transport &transport,
                 const std::function<void()> &alive) {
  const std::vector<io::FileTensor> &tensors = target.files.tensors;
  std::map<size_t, size_t> last = lastUses(tensors);
  std::map<size_t, Gathered> held;
  for (size_t number = 0; number < tensors.size(); ++number) {
    std::vector<float> whole(rank == 0 ? size_t(io::elementCount(tensors[number].tensor.shape)) : 0);
    for (const io::FileTensor::Use &use : tensors[number].uses) {
      if (!held.count(use.variable))
        held[use.variable] = gather(*target.files.variables[use.variable], rank, arenas, transport);
      if (rank == 0)
        fill(target, use, held[use.variable], whole);
    }
    for (const io::FileTensor::Use &use : tensors[number].uses)
      if (last[use.variable] == number)
        held.erase(use.variable);
    if (rank == 0)
      check(target.file.append(whole.data(), int64_t(whole.size())));
    alive();
  }
}

Saver::Gathered Saver::gather(const Variable &variable, int rank, const Arenas &arenas,
                              comm::Transport &transport) const {
  // Rank 0 and the ranks that hold shards; replicas of them have nothing to add.
  std::vector<int> ranks = holdersOf(manifest, variable);
  const bool isGuest = ranks.front() != 0; // rank 0 receives, and may hold none
  if (isGuest)
    ranks.insert(ranks.begin(), 0);
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
    return {};
  comm::Collective gather;
  gather.kind = comm::Kind::gather;
  gather.counts = {io::elementCount(variable.local)};
  gather.type = transportType(variable.type);
  size_t bytes = localBytes(variable); // of a shard
  std::vector<char> own(bytes), shards(rank == 0 ? ranks.size() * bytes : 0);
  if (rank != 0 || !isGuest)
    arenas.read(localOf(manifest, rank, variable), own.data());
  void *buffers[2] = {own.data(), shards.data()};
  check(transport.run(*transport.group(ranks), gather, buffers));
  return {std::move(ranks), std::move(shards)};
}

/// Copies the part of a tensor that a variable holds.
void Saver::fill(const Target &target, const io::FileTensor::Use &use, const Gathered &gathered,
                 std::vector<float> &whole) const {
  const Variable &variable = *target.files.variables[use.variable];
  const bool hasOffset = target.hasOffsets && variable.file.offset != 0;
  std::vector<int> holders = holdersOf(manifest, variable);
  for (size_t member = gathered.ranks.size() - holders.size(); member < gathered.ranks.size(); ++member) {
    const char *shard = gathered.shards.data() + member * localBytes(variable);
    io::Shard place = shardOf(manifest, variable, gathered.ranks[member]);
    io::forEachRow(io::layoutOf(place, use.part), [&](const io::ShardRow &row) {
      for (int64_t i = 0; i < row.count; ++i) {
        float value = loadElement(shard, variable.type, row.local + i);
        whole[size_t(row.file + i * row.stride)] = hasOffset ? io::toFile(variable.file, value) : value;
      }
    });
  }
}

} // namespace par::rt

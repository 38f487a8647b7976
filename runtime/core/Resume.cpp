#include "core/Checkpoint.h"
#include "core/Elements.h"
#include "core/Error.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace par::rt {

static std::string folderToResume(const RunOptions &options) {
  bool latest = options.resume == "latest";
  std::string path = latest ? options.checkpoint : options.resume, found = io::findCheckpoint(path);
  if (found.empty() && !latest)
    throw Error(path +
                ": has no checkpoint.json and no complete step-... folder; give a checkpoint or a folder of "
                "checkpoints to --resume");
  return found;
}

/// A tensor for every variable (every parameter) of the package.
static void checkTensors(const std::string &path, const io::CheckpointInfo &info, const Manifest &manifest,
                         bool onlyParameters) {
  for (const CheckpointVariable &variable : checkpointVariables(manifest)) {
    if (onlyParameters && variable.tensor.optimizer)
      continue;
    auto found = info.tensors.find(variable.name);
    if (found == info.tensors.end())
      throw Error(path + ": tensor \"" + variable.name +
                  "\" of the package is missing; compile the model that was saved");
    if (found->second.shape != variable.tensor.shape)
      throw Error(path + ": tensor \"" + variable.name + "\" has shape " + io::toString(found->second.shape) +
                  ", but the package was compiled for " + io::toString(variable.tensor.shape) +
                  "; compile the model that was saved");
  }
}

static void checkNothingElse(const std::string &path, const io::CheckpointInfo &info,
                             const Manifest &manifest) {
  std::set<std::string> wanted;
  for (const CheckpointVariable &variable : checkpointVariables(manifest))
    wanted.insert(variable.name);
  for (const auto &entry : info.tensors)
    if (!wanted.count(entry.first))
      throw Error(path + ": tensor \"" + entry.first +
                  "\" is not one of the package; compile the model that was saved");
}

std::unique_ptr<io::CheckpointReader> openResume(RunOptions &options, const Manifest &manifest,
                                                 Start &start) {
  std::string folder = options.resume.empty() ? "" : folderToResume(options);
  if (folder.empty())
    return nullptr;
  auto reader = std::make_unique<io::CheckpointReader>();
  check(reader->open(folder));
  const io::CheckpointInfo &info = reader->info();
  std::string path = folder + "/checkpoint.json";
  if (info.optimizer != manifest.optimizer)
    throw Error(path + ": was saved with optimizer " + info.optimizer + ", the package has " +
                manifest.optimizer + "; compile with --optimizer " + info.optimizer);
  checkTensors(path, info, manifest, /*onlyParameters=*/false);
  checkNothingElse(path, info, manifest);
  if (info.sequence != manifest.sequence)
    throw Error(path + ": was saved with sequences of " + std::to_string(info.sequence) +
                " tokens, the package has " + std::to_string(manifest.sequence) +
                ", so the place in the data is unknown; compile with --seq " + std::to_string(info.sequence));
  if (options.seedGiven && options.seed != info.seed)
    throw Error(path + ": was saved with seed " + std::to_string(info.seed) + ", but --seed is " +
                std::to_string(options.seed) + "; leave --seed out");
  options.seed = info.seed;
  start = {info.step, info.windows};
  return reader;
}

std::unique_ptr<io::CheckpointReader> openParameters(const std::string &path, const Manifest &manifest) {
  std::string folder = io::findCheckpoint(path);
  if (folder.empty())
    throw Error(path + ": has no checkpoint.json and no complete step-... folder; give a checkpoint or a "
                       "folder of checkpoints");
  auto reader = std::make_unique<io::CheckpointReader>();
  check(reader->open(folder));
  checkTensors(folder + "/checkpoint.json", reader->info(), manifest, /*onlyParameters=*/true);
  return reader;
}

static void restoreVariable(const Manifest &manifest, const CheckpointVariable &variable,
                            const io::CheckpointReader &checkpoint, int rank, const Arenas &arenas) {
  io::CheckpointBlock own;
  if (ownBlock(manifest, variable, rank, own) < 0)
    return;
  char *values = arenas.of(*variable.variable);
  ElementType type = variable.variable->type;
  Shape strides = shardStrides(variable);
  check(checkpoint.read(variable.name, own, [&](const Shape &begin, int64_t count, const float *row) {
    int64_t at = 0;
    for (size_t d = 0; d < begin.size(); ++d)
      at += (begin[d] - own.begin[d]) * strides[d];
    int64_t stride = strides.empty() ? 1 : strides.back();
    for (int64_t i = 0; i < count; ++i)
      storeElement(values, type, at + i * stride, row[i]);
  }));
}

void restore(const Manifest &manifest, const io::CheckpointReader &checkpoint, int rank,
             const Arenas &arenas) {
  for (const CheckpointVariable &variable : checkpointVariables(manifest))
    restoreVariable(manifest, variable, checkpoint, rank, arenas);
}

void restoreParameters(const Manifest &manifest, const io::CheckpointReader &checkpoint, int rank,
                       const Arenas &arenas) {
  for (const CheckpointVariable &variable : checkpointVariables(manifest))
    if (!variable.tensor.optimizer)
      restoreVariable(manifest, variable, checkpoint, rank, arenas);
}

} // namespace par::rt

#include "core/Checkpoint.h"
#include "core/Elements.h"
#include "core/Error.h"
#include "core/Topology.h"
#include "par/config/FileUses.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

namespace par::rt {

static std::string pathOfResume(const RunOptions &options) {
  return options.resume == "latest" ? options.checkpoint : options.resume;
}

std::string nameToResume(const RunOptions &options) {
  std::string path = pathOfResume(options), found = io::findCheckpoint(path);
  if (found.empty())
    return "";
  return found == path ? "." : std::string(std::filesystem::path(found).filename());
}

static std::string folderToResume(const RunOptions &options) {
  bool latest = options.resume == "latest";
  std::string path = pathOfResume(options), name = options.resumeName.value_or(nameToResume(options));
  std::string found = name.empty() || name == "." ? (name.empty() ? "" : path) : path + "/" + name;
  if (found.empty() && !latest)
    throw Error(path +
                ": has no checkpoint.json and no complete step-... folder; give a checkpoint or a folder of "
                "checkpoints to --resume");
  return found;
}

void checkModel(const io::CheckpointReader &checkpoint, const Manifest &manifest) {
  const std::map<std::string, std::string> &saved = checkpoint.info().model;
  auto refuse = [&](const std::string &key, const std::string &was, const std::string &is) {
    throw Error(checkpoint.path() + "/checkpoint.json: was saved from a model whose " + key + " is " + was +
                ", but the package's is " + is + "; compile the model that was saved");
  };
  for (const auto &[key, value] : saved)
    if (auto own = manifest.model.find(key); own == manifest.model.end() || own->second != value)
      refuse(key, value, own == manifest.model.end() ? "absent" : own->second);
  for (const auto &[key, value] : manifest.model)
    if (!saved.count(key))
      refuse(key, "absent", value);
}

/// A folder that was renamed would make "latest" mean another one.
static void checkName(const io::CheckpointReader &checkpoint) {
  std::filesystem::path path = std::filesystem::path(checkpoint.path()).lexically_normal();
  std::string name = path.has_filename() ? path.filename() : path.parent_path().filename();
  std::string own = io::checkpointFolder(checkpoint.info().step);
  if (name.size() == own.size() && name.rfind("step-", 0) == 0 && name != own)
    throw Error(checkpoint.path() + ": holds step " + std::to_string(checkpoint.info().step) +
                ", as its checkpoint.json says; rename it to " + own);
}

/// Whether a path is a folder itself or directly in it.
static bool isWithin(const std::string &path, const std::string &folder) {
  std::filesystem::path inner = config::resolvePath(path), outer = config::resolvePath(folder);
  return inner == outer || inner.parent_path() == outer;
}

void checkUnused(const RunOptions &options, const io::CheckpointReader *resumed, const Start &start) {
  std::map<int64_t, std::string> all = io::listCheckpoints(options.checkpoint);
  if (all.empty())
    return;
  const auto &[step, latest] = *all.rbegin();
  if (!resumed || !isWithin(resumed->path(), options.checkpoint))
    throw Error(options.checkpoint + ": holds checkpoints of another run, the latest of step " +
                std::to_string(step) + "; go on with it by --resume latest, or give another --checkpoint");
  if (step > start.step)
    throw Error(latest + ": is later than step " + std::to_string(start.step) +
                ", which is resumed, and would mix with what this run saves; give another --checkpoint, or "
                "move later checkpoints away");
}

/// A run trains the same parameters from its first step to its last one.
static void checkFrozen(const std::string &path, const io::CheckpointInfo &info, const Manifest &manifest) {
  if (!info.frozen)
    return;
  std::set<std::string> own = frozenTensors(manifest);
  std::vector<std::string> differing;
  std::set_symmetric_difference(own.begin(), own.end(), info.frozen->begin(), info.frozen->end(),
                                std::back_inserter(differing));
  if (differing.empty())
    return;
  const std::string &first = differing.front();
  throw Error(path + ": tensor \"" + first + "\" " +
              (own.count(first) ? "was trained, but the package freezes it"
                                : "was frozen, but the package trains it") +
              "; compile with the --freeze of that run, or begin another one with the --weights that "
              "par-export makes of the checkpoint");
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
  checkName(*reader);
  checkModel(*reader, manifest);
  if (info.optimizer != manifest.optimizer)
    throw Error(path + ": was saved with optimizer " + info.optimizer + ", the package has " +
                manifest.optimizer + "; compile with --optimizer " + info.optimizer);
  checkFrozen(path, info, manifest);
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
  start = {info.step, info.windows, info.hash};
  return reader;
}

std::unique_ptr<io::CheckpointReader> openParameters(const std::string &path, const Manifest &manifest) {
  std::string folder = io::findCheckpoint(path);
  if (folder.empty())
    throw Error(path + ": has no checkpoint.json and no complete step-... folder; give a checkpoint or a "
                       "folder of checkpoints");
  auto reader = std::make_unique<io::CheckpointReader>();
  check(reader->open(folder));
  checkName(*reader);
  checkModel(*reader, manifest);
  checkTensors(folder + "/checkpoint.json", reader->info(), manifest, /*onlyParameters=*/true);
  return reader;
}

static void restoreVariable(const Manifest &manifest, const CheckpointVariable &variable,
                            const io::CheckpointReader &checkpoint, int rank, const Arenas &arenas) {
  io::CheckpointBlock own;
  if (ownBlock(manifest, variable, rank, own) < 0)
    return;
  const Variable &local = localOf(manifest, rank, *variable.variable);
  std::vector<char> values(localBytes(local)); // what pads it is there already
  arenas.read(local, values.data());
  ElementType type = local.type;
  Shape strides = shardStrides(variable);
  check(checkpoint.read(variable.name, own, [&](const Shape &begin, int64_t count, const float *row) {
    arenas.beat();
    int64_t at = 0;
    for (size_t d = 0; d < begin.size(); ++d)
      at += (begin[d] - own.begin[d]) * strides[d];
    int64_t stride = strides.empty() ? 1 : strides.back();
    for (int64_t i = 0; i < count; ++i)
      storeElement(values.data(), type, at + i * stride, row[i]);
  }));
  arenas.write(local, values.data());
  arenas.beat();
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

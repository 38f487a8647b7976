#include "core/Checkpoint.h"

#include "core/Elements.h"
#include "core/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace par::rt {

namespace fs = std::filesystem;

void Checkpointer::prepare(bool writes) {
  if (!wanted())
    return;
  variables = checkpointVariables(manifest);
  if (!writes)
    return;
  std::error_code error;
  fs::create_directories(options.checkpoint, error);
  if (!io::isFolder(options.checkpoint) || access(options.checkpoint.c_str(), W_OK) != 0)
    throw Error(options.checkpoint + ": checkpoints cannot be written: " +
                (error ? error.message() : std::strerror(errno)) + "; give another --checkpoint");
  for (const fs::directory_entry &entry : fs::directory_iterator(options.checkpoint, error)) {
    std::string name = entry.path().filename().string();
    if (name.rfind("step-", 0) == 0 && entry.path().extension() == ".tmp") // of a run that was killed
      fs::remove_all(entry.path(), error);
  }
}

/// Elements of a shard's block in the tensor's order, a buffer at a time.
void Checkpointer::writeBlock(io::SafetensorsWriter &file, const CheckpointVariable &variable,
                              const io::CheckpointBlock &block, const Arenas &arenas,
                              const std::function<void()> &alive) {
  const char *values = arenas.of(*variable.variable);
  ElementType type = variable.variable->type;
  Shape strides = shardStrides(variable), index(block.size.size(), 0);
  size_t rank = block.size.size(), last = rank ? rank - 1 : 0;
  int64_t row = rank ? block.size[last] : 1, stride = rank ? strides[last] : 1;
  std::vector<float> buffer;
  auto flush = [&] {
    check(file.append(buffer.data(), int64_t(buffer.size())));
    buffer.clear();
    alive();
  };
  while (true) {
    int64_t begin = 0;
    for (size_t d = 0; d < last; ++d)
      begin += index[d] * strides[d];
    for (int64_t i = 0; i < row; ++i)
      buffer.push_back(loadElement(values, type, begin + i * stride));
    if (buffer.size() >= 1 << 18)
      flush();
    size_t d = last;
    while (d-- > 0) {
      if (++index[d] < block.size[d])
        break;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return flush();
  }
}

void Checkpointer::writeFile(const std::string &folder, bool optimizer, int rank, const Arenas &arenas,
                             const std::function<void()> &alive) {
  std::vector<io::NamedShape> tensors = tensorsOfFile(manifest, variables, optimizer, rank);
  if (tensors.empty())
    return;
  io::SafetensorsWriter file;
  check(file.create(folder + "/" + io::checkpointFile(optimizer, rank, manifest.worldSize), tensors));
  for (const CheckpointVariable &variable : variables) {
    io::CheckpointBlock block;
    if (!variable.saved || variable.tensor.optimizer != optimizer)
      continue;
    int64_t number = ownBlock(manifest, variable, rank, block);
    if (number >= 0 && variable.tensor.ranks[size_t(number)] == rank)
      writeBlock(file, variable, block, arenas, alive);
  }
  check(file.commitDurably());
}

static std::string meshText(const Manifest &manifest) {
  std::string text;
  for (const auto &[axis, size] : manifest.mesh)
    text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  return text;
}

io::CheckpointInfo Checkpointer::describe(int64_t step) const {
  io::CheckpointInfo info;
  info.step = step, info.windows = start.firstWindow(step + 1, manifest.batch);
  info.seed = options.seed, info.sequence = manifest.sequence, info.ranks = manifest.worldSize;
  info.modelType = manifest.modelType, info.optimizer = manifest.optimizer,
  info.data = describeData(options.data);
  info.mesh = meshText(manifest), info.fingerprint = manifest.fingerprint;
  for (const CheckpointVariable &variable : variables)
    if (variable.saved)
      info.tensors[variable.name] = variable.tensor;
  for (int rank = 0; rank < manifest.worldSize; ++rank)
    for (bool optimizer : {false, true}) {
      std::vector<io::NamedShape> tensors = tensorsOfFile(manifest, variables, optimizer, rank);
      if (!tensors.empty())
        info.files[io::checkpointFile(optimizer, rank, manifest.worldSize)] = io::safetensorsBytes(tensors);
    }
  return info;
}

static void syncFolder(const std::string &path) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  (void)fsync(descriptor);
  ::close(descriptor);
}

/// Rank 0: the description, the name that says "complete", and the end of checkpoints that are too old.
void Checkpointer::publish(const std::string &temporary, int64_t step) {
  io::CheckpointInfo info = describe(step);
  for (const auto &[name, bytes] : info.files)
    if (io::fileSize(temporary + "/" + name) != bytes)
      throw Error(temporary + "/" + name + ": was written by another rank but is not here with its " +
                  std::to_string(bytes) + " bytes; give a --checkpoint folder that all machines share");
  std::string text = io::toJson(info), target = folderOf(step);
  io::OutputFile description;
  check(description.create(temporary + "/checkpoint.json"));
  check(description.write(text.data(), text.size()));
  check(description.commitDurably());
  std::error_code error;
  if (io::isFolder(target)) // saved before the run was resumed from an earlier step
    fs::remove_all(target, error);
  fs::rename(temporary, target, error);
  if (error)
    throw Error(target + ": cannot be written: " + error.message());
  syncFolder(options.checkpoint);
  prune(step);
}

void Checkpointer::prune(int64_t step) {
  std::map<int64_t, std::string> all = io::listCheckpoints(options.checkpoint);
  // Later ones belong to a run that was given up; this run reaches their steps again.
  int64_t surplus = options.keep > 0 ? std::distance(all.begin(), all.upper_bound(step)) - options.keep : 0;
  std::error_code error;
  for (auto entry = all.begin(); surplus > 0; --surplus, ++entry) {
    fs::rename(entry->second, entry->second + ".tmp",
               error); // never half a checkpoint under a complete one's name
    fs::remove_all(entry->second + ".tmp", error);
  }
}

void Checkpointer::save(int rank, const Arenas &arenas, int64_t step, comm::Transport &transport,
                        comm::Group &world, const std::function<void()> &alive) {
  std::string temporary = folderOf(step) + ".tmp";
  if (rank == 0) {
    std::error_code error;
    fs::remove_all(temporary, error);
    if (!fs::create_directory(temporary, error))
      throw Error(temporary + ": cannot be written: " + error.message());
  }
  check(transport.barrier(world));
  alive();
  for (bool optimizer : {false, true})
    writeFile(temporary, optimizer, rank, arenas, alive);
  check(transport.barrier(world));
  alive();
  if (rank == 0)
    publish(temporary, step);
  check(transport.barrier(world));
  alive();
}

} // namespace par::rt

#include "core/Checkpoint.h"

#include "core/Elements.h"
#include "core/Error.h"
#include "core/LearningRate.h"
#include "core/Replicas.h"
#include "core/Topology.h"

#include <algorithm>
#include <filesystem>

namespace par::rt {

namespace fs = std::filesystem;

void Checkpointer::prepare(const FolderLock *own) {
  if (!wanted())
    return;
  lock = own;
  if (lock && options.keepBest)
    best.open(options.checkpoint);
  variables = checkpointVariables(manifest);
  for (int rank = 0; rank < manifest.worldSize; ++rank)
    hashBytes = std::max(hashBytes, hashBytesOf(rank));
}

/// The blocks that a rank writes into one of its two files, in order.
void Checkpointer::forBlocksOf(int rank, bool optimizer, const Visit &visit) const {
  for (const CheckpointVariable &variable : variables) {
    io::CheckpointBlock block;
    if (!variable.saved || variable.tensor.optimizer != optimizer)
      continue;
    int64_t number = ownBlock(manifest, variable, rank, block);
    if (number >= 0 && variable.tensor.ranks[size_t(number)] == rank)
      visit(variable, size_t(number), block);
  }
}

/// Elements of a shard's block in the tensor's order, a buffer at a time.
void Checkpointer::writeBlock(io::SafetensorsWriter &file, const CheckpointVariable &variable,
                              const io::CheckpointBlock &block, Part &part) const {
  std::vector<char> values(localBytes(*variable.variable));
  part.arenas.read(localOf(manifest, part.rank, *variable.variable), values.data());
  ElementType type = variable.variable->type;
  Shape strides = shardStrides(variable), index(block.size.size(), 0);
  size_t rank = block.size.size(), last = rank ? rank - 1 : 0;
  int64_t row = rank ? block.size[last] : 1, stride = rank ? strides[last] : 1;
  std::vector<float> buffer;
  io::BlockHash hash(io::CheckpointInfo().partBytes);
  auto flush = [&] {
    hash.update(buffer.data(), buffer.size() * sizeof(float));
    check(file.append(buffer.data(), int64_t(buffer.size())));
    buffer.clear();
    part.alive();
  };
  while (true) {
    int64_t begin = 0;
    for (size_t d = 0; d < last; ++d)
      begin += index[d] * strides[d];
    for (int64_t i = 0; i < row; ++i)
      buffer.push_back(loadElement(values.data(), type, begin + i * stride));
    if (buffer.size() >= 1 << 18)
      flush();
    size_t d = last;
    while (d-- > 0) {
      if (++index[d] < block.size[d])
        break;
      index[d] = 0;
    }
    if (d == size_t(-1))
      break;
  }
  flush();
  for (const std::string &one : hash.finish())
    part.hashes += one;
}

void Checkpointer::writeFile(const std::string &folder, bool optimizer, Part &part) const {
  std::vector<io::NamedShape> tensors = tensorsOfFile(manifest, variables, optimizer, part.rank);
  if (tensors.empty())
    return;
  io::SafetensorsWriter file;
  check(file.create(folder + "/" + io::checkpointFile(optimizer, part.rank, manifest.worldSize), tensors));
  forBlocksOf(part.rank, optimizer, [&](const auto &variable, size_t, const auto &block) {
    writeBlock(file, variable, block, part);
  });
  check(file.commitDurably());
}

static std::string meshText(const Manifest &manifest) {
  std::string text;
  for (const auto &[axis, size] : manifest.mesh)
    text += (text.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  return text;
}

io::CheckpointInfo Checkpointer::describe(const Moment &moment) const {
  io::CheckpointInfo info;
  info.step = moment.step, info.windows = start.firstWindow(moment.step + 1, manifest.batch);
  info.evalLoss = moment.evalLoss;
  info.learningRate = learningRate(options.hyper, moment.step, options.steps);
  info.seed = options.seed, info.sequence = manifest.sequence, info.ranks = manifest.worldSize;
  info.model = manifest.model, info.optimizer = manifest.optimizer, info.data = describeData(options.data);
  info.mesh = meshText(manifest), info.fingerprint = manifest.fingerprint;
  info.frozen = frozenTensors(manifest);
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

size_t Checkpointer::hashBytesOf(int rank) const {
  int64_t parts = 0;
  for (bool optimizer : {false, true})
    forBlocksOf(rank, optimizer, [&](const auto &, size_t, const io::CheckpointBlock &block) {
      parts += io::BlockHash::parts(4 * io::elementCount(block.size), io::CheckpointInfo().partBytes);
    });
  return size_t(64 * parts);
}

/// Every rank's hashes at rank 0, each in `hashBytes`.
std::vector<char> Checkpointer::gatherHashes(const Part &part, comm::Transport &transport,
                                             comm::Group &world) const {
  std::vector<char> own(part.hashes.begin(), part.hashes.end()), all(hashBytes * size_t(world.size()));
  own.resize(hashBytes);
  comm::Collective gather;
  gather.kind = comm::Kind::gather;
  gather.type = comm::Type::i1; // a byte each
  gather.counts = {int64_t(hashBytes)};
  void *buffers[2] = {own.data(), all.data()};
  check(transport.run(world, gather, buffers));
  return all;
}

void Checkpointer::fillHashes(io::CheckpointInfo &info, const std::vector<char> &hashes) const {
  for (auto &[name, tensor] : info.tensors)
    tensor.hashes.resize(tensor.ranks.size());
  for (int rank = 0; rank < manifest.worldSize; ++rank) {
    const char *next = hashes.data() + hashBytes * size_t(rank);
    for (bool optimizer : {false, true})
      forBlocksOf(rank, optimizer,
                  [&](const auto &variable, size_t number, const io::CheckpointBlock &block) {
                    int64_t parts = io::BlockHash::parts(4 * io::elementCount(block.size), info.partBytes);
                    for (; parts > 0; --parts, next += 64)
                      info.tensors[variable.name].hashes[number].emplace_back(next, 64);
                  });
  }
}

/// Rank 0: the description, the name that says "complete", and the end of checkpoints that are too old.
void Checkpointer::publish(const Moment &moment, const std::vector<char> &hashes) {
  io::CheckpointInfo info = describe(moment);
  fillHashes(info, hashes);
  for (const auto &[name, bytes] : info.files)
    if (io::fileSize(folder.path() + "/" + name) != bytes)
      throw Error(folder.path() + "/" + name + ": was written by another rank but is not here with its " +
                  std::to_string(bytes) + " bytes; give a --checkpoint folder that all machines share");
  std::string text = io::toJson(info);
  io::OutputFile description;
  check(description.create(folder.path() + "/checkpoint.json"));
  check(description.write(text.data(), text.size()));
  check(description.commitDurably());
  lock->check();
  check(folder.commit());
  if (moment.evalLoss && isBest(*moment.evalLoss))
    best.set(io::checkpointFolder(moment.step), *moment.evalLoss, lock->run());
  prune(moment.step);
}

void Checkpointer::prune(int64_t step) const {
  std::map<int64_t, std::string> all = io::listCheckpoints(options.checkpoint);
  std::string kept = options.checkpoint + "/" + BestCheckpoint::nameIn(options.checkpoint);
  int64_t surplus = options.keep > 0 ? std::distance(all.begin(), all.upper_bound(step)) - options.keep : 0;
  std::error_code error;
  for (auto entry = all.begin(); surplus > 0; --surplus, ++entry) {
    if (entry->second == kept)
      continue;
    // Never half a checkpoint under a complete one's name.
    io::OutputFolder surplusOne;
    if (surplusOne.takeAway(entry->second, lock->run()).ok())
      surplusOne.discard();
  }
}

/// Rank 0's name for what is not complete yet.
std::string Checkpointer::agreeOnRun(int rank, comm::Transport &transport, comm::Group &world) const {
  std::string own = rank == 0 ? lock->run() : std::string(16, ' '), agreed(16, ' ');
  comm::Collective broadcast;
  broadcast.kind = comm::Kind::collective_broadcast;
  broadcast.type = comm::Type::i1; // a byte each
  broadcast.counts = {int64_t(own.size())};
  void *buffers[2] = {own.data(), agreed.data()};
  check(transport.run(world, broadcast, buffers));
  return agreed;
}

void Checkpointer::save(int rank, const Arenas &arenas, const Moment &moment, comm::Transport &transport,
                        comm::Group &world, const std::function<void()> &alive) {
  compareReplicas(manifest, rank, arenas, transport, world);
  if (rank == 0) {
    lock->check();
    check(folder.create(folderOf(moment.step), lock->run()));
  }
  std::string temporary =
      io::OutputFolder::temporaryName(folderOf(moment.step), agreeOnRun(rank, transport, world));
  alive();
  Part part{rank, arenas, alive, {}};
  for (bool optimizer : {false, true})
    writeFile(temporary, optimizer, part);
  std::vector<char> hashes = gatherHashes(part, transport, world); // so that all have written
  alive();
  if (rank == 0)
    publish(moment, hashes);
  check(transport.barrier(world));
  alive();
}

} // namespace par::rt

#include "par/io/Checkpoint.h"

#include <algorithm>

namespace par::io {

CheckpointReader::Checked &CheckpointReader::checkedOf(const std::string &tensor, int64_t block,
                                                       size_t parts) const {
  std::lock_guard<std::mutex> lock(mutex);
  return checkedBlocks.try_emplace({tensor, block}, parts).first->second;
}

/// Bytes first … first + count of a block of `length` are what was written.
Status CheckpointReader::checkParts(const std::string &place, const std::vector<std::string> &hashes,
                                    Checked &checked, const unsigned char *bytes, int64_t length,
                                    int64_t first, int64_t count) const {
  int64_t size = content.partBytes;
  for (int64_t part = first / size; part * size < first + count; ++part) {
    if (checked[size_t(part)])
      continue;
    std::string_view text(reinterpret_cast<const char *>(bytes) + part * size,
                          size_t(std::min(size, length - part * size)));
    if (sha256(text) != hashes[size_t(part)])
      return Status::error(place + " is not what was saved: bytes " + std::to_string(part * size) + " to " +
                           std::to_string(part * size + int64_t(text.size())) +
                           " have another SHA-256 than checkpoint.json says; resume from another checkpoint");
    checked[size_t(part)] = true;
  }
  return {};
}

Status CheckpointReader::openFile(const std::string &name, const SafetensorsReader *&file) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<SafetensorsReader> &known = files[name];
  if (!known) {
    auto opened = std::make_unique<SafetensorsReader>();
    PAR_TRY(opened->open(folder + "/" + name));
    known = std::move(opened);
  }
  file = known.get();
  return {};
}

/// Where two hyper-rectangles overlap; false when they do not.
static bool overlap(const CheckpointBlock &a, const CheckpointBlock &b, CheckpointBlock &both) {
  both = a;
  for (size_t d = 0; d < a.begin.size(); ++d) {
    both.begin[d] = std::max(a.begin[d], b.begin[d]);
    both.size[d] = std::min(a.begin[d] + a.size[d], b.begin[d] + b.size[d]) - both.begin[d];
    if (both.size[d] <= 0)
      return false;
  }
  return true;
}

Status CheckpointReader::readBlock(const std::string &name, const CheckpointTensor &tensor, int64_t number,
                                   const CheckpointBlock &wanted, const Row &visit) const {
  CheckpointBlock block = blockOf(tensor, number), part;
  if (!overlap(block, wanted, part))
    return {};
  std::string fileName = checkpointFile(tensor.optimizer, tensor.ranks[size_t(number)], content.ranks);
  const SafetensorsReader *file = nullptr;
  PAR_TRY(openFile(fileName, file));
  const SafetensorsEntry *entry = file->find(name);
  if (!entry || entry->type != FileType::f32 || elementCount(entry->shape) != elementCount(block.size))
    return Status::error(folder + "/" + fileName + ": tensor \"" + name +
                         "\" is missing or not the f32 block " + toString(block.size) +
                         "; the checkpoint is damaged, resume from another one");
  size_t rank = block.size.size(), last = rank ? rank - 1 : 0;
  int64_t count = rank ? part.size[last] : 1, length = 4 * elementCount(block.size);
  const std::vector<std::string> &hashes = tensor.hashes[size_t(number)];
  Checked &checked = checkedOf(name, number, hashes.size());
  std::string place = folder + "/" + fileName + ": tensor \"" + name + "\"";
  std::vector<float> values(static_cast<size_t>(count));
  Shape index = part.begin;
  while (true) {
    int64_t first = 0;
    for (size_t d = 0; d < rank; ++d)
      first = first * block.size[d] + index[d] - block.begin[d];
    PAR_TRY(checkParts(place, hashes, checked, file->bytes(*entry), length, 4 * first, 4 * count));
    file->read(*entry, first, 1, count, values.data());
    visit(index, count, values.data());
    size_t d = last;
    while (d-- > 0) {
      if (++index[d] < part.begin[d] + part.size[d])
        break;
      index[d] = part.begin[d];
    }
    if (d == size_t(-1))
      return {};
  }
}

Status CheckpointReader::read(const std::string &name, const CheckpointBlock &wanted,
                              const Row &visit) const {
  auto tensor = content.tensors.find(name);
  if (tensor == content.tensors.end())
    return Status::error(folder + "/checkpoint.json: tensor \"" + name + "\" is missing");
  for (size_t block = 0; block < tensor->second.ranks.size(); ++block)
    if (tensor->second.ranks[block] >= 0)
      PAR_TRY(readBlock(name, tensor->second, int64_t(block), wanted, visit));
  return {};
}

} // namespace par::io

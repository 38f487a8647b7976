#include "export/WeightFiles.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace par::exporting {

std::vector<size_t> planShards(const std::vector<io::NamedShape> &tensors, io::FileType type,
                               int64_t maxBytes) {
  std::vector<size_t> counts;
  int64_t used = 0;
  for (const io::NamedShape &tensor : tensors) {
    int64_t bytes = io::elementCount(tensor.shape) * io::bytesOf(type);
    if (counts.empty() || used + bytes > maxBytes)
      counts.push_back(0), used = 0;
    ++counts.back();
    used += bytes;
  }
  return counts;
}

static std::string shardName(size_t number, size_t count) {
  if (count == 1)
    return "model.safetensors";
  char name[64];
  std::snprintf(name, sizeof(name), "model-%05zu-of-%05zu.safetensors", number + 1, count);
  return name;
}

static io::Status writeShard(const std::string &path, const ParameterSource &source,
                             const std::vector<io::FileTensor> &tensors, io::FileType type) {
  io::SafetensorsWriter writer;
  PAR_TRY(writer.create(path, io::shapesOf(tensors), type));
  std::vector<float> values;
  for (const io::FileTensor &tensor : tensors) {
    PAR_TRY(source.read(tensor, values));
    PAR_TRY(writer.append(values.data(), int64_t(values.size())));
  }
  return writer.commit();
}

io::Status writeWeights(const std::string &folder, const ParameterSource &source,
                        const std::vector<io::FileTensor> &tensors, io::FileType type, int64_t maxBytes,
                        std::vector<std::string> &files) {
  std::vector<size_t> counts = planShards(io::shapesOf(tensors), type, maxBytes);
  nlohmann::json places = nlohmann::json::object();
  int64_t elements = 0;
  auto next = tensors.begin();
  for (size_t shard = 0; shard < counts.size(); ++shard) {
    std::vector<io::FileTensor> part(next, next + long(counts[shard]));
    next += long(counts[shard]);
    files.push_back(shardName(shard, counts.size()));
    PAR_TRY(writeShard(folder + "/" + files.back(), source, part, type));
    for (const io::FileTensor &tensor : part) {
      places[tensor.tensor.name] = files.back();
      elements += io::elementCount(tensor.tensor.shape);
    }
  }
  if (counts.size() == 1)
    return {};
  nlohmann::json index = {
      {"metadata", {{"total_size", elements * io::bytesOf(type)}, {"total_parameters", elements}}},
      {"weight_map", std::move(places)}};
  files.push_back("model.safetensors.index.json");
  return io::writeFile(folder + "/" + files.back(), index.dump(2) + "\n");
}

} // namespace par::exporting

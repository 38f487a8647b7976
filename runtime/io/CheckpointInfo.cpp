#include "par/io/Checkpoint.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <dirent.h>
#include <stdexcept>

namespace par::io {

using Json = nlohmann::ordered_json;

static constexpr int64_t checkpointVersion = 2;

std::string checkpointFile(bool optimizer, int rank, int ranks) {
  char text[64];
  std::snprintf(text, sizeof(text), "%s-%05d-of-%05d.safetensors", optimizer ? "optimizer" : "model",
                rank + 1, ranks);
  return text;
}

std::string checkpointFolder(int64_t step) {
  char text[32];
  std::snprintf(text, sizeof(text), "step-%08lld", static_cast<long long>(step));
  return text;
}

CheckpointBlock blockOf(const CheckpointTensor &tensor, int64_t number) {
  size_t rank = tensor.shape.size();
  CheckpointBlock block{Shape(rank), Shape(rank)};
  for (size_t d = rank; d-- > 0;) {
    int64_t count = (tensor.shape[d] + tensor.block[d] - 1) / tensor.block[d];
    block.begin[d] = number % count * tensor.block[d];
    block.size[d] = std::min(tensor.block[d], tensor.shape[d] - block.begin[d]);
    number /= count;
  }
  return block;
}

std::map<int64_t, std::string> listCheckpoints(const std::string &folder) {
  std::map<int64_t, std::string> found;
  DIR *handle = opendir(folder.c_str());
  if (!handle)
    return found;
  while (dirent *entry = readdir(handle)) {
    long long step = 0;
    if (std::sscanf(entry->d_name, "step-%8lld", &step) == 1 && checkpointFolder(step) == entry->d_name &&
        isFile(folder + "/" + entry->d_name + "/checkpoint.json"))
      found[step] = folder + "/" + entry->d_name;
  }
  closedir(handle);
  return found;
}

std::string findCheckpoint(const std::string &path) {
  if (isFile(path + "/checkpoint.json"))
    return path;
  std::map<int64_t, std::string> all = listCheckpoints(path);
  return all.empty() ? "" : all.rbegin()->second;
}

std::string toJson(const CheckpointInfo &info) {
  Json tensors = Json::object();
  for (const auto &[name, tensor] : info.tensors)
    tensors[name] = {{"optimizer", tensor.optimizer}, {"file_shape", tensor.fileShape},
                     {"shape", tensor.shape},         {"block", tensor.block},
                     {"ranks", tensor.ranks},         {"sha256", tensor.hashes}};
  Json model = Json::object();
  for (const auto &[key, value] : info.model)
    model[key] = Json::parse(value);
  std::string zeros(64, '0');
  Json json = {{"format_version", checkpointVersion},
               {"sha256", zeros},
               {"step", info.step},
               {"windows", info.windows},
               {"seed", info.seed},
               {"seq", info.sequence},
               {"ranks", info.ranks},
               {"model", model},
               {"optimizer", info.optimizer},
               {"data", info.data},
               {"mesh", info.mesh},
               {"fingerprint", info.fingerprint},
               {"part_bytes", info.partBytes},
               {"files", info.files},
               {"tensors", tensors}};
  std::string text = json.dump() + "\n";
  return text.replace(text.find(zeros), zeros.size(), sha256(text));
}

/// Far above any tensor, step or window; below it sums and products of a few do not overflow.
static constexpr int64_t most = int64_t(1) << 48;

/// The library turns any number into any type of integer without a word.
static int64_t integer(const Json &value, int64_t least, int64_t limit) {
  bool large = value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(limit);
  if (!value.is_number_integer() || large || value.get<int64_t>() < least)
    throw std::out_of_range(value.dump() + " where an integer from " + std::to_string(least) + " to " +
                            std::to_string(limit) + " is expected");
  return value.get<int64_t>();
}

static Shape integers(const Json &values, int64_t least, int64_t limit) {
  Shape list;
  for (const Json &value : values.get<std::vector<Json>>())
    list.push_back(integer(value, least, limit));
  return list;
}

/// Every block has a hash per part.
static bool hashesFit(const CheckpointTensor &tensor, int64_t partBytes) {
  for (size_t block = 0; block < tensor.ranks.size(); ++block) {
    int64_t bytes = 4 * elementCount(blockOf(tensor, int64_t(block)).size);
    int64_t parts = tensor.ranks[block] < 0 ? 0 : BlockHash::parts(bytes, partBytes);
    if (int64_t(tensor.hashes[block].size()) != parts)
      return false;
  }
  return true;
}

/// The block grid, its ranks and hashes fit together; nothing may be trusted in a file.
static bool isConsistent(const CheckpointTensor &tensor, int64_t partBytes) {
  int64_t blocks = 1, elements = 1;
  if (tensor.shape.size() != tensor.block.size())
    return false;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (tensor.block[d] > tensor.shape[d] || tensor.shape[d] > most / elements)
      return false;
    elements *= tensor.shape[d];
    blocks *= (tensor.shape[d] + tensor.block[d] - 1) / tensor.block[d];
    if (blocks > (1 << 24))
      return false;
  }
  return int64_t(tensor.ranks.size()) == blocks && tensor.hashes.size() == tensor.ranks.size() &&
         hashesFit(tensor, partBytes);
}

static CheckpointTensor parseTensor(const Json &entry, int ranks) {
  CheckpointTensor tensor;
  tensor.shape = integers(entry.at("shape"), 1, most), tensor.block = integers(entry.at("block"), 1, most);
  tensor.fileShape = integers(entry.at("file_shape"), 1, most), tensor.optimizer = entry.at("optimizer");
  for (int64_t rank : integers(entry.at("ranks"), -1, ranks - 1))
    tensor.ranks.push_back(int(rank));
  tensor.hashes = entry.at("sha256").get<std::vector<std::vector<std::string>>>();
  return tensor;
}

static Status parse(const std::string &path, const std::string &text, CheckpointInfo &info) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("tensors"))
    return Status::error(path + ": is no checkpoint's description; give another checkpoint");
  if (json.value("format_version", Json()) != checkpointVersion)
    return Status::error(path + ": format_version is " + json.value("format_version", Json()).dump() +
                         ", this runtime reads " + std::to_string(checkpointVersion) +
                         "; go on with the par that wrote it, or take its parameters from there");
  info.hash = json.at("sha256");
  std::string actual = sha256WithoutItself(text, info.hash);
  if (actual != info.hash)
    return Status::error(path + ": was changed after it was saved: its SHA-256 is " + actual.substr(0, 12) +
                         "..., expected " + info.hash.substr(0, 12) + "...; give another checkpoint");
  info.step = integer(json.at("step"), 0, most), info.windows = integer(json.at("windows"), 0, most);
  info.sequence = integer(json.at("seq"), 1, most), info.ranks = int(integer(json.at("ranks"), 1, 1 << 24));
  if (!json.at("seed").is_number_unsigned())
    throw std::out_of_range("seed is " + json.at("seed").dump());
  info.seed = json.at("seed");
  info.optimizer = json.at("optimizer"), info.data = json.at("data");
  info.mesh = json.at("mesh"), info.fingerprint = json.at("fingerprint");
  info.partBytes = integer(json.at("part_bytes"), 1, most);
  for (const auto &[key, value] : json.at("model").items())
    info.model[key] = value.dump();
  for (const auto &[name, bytes] : json.at("files").items())
    info.files[name] = integer(bytes, 0, INT64_MAX);
  for (const auto &[name, entry] : json.at("tensors").items()) {
    info.tensors[name] = parseTensor(entry, info.ranks);
    if (!isConsistent(info.tensors[name], info.partBytes))
      return Status::error(path + ": tensor \"" + name +
                           "\": blocks and shape do not fit; the file is damaged, give another checkpoint");
  }
  return {};
}

Status CheckpointReader::open(const std::string &path) {
  folder = path;
  std::string name = path + "/checkpoint.json", text;
  PAR_TRY(readFile(name, text));
  try {
    PAR_TRY(parse(name, text, content));
  } catch (const std::exception &error) { // of the library or of parse()
    return Status::error(name + ": is damaged (" + error.what() + "); give another checkpoint");
  }
  for (const auto &[file, bytes] : content.files) {
    int64_t actual = fileSize(path + "/" + file);
    if (file.find('/') != std::string::npos || actual != bytes)
      return Status::error(
          path + "/" + file + ": " +
          (actual < 0 ? "is missing"
                      : "has " + std::to_string(actual) + " bytes, expected " + std::to_string(bytes)) +
          "; the checkpoint is incomplete, resume from another one");
  }
  return {};
}

} // namespace par::io

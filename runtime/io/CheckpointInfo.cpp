#include "par/io/Checkpoint.h"

#include "io/JsonNode.h"
#include "par/io/JsonText.h"

#include <algorithm>
#include <cstdio>
#include <dirent.h>

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
  if (info.evalLoss)
    json["eval_loss"] = *info.evalLoss;
  if (info.learningRate)
    json["learning_rate"] = *info.learningRate;
  if (info.frozen)
    json["frozen"] = *info.frozen;
  std::string text = json.dump() + "\n";
  return text.replace(text.find(zeros), zeros.size(), sha256(text));
}

/// Far above any tensor, step or window; below it sums and products of a few do not overflow.
static constexpr int64_t most = int64_t(1) << 48;

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

static CheckpointTensor parseTensor(const JsonNode &entry, int ranks) {
  CheckpointTensor tensor;
  tensor.shape = entry["shape"].integers(1, most), tensor.block = entry["block"].integers(1, most);
  tensor.fileShape = entry["file_shape"].integers(1, most), tensor.optimizer = entry["optimizer"].boolean();
  for (int64_t rank : entry["ranks"].integers(-1, ranks - 1))
    tensor.ranks.push_back(int(rank));
  for (const JsonNode &block : entry["sha256"].items())
    tensor.hashes.push_back(block.texts());
  return tensor;
}

static Status parse(const std::string &path, const std::string &text, CheckpointInfo &info) {
  PAR_TRY(checkDepth(path, text));
  JsonNode::Json json = JsonNode::Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("tensors"))
    return Status::error(path + ": is no checkpoint's description; give another checkpoint");
  if (json.value("format_version", JsonNode::Json()) != checkpointVersion)
    return Status::error(path + ": format_version is " +
                         json.value("format_version", JsonNode::Json()).dump() + ", this runtime reads " +
                         std::to_string(checkpointVersion) +
                         "; go on with the par that wrote it, or take its parameters from there");
  JsonNode root(json, "");
  info.hash = root["sha256"].text();
  std::string actual = sha256WithoutItself(text, info.hash);
  if (actual != info.hash)
    return Status::error(path + ": was changed after it was saved: its SHA-256 is " + actual.substr(0, 12) +
                         "..., expected " + info.hash.substr(0, 12) + "...; give another checkpoint");
  info.step = root["step"].integer(0, most), info.windows = root["windows"].integer(0, most);
  info.sequence = root["seq"].integer(0, most), info.ranks = int(root["ranks"].integer(1, 1 << 24));
  info.seed = root["seed"].unsignedInteger();
  if (root.has("eval_loss"))
    info.evalLoss = root["eval_loss"].number();
  if (root.has("learning_rate"))
    info.learningRate = root["learning_rate"].number();
  if (root.has("frozen")) {
    std::vector<std::string> names = root["frozen"].texts();
    info.frozen.emplace(names.begin(), names.end());
  }
  info.optimizer = root["optimizer"].text(), info.data = root["data"].text();
  info.mesh = root["mesh"].text(), info.fingerprint = root["fingerprint"].text();
  info.partBytes = root["part_bytes"].integer(1, most);
  info.model = root["model"].jsonByName();
  for (const auto &[name, bytes] : root["files"].byName())
    info.files[name] = bytes.integer();
  for (const auto &[name, entry] : root["tensors"].byName()) {
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
  } catch (const JsonError &error) {
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

#include "par/io/Checkpoint.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <dirent.h>

namespace par::io {

using Json = nlohmann::ordered_json;

static constexpr int64_t checkpointVersion = 1;

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
    tensors[name] = {{"optimizer", tensor.optimizer},
                     {"file_shape", tensor.fileShape},
                     {"shape", tensor.shape},
                     {"block", tensor.block},
                     {"ranks", tensor.ranks}};
  Json json = {{"format_version", checkpointVersion},
               {"step", info.step},
               {"windows", info.windows},
               {"seed", info.seed},
               {"seq", info.sequence},
               {"ranks", info.ranks},
               {"model_type", info.modelType},
               {"optimizer", info.optimizer},
               {"data", info.data},
               {"mesh", info.mesh},
               {"fingerprint", info.fingerprint},
               {"files", info.files},
               {"tensors", tensors}};
  return json.dump() + "\n";
}

/// The block grid and its ranks fit together; nothing may be trusted in a file.
static bool isConsistent(const CheckpointTensor &tensor, int ranks) {
  int64_t blocks = 1;
  if (tensor.shape.size() != tensor.block.size())
    return false;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    if (tensor.shape[d] < 1 || tensor.block[d] < 1 || tensor.shape[d] > (int64_t(1) << 40))
      return false;
    blocks *= (tensor.shape[d] + tensor.block[d] - 1) / tensor.block[d];
    if (blocks > (1 << 24))
      return false;
  }
  return int64_t(tensor.ranks.size()) == blocks &&
         std::all_of(tensor.ranks.begin(), tensor.ranks.end(),
                     [&](int rank) { return rank >= -1 && rank < ranks; });
}

static Status parse(const std::string &path, const std::string &text, CheckpointInfo &info) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("tensors"))
    return Status::error(path + ": is no checkpoint's description; give another checkpoint");
  if (json.value("format_version", int64_t(0)) != checkpointVersion)
    return Status::error(path + ": format_version is " + json.value("format_version", Json()).dump() +
                         ", this runtime reads " + std::to_string(checkpointVersion) + "; save it anew");
  info.step = json.at("step"), info.windows = json.at("windows"), info.seed = json.at("seed");
  info.sequence = json.at("seq"), info.ranks = json.at("ranks");
  info.modelType = json.at("model_type"), info.optimizer = json.at("optimizer"), info.data = json.at("data");
  info.mesh = json.at("mesh"), info.fingerprint = json.at("fingerprint");
  info.files = json.at("files").get<std::map<std::string, int64_t>>();
  for (const auto &[name, entry] : json.at("tensors").items()) {
    CheckpointTensor &tensor = info.tensors[name];
    tensor = {entry.at("shape"), entry.at("block"), entry.at("file_shape"), entry.at("ranks"),
              entry.at("optimizer")};
    if (!isConsistent(tensor, info.ranks))
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
  } catch (const nlohmann::json::exception &error) {
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

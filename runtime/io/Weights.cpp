#include "par/io/Weights.h"

#include "par/io/Sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>

namespace par::io {

static bool endsWith(const std::string &text, const char *suffix) {
  size_t length = std::strlen(suffix);
  return text.size() >= length && text.compare(text.size() - length, length, suffix) == 0;
}

/// Files of a model without its head (GPT-2's published ones, a LlamaModel's) have names without the prefix
/// that save_pretrained writes for the model with it.
static std::string canonical(const std::string &name) {
  for (const char *prefix : {"transformer.", "model."})
    if (name.rfind(prefix, 0) == 0)
      return name.substr(std::strlen(prefix));
  return name;
}

static bool isBuffer(const std::string &name) {
  return endsWith(name, ".attn.bias") || endsWith(name, ".attn.masked_bias") ||
         endsWith(name, "rotary_emb.inv_freq");
}

Status Weights::addFile(const std::string &path) {
  auto file = std::make_unique<SafetensorsReader>();
  PAR_TRY(file->open(path));
  for (const SafetensorsEntry &entry : file->entries()) {
    auto [place, added] = found.insert({canonical(entry.name), Place{file.get(), &entry}});
    if (!added)
      return Status::error(path + ": tensor \"" + entry.name + "\" is there twice, also as \"" +
                           place->second.entry->name + "\" in " + place->second.file->path());
  }
  files.push_back(std::move(file));
  return {};
}

Status Weights::openIndex(const std::string &folder) {
  std::string path = folder + "/model.safetensors.index.json", text;
  PAR_TRY(readFile(path, text));
  nlohmann::json index = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return Status::error(path + ": is no JSON object with a weight_map");
  std::set<std::string> names;
  for (const auto &[tensor, file] : index["weight_map"].items()) {
    if (!file.is_string() || file.get<std::string>().find('/') != std::string::npos)
      return Status::error(path + ": weight_map of \"" + tensor + "\" names no file of this folder");
    names.insert(file.get<std::string>());
  }
  for (const std::string &name : names)
    PAR_TRY(addFile(folder + "/" + name));
  for (const auto &item : index["weight_map"].items())
    if (!found.count(canonical(item.key())))
      return Status::error(path + ": weight_map has \"" + item.key() + "\", but no file of the folder does");
  return {};
}

Status Weights::open(const std::string &path) {
  source = path;
  if (!isFolder(path))
    return addFile(path);
  if (isFile(path + "/model.safetensors"))
    return addFile(path + "/model.safetensors");
  if (isFile(path + "/model.safetensors.index.json"))
    return openIndex(path);
  for (const char *pickled : {"/pytorch_model.bin", "/pytorch_model.bin.index.json"})
    if (isFile(path + pickled))
      return Status::error(path + ": has its weights as " + (pickled + 1) +
                           ", which only Python reads; convert them with Transformers: "
                           "AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(NEW_DIR)");
  return Status::error(path + ": has neither model.safetensors nor model.safetensors.index.json");
}

Status Weights::takeWanted(const NamedShape &tensor) {
  auto place = found.find(canonical(tensor.name));
  if (place == found.end())
    return Status::error(source + ": tensor \"" + tensor.name + "\" of the model is missing");
  const SafetensorsEntry &entry = *place->second.entry;
  std::string where = place->second.file->path() + ": tensor \"" + entry.name + "\": ";
  if (entry.type == FileType::other)
    return Status::error(where + "has dtype " + entry.dtype + ", expected F32, BF16, F16 or F64");
  if (entry.shape != tensor.shape)
    return Status::error(where + "has shape " + toString(entry.shape) +
                         ", but the package was compiled for " + toString(tensor.shape));
  matched[tensor.name] = place->second;
  return {};
}

Status Weights::checkTied(const Place &head) const {
  for (const auto &[name, embedding] : matched) {
    if (!endsWith(name, "wte.weight") && !endsWith(name, "embed_tokens.weight"))
      continue;
    std::string where = head.file->path() + ": tensor \"" + head.entry->name + "\": the head is tied to \"" +
                        name + "\", but ";
    if (head.entry->type == FileType::other || head.entry->shape != embedding.entry->shape)
      return Status::error(where + "has dtype " + head.entry->dtype + " and shape " +
                           toString(head.entry->shape));
    float a[1024], b[1024];
    int64_t total = elementCount(head.entry->shape);
    for (int64_t first = 0; first < total; first += 1024) {
      int64_t count = std::min<int64_t>(1024, total - first);
      head.file->read(*head.entry, first, 1, count, a);
      embedding.file->read(*embedding.entry, first, 1, count, b);
      for (int64_t i = 0; i < count; ++i)
        if (std::memcmp(a + i, b + i, sizeof(float)) != 0)
          return Status::error(where + "differs from it at element " + std::to_string(first + i) +
                               "; compile with tie_word_embeddings=false");
    }
    return {};
  }
  return Status::error(head.file->path() + ": tensor \"lm_head.weight\" is not one of the model");
}

Status Weights::match(const std::vector<NamedShape> &wanted) {
  std::set<std::string> names;
  for (const NamedShape &tensor : wanted) {
    PAR_TRY(takeWanted(tensor));
    names.insert(canonical(tensor.name));
  }
  for (const auto &[name, place] : found) {
    if (names.count(name) || isBuffer(name))
      continue;
    if (name == "lm_head.weight")
      PAR_TRY(checkTied(place));
    else
      return Status::error(place.file->path() + ": tensor \"" + place.entry->name +
                           "\" is not one of the model that the package was compiled for");
  }
  return {};
}

std::string Weights::placeOf(const std::string &wanted) const {
  const Place &place = matched.at(wanted);
  return place.file->path() + ": tensor \"" + place.entry->name + "\"";
}

void Weights::read(const std::string &wanted, int64_t first, int64_t stride, int64_t count,
                   float *out) const {
  const Place &place = matched.at(wanted);
  place.file->read(*place.entry, first, stride, count, out);
}

std::string Weights::summary() const {
  Sha256 hash;
  for (const auto &[name, place] : matched) {
    const SafetensorsEntry &entry = *place.entry;
    std::string what = name + " " + entry.dtype + " " + toString(entry.shape) + ";";
    hash.update(what.data(), what.size());
    hash.update(place.file->bytes(entry), size_t(std::min<int64_t>(entry.end - entry.begin, 1024)));
  }
  return std::to_string(matched.size()) + " tensors with hash " + hash.finish().substr(0, 16);
}

} // namespace par::io
